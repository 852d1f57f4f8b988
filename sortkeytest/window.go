package sortkeytest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/sortkey/sortkey/internal/text"
)

// The rules come from lambda/latest/dg/services-ddb-windows.html.

// maxState is the largest state of a tumbling window.
const maxState = 1 << 20

// A window is the tumbling window of a shard that is open, and its state.
type window struct {
	start time.Time
	state json.RawMessage
}

// windowOf returns when the tumbling window of a record begins. Windows begin at multiples
// of their length since 1970.
func (s *EventSource) windowOf(r eventRecord) time.Time {
	length := int64(s.TumblingWindow / time.Second)
	return time.Unix(r.created.Unix()/length*length, 0).UTC()
}

// enter opens the window of a batch. If another one is open, it is over.
func (s *EventSource) enter(b batch) {
	s.db.t.Helper()
	start := s.windowOf(b.records[0])
	if w := s.windows[b.lane.shard]; w == nil || !w.start.Equal(start) {
		s.finish(b.lane.shard, false)
		s.windows[b.lane.shard] = &window{start, json.RawMessage("{}")}
	}
}

// finishOld finishes the window of a shard if its time is over, and reports whether it was.
func (s *EventSource) finishOld(shard string) bool {
	s.db.t.Helper()
	w := s.windows[shard]
	if w == nil || s.db.Clock.Now().Before(w.start.Add(s.TumblingWindow)) {
		return false
	}
	s.finish(shard, false)
	return true
}

// finish calls the handler with the last state of a window, if one is open, and closes it.
// Early says that the state has become too large. A call that fails is repeated like one
// with records.
func (s *EventSource) finish(shard string, early bool) {
	s.db.t.Helper()
	w := s.windows[shard]
	if w == nil {
		return
	}
	event := s.eventOf(batch{lane: lane{shard: shard}}, w, true, early)
	for failures := 1; ; failures++ {
		_, err := s.handle.call(s.db.t, event)
		if err == nil {
			break
		}
		if failures > s.MaximumRetryAttempts && s.MaximumRetryAttempts >= 0 || failures >= maxCalls {
			s.db.t.Errorf("sortkeytest: the handler has failed %s at the end of the window %s of table %s: %v",
				text.Count(failures, "time"), w.start.Format(time.RFC3339), s.table, err)
			break
		}
	}
	delete(s.windows, shard)
}

// eventOf returns the event for a batch, whose window may be nil.
func (s *EventSource) eventOf(b batch, w *window, final, early bool) []byte {
	var event bytes.Buffer
	event.WriteString(`{"Records":[`)
	for i, r := range b.records {
		if i > 0 {
			event.WriteByte(',')
		}
		event.Write(r.json)
	}
	event.WriteByte(']')
	if w != nil {
		fmt.Fprintf(&event, `,"window":{"start":%q,"end":%q},"state":%s,"shardId":%q,"eventSourceARN":%q,`+
			`"isFinalInvokeForWindow":%t,"isWindowTerminatedEarly":%t`,
			w.start.Format(time.RFC3339), w.start.Add(s.TumblingWindow).Format(time.RFC3339), w.state, b.lane.shard,
			s.arn, final, early)
	}
	event.WriteByte('}')
	return event.Bytes()
}

var errNoState = errors.New("its response has no state, which a function with a tumbling window must return")

// keepState keeps the state in a response. Without one the call has failed. A state that
// is too large ends the window, and another begins for the rest of its time.
func (s *EventSource) keepState(shard string, w *window, response []byte) error {
	s.db.t.Helper()
	var r struct {
		State json.RawMessage `json:"state"`
	}
	if err := json.Unmarshal(response, &r); err != nil || len(r.State) == 0 || r.State[0] != '{' {
		return errNoState
	}
	if w.state = r.State; len(w.state) > maxState {
		s.finish(shard, true)
		s.windows[shard] = &window{w.start, json.RawMessage("{}")}
	}
	return nil
}
