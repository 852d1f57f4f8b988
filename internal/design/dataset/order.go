package dataset

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
)

// headLen is the length of a head in bytes.
const headLen = 8

// fewRows is the largest number of rows that order sorts by comparing whole keys.
const fewRows = 12

// order sorts rows by their keys, or only by sort key if they are in one partition. Most keys have a common prefix,
// so order skips this prefix, sorts by the eight bytes after it (the head), and then sorts rows with equal heads in
// the same way. This is fast, because a comparison of heads reads no memory outside the row.
func (a arena) order(rows []keyedRow, inPartition bool) {
	if len(rows) <= fewRows {
		slices.SortFunc(rows, a.compare)
		return
	}

	key := a.partition
	if inPartition {
		key = a.sort
	}
	first := key(&rows[0])
	prefix, most := len(first), len(first)
	for i := range rows {
		k := key(&rows[i])
		prefix, most = common(first[:prefix], k), max(most, len(k))
	}
	if prefix == most { // all keys are equal
		if !inPartition {
			a.order(rows, true)
		}
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
		case ends && slices.ContainsFunc(same, differs): // a short key and a key with zero bytes can have equal heads
			slices.SortFunc(same, a.compare)
		default:
			a.order(same, inPartition)
		}
		from = to
	}
}

func (a arena) compare(r, o keyedRow) int {
	return cmp.Or(bytes.Compare(a.partition(&r), a.partition(&o)), bytes.Compare(a.sort(&r), a.sort(&o)))
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
