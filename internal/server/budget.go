package server

import "sync/atomic"

// uncounted is the size up to which the buffers of a request do not count against a budget. Almost all requests and
// answers are smaller, and the limit of connections bounds their number.
const uncounted = 64 << 10

// A budget is a number of bytes that the buffers of all requests share.
type budget struct {
	limit int64
	used  atomic.Int64
}

// A share is the part of a budget that one request has taken.
type share struct {
	b     *budget
	bytes int64
}

// resize changes the share to n bytes and reports whether the budget allows it. If not, the share stays as it is.
func (s *share) resize(n int) bool {
	want := int64(n)
	if want <= uncounted {
		want = 0
	}
	more := want - s.bytes
	if s.b.used.Add(more) > s.b.limit && more > 0 {
		s.b.used.Add(-more)
		return false
	}
	s.bytes = want
	return true
}

// free gives all bytes of the share back to the budget.
func (s *share) free() {
	if s.b != nil {
		s.resize(0)
	}
}
