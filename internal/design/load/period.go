package load

import (
	"time"

	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/keys"
)

// A period is the part of a range of times that lies in one partition, such as the part in March of a range from
// January to March where the month is in the partition key. It says where the part lies in its period, so that
// the same part of another period can be read.
type period struct {
	of     keys.Type // such as a month
	number int       // of its own period
	// from is how far after the begin of the period the part begins, and to where it ends. It ends with the
	// period if that is last.
	from, to time.Duration
	last     bool
}

// periodOf returns the period of a condition, or nil if it is not a range within one that fixes the partition.
func periodOf(p *model.Pattern, c model.Condition) *period {
	if c.Op != ast.OpBetween || p.Entity == nil {
		return nil
	}
	bucket, ok := compile.Bucket(p, c.Field)
	if !ok {
		return nil
	}

	moment := func(text string, end bool) (time.Time, bool) {
		if first, last, ok := compile.Period(keys.Type{Name: "nanos"}, text); ok {
			text = first
			if end {
				text = last
			}
		}
		at, err := time.Parse(time.RFC3339Nano, text)
		return at.UTC(), err == nil
	}
	from, ok1 := moment(c.Args[0], false)
	to, ok2 := moment(c.Args[1], true)
	s := &period{of: bucket}
	if !ok1 || !ok2 || s.numberAt(from) != s.numberAt(to) {
		return nil
	}

	s.number = s.numberAt(from)
	begin := s.begin(s.number)
	s.from, s.to = from.Sub(begin), to.Sub(begin)
	s.last = to.Equal(s.end(s.number))
	return s
}

// numberOf returns the number of the period of a time, as text.
func (s *period) numberOf(value string) (int, bool) {
	text, err := s.of.Canonical(value)
	if err != nil {
		return 0, false
	}
	at, err := time.Parse(s.layout(), text)
	return s.numberAt(at), err == nil
}

func (s *period) layout() string {
	switch s.of.Name {
	case "year":
		return "2006"
	case "month":
		return "2006-01"
	}
	return time.DateOnly
}

const day = 24 * time.Hour

func (s *period) numberAt(at time.Time) int {
	switch s.of.Name {
	case "year":
		return at.Year()
	case "month":
		return at.Year()*12 + int(at.Month()) - 1
	}
	begin := time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
	return int(begin.Unix() / int64(day/time.Second))
}

func (s *period) begin(number int) time.Time {
	switch s.of.Name {
	case "year":
		return time.Date(number, 1, 1, 0, 0, 0, 0, time.UTC)
	case "month":
		return time.Date(number/12, time.Month(number%12+1), 1, 0, 0, 0, 0, time.UTC)
	}
	return time.Unix(int64(number)*int64(day/time.Second), 0).UTC()
}

// end returns the last moment of a period.
func (s *period) end(number int) time.Time { return s.begin(number + 1).Add(-1) }

// text returns the period with a number, as a value of its type.
func (s *period) text(number int) string { return s.begin(number).Format(s.layout()) }

// argsIn returns the bounds of the part in another period. In a shorter one they end with it.
func (s *period) argsIn(number int) []string {
	begin, end := s.begin(number), s.end(number)
	from, to := begin.Add(s.from), begin.Add(s.to)
	if s.last || to.After(end) {
		to = end
	}
	if from.After(end) {
		from = end
	}
	return []string{from.Format(time.RFC3339Nano), to.Format(time.RFC3339Nano)}
}

// sameShape reports whether two parts lie in their periods in the same way.
func (s *period) sameShape(o *period) bool {
	return s.from == o.from && s.last && o.last || s.from == o.from && s.to == o.to
}
