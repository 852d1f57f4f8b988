package load

import (
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
)

// A check and the lint rules beside it ask the same of each pattern: what it reads, in which slices, with which
// load. The first keeps its candidates for the others, and the last takes them away: there can be a million.

// askers is how many ask.
const askers = 3

// twice identifies the candidates of a pattern, by all that they depend on.
type twice struct {
	p                    *model.Pattern
	index                string
	partition, low, high string
	limit                int
	reverse              bool
}

// A finding is what a spreader finds.
type finding struct {
	all       []candidate
	grow      *world.Growth
	estimated bool
	left      int // askers that have not come
}

// id returns what identifies the candidates. It reports false if they depend on more.
func (s *spreader) id() (twice, bool) {
	r := s.q.Report
	return twice{
		p: s.p, index: r.Index, partition: string(r.Partition.Bytes),
		low: bound(r.Low.Bytes), high: bound(r.High.Bytes),
		limit: r.Limit, reverse: r.Reverse,
	}, s.p.Entity != nil && s.p.Request == nil && len(s.q.Fixed) == 0
}

// bound returns a bound of a range as a string, another one for no bound than for an empty one.
func bound(b []byte) string {
	if b == nil {
		return ""
	}
	return "=" + string(b)
}

// take takes the candidates that were kept. It reports false if there are none.
func (s *spreader) take() bool {
	id, ok := s.id()
	if !ok {
		return false
	}
	kept, ok := s.w.Kept.LoadAndDelete(id)
	if !ok {
		return false
	}
	f := kept.(finding)
	if f.left--; f.left > 0 {
		s.w.Kept.Store(id, f)
	}
	s.all, s.grow, s.estimated = f.all, f.grow, f.estimated
	return true
}

// keep keeps the candidates, unless they were found twice at the same time.
func (s *spreader) keep() {
	id, ok := s.id()
	if !ok || len(s.all) < fewCandidates {
		return
	}
	if _, other := s.w.Kept.LoadOrStore(id, finding{s.all, s.grow, s.estimated, askers - 1}); other {
		s.w.Kept.Delete(id)
	}
}

// fewCandidates are found again in no time.
const fewCandidates = 1000
