package console

import "time"

// timelineSeconds is the number of seconds that a page shows.
const timelineSeconds = 300

// A second counts the requests that ended in it.
type second struct{ all, refused int }

// A timeline counts requests by second, in a ring of as many as a page shows and the one that goes on. Its zero value
// begins at second 0.
type timeline struct {
	ring [timelineSeconds + 1]second
	now  int
}

// at returns the count of a second, and forgets those for which the ring has no room then. Time does not go back: an
// earlier second counts as the last.
func (t *timeline) at(now int) *second {
	for range min(now-t.now, len(t.ring)) {
		t.now++
		t.ring[t.now%len(t.ring)] = second{}
	}
	if now > t.now { // all have been forgotten
		t.now = now
		t.ring[t.now%len(t.ring)] = second{}
	}
	return &t.ring[t.now%len(t.ring)]
}

// add counts a request.
func (t *timeline) add(now int, refused bool) {
	s := t.at(now)
	s.all++
	if refused {
		s.refused++
	}
}

// Seconds are the requests of the last minutes by second, of the seconds that are over, oldest first.
type Seconds struct {
	End     string `json:"end"` // when the last of them ended
	All     []int  `json:"all"`
	Refused []int  `json:"refused"`

	quiet bool // there were no requests
}

// last returns the seconds before one.
func (t *timeline) last(now int) *Seconds {
	t.at(now)
	out := &Seconds{quiet: true}
	for i := 1; i <= timelineSeconds; i++ {
		s := t.ring[(t.now+i)%len(t.ring)]
		out.All, out.Refused = append(out.All, s.all), append(out.Refused, s.refused)
		out.quiet = out.quiet && s.all == 0
	}
	return out
}

// second returns the number of seconds since the recorder was made, by a clock that does not go back.
func (r *Recorder) second() int { return int(r.now().Sub(r.began) / time.Second) }

// seconds returns the requests of the last minutes, and the number of the second that goes on.
func (r *Recorder) seconds() (*Seconds, int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.second()
	out := r.timeline.last(n)
	out.End = r.began.Add(time.Duration(n) * time.Second).Format("15:04:05")
	return out, n
}
