package keycond

import (
	"iter"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/store"
)

// A Slice is a contiguous part of one partition: the rows that a key condition reads. [Slice.Page] reads its items
// and [Slice.Rows] its rows.
type Slice struct {
	// Partition is the address of the partition.
	Partition []byte
	// Range bounds the sort positions.
	Range store.Range
	// Clauses are the conditions of the slice, in key order: one on each partition key attribute, then those on sort
	// key attributes.
	Clauses []Clause

	schema *Schema // that it was compiled for
}

// Rows yields exactly the rows of the slice, in the order of their positions or, if reverse, in descending order. Use
// it for rows that are not items, or to read without pages. See [store.Reader] for how long rows are valid.
func (s *Slice) Rows(r store.Reader, space store.Space, reverse bool) iter.Seq2[store.Row, error] {
	return r.Query(space, s.Partition, s.Range, reverse)
}

// After returns the part of the slice after a sort position, to continue [Slice.Rows] from there. If reverse is set,
// it returns the part below the position. A row at the position need not exist. The part is empty if nothing follows.
func (s *Slice) After(sort []byte, reverse bool) *Slice {
	rest := *s
	r := &rest.Range
	switch {
	case reverse && (r.Hi == nil || string(sort) < string(r.Hi)):
		r.Hi = append([]byte{}, sort...)
	case !reverse && string(sort) >= string(r.Lo):
		r.Lo = append(slices.Clone(sort), 0)
	}
	if r.Hi != nil && string(r.Lo) >= string(r.Hi) {
		r.Lo, r.Hi = nil, []byte{}
	}
	return &rest
}

// Contains reports whether the slice contains a row at the given address. If it does not, a change of that row cannot
// change the result of the query.
func (s *Slice) Contains(partition, sort []byte) bool {
	return string(partition) == string(s.Partition) && s.Range.Contains(sort)
}

// String returns the conditions of the slice as one line, such as PK = "a" AND begins_with(SK, "b"), for messages and
// logs.
func (s *Slice) String() string {
	parts := make([]string, len(s.Clauses))
	for i, c := range s.Clauses {
		parts[i] = c.String()
	}
	return strings.Join(parts, " AND ")
}
