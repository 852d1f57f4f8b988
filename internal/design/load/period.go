package load

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/dataset"
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
	n, ok := s.unit().place(text)
	return int(n), ok
}

// unit returns what numbers count.
func (s *period) unit() unit {
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
	n, _ := s.unit().place(at.Format(time.RFC3339Nano))
	return int(n)
}

func (s *period) begin(number int) time.Time {
	at, _ := time.Parse(string(s.unit()), s.text(number)) // it is one of these
	return at
}

// end returns the last moment of a period.
func (s *period) end(number int) time.Time { return s.begin(number + 1).Add(-1) }

// text returns the period with a number, as a value of its type.
func (s *period) text(number int) string { return s.unit().text(float64(number)) }

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

// absences are the periods of the values that a range in a period can be asked with.
type absences map[string]*absence

// An absence has the periods of a value in which it has rows, one of these, and the number of declared values.
type absence struct {
	row     *dataset.Row
	periods map[int]bool
	times   float64
}

func (all absences) see(id string, number int, c *candidate) {
	a := all[id]
	if a == nil {
		a = &absence{row: c.row, periods: map[int]bool{}}
		all[id] = a
	}
	a.periods[number] = true
	a.times = max(a.times, c.times)
}

// each calls f for each value that has no rows in some of the periods up to the last, with the first of these and
// with the number of these.
func (all absences) each(from, to int, f func(id string, a *absence, first, n int)) {
	for _, id := range slices.Sorted(maps.Keys(all)) {
		a, first, n := all[id], 0, 0
		for number := to; number >= from; number-- {
			if !a.periods[number] {
				first, n = number, n+1
			}
		}
		if n > 0 {
			f(id, a, first, n)
		}
	}
}

// nothing returns the candidate of a value in the first of n periods in which it has no rows.
func (s *spreader) nothing(a *absence, number, n int) candidate {
	return candidate{
		row: a.row, empty: true, number: number, args: s.period.argsIn(number), periods: n, times: float64(n) * a.times,
		Slice: Slice{Growth: 1, ByteGrowth: 1},
	}
}

// absent adds candidates without rows: the periods in which a value has none are asked for like the others.
func (s *spreader) absent() {
	seen := absences{}
	for i := range s.all {
		seen.see(s.valuesOf(&s.all[i]), s.all[i].number, &s.all[i])
	}
	from, to := periodsOf([]*spreader{s})
	seen.each(from, to, func(_ string, a *absence, first, n int) {
		s.all = append(s.all, s.nothing(a, first, n))
	})
}

// periodsOf returns the first and the last period that generated items have, because samples can lie far from them.
// Without generated items it returns those of the samples.
func periodsOf(spreaders []*spreader) (from, to int) {
	from, to = math.MaxInt, math.MinInt
	for _, generated := range []bool{true, false} {
		for _, s := range spreaders {
			for k := range s.all {
				if c := &s.all[k]; c.row != nil && !c.empty && c.row.Item.Generated == generated {
					from, to = min(from, c.number), max(to, c.number)
				}
			}
		}
		if from <= to {
			break
		}
	}
	return from, to
}

// sameShape reports whether two parts lie in their periods in the same way.
func (s *period) sameShape(o *period) bool {
	return s.from == o.from && s.last && o.last || s.from == o.from && s.to == o.to
}
