package attr

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/sortkey/sortkey/internal/item/doc"
)

// A Builder builds an [Item] from attribute values; [MarshalItem] builds one from a struct. The zero Builder is ready
// to use. A Builder is not safe for concurrent use.
type Builder struct {
	names   []byte
	entries []entry
}

// An entry is one attribute of an item being built. Its name is
// names[from:to], where names belongs to the owner of the entry.
type entry struct {
	from, to int
	v        Value
}

// Reset removes all attributes and keeps the memory, so that one Builder makes many items.
func (b *Builder) Reset() {
	b.names = b.names[:0]
	clear(b.entries)
	b.entries = b.entries[:0]
}

// Len returns the number of attributes added. A name that was added twice counts twice.
func (b *Builder) Len() int { return len(b.entries) }

// Add adds an attribute. A later attribute of the same name replaces it, and a zero Value adds nothing. Add copies the
// name, which must be UTF-8, and cuts it at [MaxNameBytes]. It does not copy the value, whose bytes must not change
// before the item is built. The functions that encode or store an item refuse names and text that are not UTF-8.
func (b *Builder) Add(name string, v Value) { addTo(b, name, v) }

// AddBytes is [Builder.Add] for a name in bytes, such as [Item.All] yields.
func (b *Builder) AddBytes(name []byte, v Value) { addTo(b, name, v) }

// addTo adds an attribute whose name is a string or its bytes.
func addTo[T string | []byte](b *Builder, name T, v Value) {
	if v.IsZero() {
		return
	}
	from := len(b.names)
	b.names = append(b.names, name...)
	b.names = b.names[:from+cutName(b.names[from:])]
	b.entries = append(b.entries, entry{from, len(b.names), v})
}

// cutName returns the length of the longest prefix of name that fits in
// MaxNameBytes and does not split a character.
func cutName(name []byte) int {
	if len(name) <= MaxNameBytes {
		return len(name)
	}
	n := MaxNameBytes
	for n > MaxNameBytes-utf8.UTFMax && !utf8.RuneStart(name[n]) {
		n--
	}
	return n
}

// Item returns a new item with the attributes added so far. The Builder may add more to them for another item.
func (b *Builder) Item() Item { return b.AppendItem(nil) }

// AppendItem appends to dst the item that [Builder.Item] returns, for programs that reuse memory.
func (b *Builder) AppendItem(dst []byte) []byte {
	b.entries = sortEntries(b.names, b.entries)
	return appendEntries(dst, b.names, b.entries)
}

// sortEntries sorts entries by name and keeps the last entry of each name.
func sortEntries(names []byte, entries []entry) []entry {
	compare := func(a, b entry) int {
		return bytes.Compare(names[a.from:a.to], names[b.from:b.to])
	}
	sorted := true
	for i := 1; i < len(entries) && sorted; i++ {
		sorted = compare(entries[i-1], entries[i]) < 0
	}
	if sorted {
		return entries
	}
	slices.SortStableFunc(entries, compare)
	kept := entries[:0]
	for i, e := range entries {
		if i+1 == len(entries) || compare(e, entries[i+1]) != 0 {
			kept = append(kept, e)
		}
	}
	return kept
}

// appendEntries appends the document form of sorted entries.
func appendEntries(dst, names []byte, entries []entry) []byte {
	size, content := 0, 0
	for _, e := range entries {
		size += e.to - e.from + e.v.Size()
		content += doc.AttributeLen(e.to-e.from, len(e.v.raw))
	}
	dst, start := doc.AppendHead(dst, len(entries), size, content)
	for i, e := range entries {
		doc.SetOffset(dst, start, i)
		dst = doc.AppendName(dst, byte(e.v.kind), names[e.from:e.to])
		dst = append(dst, e.v.raw...)
	}
	return dst
}

// AppendList appends the payload of a list of elems, for programs that reuse memory; [NewList] returns a value. None of
// the elements may be zero.
func AppendList(dst []byte, elems []Value) []byte {
	size, content := 0, 0
	for _, e := range elems {
		size += e.Size()
		content += 1 + len(e.raw)
	}
	dst, start := doc.AppendHead(dst, len(elems), size, content)
	for i, e := range elems {
		doc.SetOffset(dst, start, i)
		dst = append(dst, byte(e.kind))
		dst = append(dst, e.raw...)
	}
	return dst
}

// appendSet appends the payload of a set: its elements sorted by their stored bytes. It does not change elems. If
// elems are not sorted, it sorts a copy in the free capacity of scratch.
func appendSet(dst []byte, kind Kind, elems, scratch []Value) ([]byte, error) {
	if len(elems) == 0 {
		return dst, invalid(msgEmptySet[kind])
	}
	original := elems
	if !slices.IsSortedFunc(elems, compareRaw) {
		elems = append(scratch, elems...)[len(scratch):]
		slices.SortFunc(elems, compareRaw)
	}
	size, content := 0, 0
	for i, e := range elems {
		if i > 0 && bytes.Equal(elems[i-1].raw, e.raw) {
			return dst, duplicates(kind, original)
		}
		size += e.Size()
		content += len(e.raw)
	}

	dst, start := doc.AppendHead(dst, len(elems), size, content)
	for i, e := range elems {
		doc.SetOffset(dst, start, i)
		dst = append(dst, e.raw...)
	}
	return dst, nil
}

func compareRaw(a, b Value) int { return bytes.Compare(a.raw, b.raw) }

// duplicates returns the error for a set with equal members. Except for a number set, its texts list the members. Msg
// sorts the members before the first repeated one and lists the others as sent; Older lists all members as sent.
// Source: dynamodb-conformance, tests/tier3/error-messages/valueLayers.test.ts.
func duplicates(kind Kind, elems []Value) error {
	const older = "Input collection contains duplicates"
	if kind == NumberSet {
		return &Error{Msg: msgInvalid + older + ".", Older: older}
	}
	sent := slices.Clone(elems)
	seen := make(map[string]bool, len(elems))
	for i, e := range elems {
		if seen[string(e.raw)] {
			elems = slices.Clone(elems)
			slices.SortFunc(elems[:i], compareRaw)
			break
		}
		seen[string(e.raw)] = true
	}

	comma, end := `, `, " contains duplicates."
	if kind == BinarySet {
		comma, end = `,`, "of type BS contains duplicates."
	}
	return &Error{
		Msg:   msgInvalid + "Input collection [" + joinTexts(elems, comma, `"`) + "]" + end,
		Older: msgInvalid + "Input collection [" + joinTexts(sent, `, `, ``) + "]" + end,
	}
}

func joinTexts(elems []Value, comma, quote string) string {
	var text []byte
	for i, e := range elems {
		if i > 0 {
			text = append(text, comma...)
		}
		text = append(text, quote...)
		text = e.appendText(text)
		text = append(text, quote...)
	}
	return string(text)
}
