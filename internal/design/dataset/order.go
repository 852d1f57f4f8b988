package dataset

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
)

// headLen is the length of a head.
const headLen = 8

// fewRows are sorted by their whole keys.
const fewRows = 12

// A sorter sorts the rows of a space by their keys.
type sorter struct {
	arena
	// tie appends what orders rows of an index with equal keys of it, or is nil. It takes as much memory as the
	// keys themselves, and few rows need it.
	tie func(dst []byte, it *Item) []byte
}

// order sorts rows by their keys, or by their sort positions if they are of one partition. Most keys begin alike,
// so it leaves out the common prefix, sorts by the eight bytes after it, and goes on with rows that have these in
// common. A comparison then reads no memory but the row.
func (s *sorter) order(rows []keyedRow, inPartition bool) {
	if len(rows) <= fewRows {
		slices.SortFunc(rows, s.compare)
		return
	}

	key := s.key(inPartition)
	first := key(&rows[0])
	prefix, most := len(first), len(first)
	for i := range rows {
		k := key(&rows[i])
		prefix, most = common(first[:prefix], k), max(most, len(k))
	}
	if prefix == most {
		s.equal(rows, inPartition)
		return
	}

	for i := range rows {
		var head [headLen]byte
		copy(head[:], key(&rows[i])[prefix:])
		rows[i].head = binary.BigEndian.Uint64(head[:])
	}
	slices.SortFunc(rows, func(a, b keyedRow) int { return cmp.Compare(a.head, b.head) })
	for from := 0; from < len(rows); {
		to, ends := from+1, false
		for to < len(rows) && rows[to].head == rows[from].head {
			to++
		}
		same := rows[from:to]
		for i := range same {
			ends = ends || len(key(&same[i])) < prefix+headLen
		}
		differs := func(r keyedRow) bool { return !bytes.Equal(key(&r), key(&same[0])) }
		switch {
		case !ends:
			s.order(same, inPartition)
		case !slices.ContainsFunc(same, differs):
			s.equal(same, inPartition)
		default: // a head ends with its key or with zeros
			slices.SortFunc(same, s.compare)
		}
		from = to
	}
}

// key returns what order compares.
func (s *sorter) key(inPartition bool) func(*keyedRow) []byte {
	if inPartition {
		return s.sort
	}
	return s.partition
}

// equal sorts rows of one partition, or with one sort position in it.
func (s *sorter) equal(rows []keyedRow, inPartition bool) {
	switch {
	case !inPartition:
		s.order(rows, true)
	case s.tie != nil && len(rows) > 1:
		type tied struct {
			row keyedRow
			tie []byte
		}
		list := make([]tied, len(rows))
		for i := range rows {
			list[i] = tied{rows[i], s.tie(nil, rows[i].item)}
		}
		slices.SortFunc(list, func(a, b tied) int { return bytes.Compare(a.tie, b.tie) })
		for i := range list {
			rows[i] = list[i].row
		}
	}
}

func (s *sorter) compare(a, b keyedRow) int {
	c := bytes.Compare(s.partition(&a), s.partition(&b))
	if c == 0 {
		c = bytes.Compare(s.sort(&a), s.sort(&b))
	}
	if c == 0 && s.tie != nil {
		var room [2][256]byte
		c = bytes.Compare(s.tie(room[0][:0], a.item), s.tie(room[1][:0], b.item))
	}
	return c
}

// common returns the length of the longest common prefix.
func common(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
