package attr

// A stack builds the stored form of nested documents.
//
// buf holds the payloads of values one after the other. The members of the innermost document are the last ones of
// entries or elems, and their payloads are the last bytes of buf. When the document ends, the stack appends its
// payload and then moves this down over the payloads of the members ([stack.finish]).
//
// Members point into buf. When buf grows into new memory, they keep pointing into the old memory, which nothing
// overwrites.
type stack struct {
	buf     []byte
	names   []byte
	entries []entry // members of maps
	elems   []Value // elements of lists and sets
}

// The most memory that a pooled stack keeps.
const (
	keepBytes   = 1 << 20
	keepMembers = 1 << 8
)

// reset empties s for the pool. It drops the memory if a large document has made it grow.
func (s *stack) reset() {
	if max(cap(s.buf), cap(s.names)) > keepBytes || max(cap(s.entries), cap(s.elems)) > keepMembers {
		*s = stack{}
		return
	}
	clear(s.entries[:cap(s.entries)])
	clear(s.elems[:cap(s.elems)])
	s.buf, s.names, s.entries, s.elems = s.buf[:0], s.names[:0], s.entries[:0], s.elems[:0]
}

// value returns the value with the payload buf[start:].
func (s *stack) value(kind Kind, start int) Value {
	return Value{kind, s.buf[start:len(s.buf):len(s.buf)]}
}

// finish ends a document whose payload is buf[end:]. It moves the payload down to start, over the payloads of its
// members.
func (s *stack) finish(kind Kind, start, end int) Value {
	n := copy(s.buf[start:], s.buf[end:])
	s.buf = s.buf[:start+n]
	return s.value(kind, start)
}

// endMap ends a map whose members are entries[first:], sorted by name. Their names are in names, and their payloads
// begin at start.
func (s *stack) endMap(names []byte, first, start int) Value {
	end := len(s.buf)
	s.buf = appendEntries(s.buf, names, s.entries[first:])
	s.entries = s.entries[:first]
	return s.finish(Map, start, end)
}

// endList ends a list whose elements are elems[first:].
func (s *stack) endList(first, start int) Value {
	end := len(s.buf)
	s.buf = AppendList(s.buf, s.elems[first:])
	s.elems = s.elems[:first]
	return s.finish(List, start, end)
}

// endSet ends a set whose elements are elems[first:].
func (s *stack) endSet(kind Kind, first, start int) (Value, error) {
	end := len(s.buf)
	buf, err := appendSet(s.buf, kind, s.elems[first:], s.elems)
	s.elems = s.elems[:first]
	if err != nil {
		return Value{}, err
	}
	s.buf = buf
	return s.finish(kind, start, end), nil
}
