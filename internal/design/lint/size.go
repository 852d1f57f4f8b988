package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/keys"
)

const limits = "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html"

// Limits of items and partitions. Source: DG/Constraints.html, DG/LSI.html.
const (
	maxItemBytes       = 400 << 10
	maxCollectionBytes = 10 << 30
)

var keyLength = lint{Rule{
	ID: "key-length", Title: "Keys near their limit", Severity: design.Warning,
	Help: "A partition key holds at most 2,048 bytes and a sort key 1,024, in tables and in indexes. A write with a longer one is refused. " +
		"Bytes are those of UTF-8: a character of Chinese is three, an emoji four.",
	Example: []string{`"FILE#" and a path of 1,020 bytes`},
	Cure:    "Bound what goes into the key, or put a hash of it there, {digest:hex(32)}, and the text into an attribute of its own.",
	Source:  limits,
}, func(l *linter) {
	for _, s := range l.slots {
		if s.t.Kind == attr.Number {
			continue
		}
		limit, role := keycond.MaxPartitionKeyBytes, "partition key"
		if s.sorts() != nil {
			limit, role = keycond.MaxSortKeyBytes, "sort key"
		}
		longest, at := 0, (*design.Item)(nil)
		for _, it := range l.items[s.e] {
			if n := len(it.Attributes.Get(s.t.Name).Raw()); n > longest {
				longest, at = n, it
			}
		}
		f := s.in(design.Finding{Keys: s.first().shown(at), Advice: fmt.Sprintf("bound what goes into %s, or put a hash of it there and the text into another attribute", s.t.Name)})
		if most := longestKey(s); most > limit {
			f.Severity = design.Error
			f.Keys = append(f.Keys, l.long(s, at)...)
			f.Message = fmt.Sprintf("%s can have %s bytes, and a %s holds %s: writes will be refused", s.t.Name, grouped(most), role, grouped(limit))
			l.add(f)
		} else if longest > limit*3/4 {
			f.Message = fmt.Sprintf("%s has up to %s bytes, and a %s holds %s", s.t.Name, grouped(longest), role, grouped(limit))
			l.add(f)
		}
	}
}}

// long is a key of the greatest length.
func (l *linter) long(s *slot, at *design.Item) []string {
	for _, p := range s.parts {
		if f := s.e.Field(p.Name); f != nil && f.MaxSize > 0 && textual(p.Type) {
			return nonEmpty(l.suchAs(s.first(), s.e, at, map[string]string{p.Name: strings.Repeat("x", f.MaxSize)}))
		}
	}
	return nil
}

// longestKey is the most bytes that a template can make, as far as types and
// fields say; text without a bound counts as nothing.
func longestKey(s *slot) int {
	n := 0
	for _, p := range s.parts {
		n += len(p.Literal) + longest(s.e.Field(p.Name), p)
	}
	return n
}

// longest is the most bytes of a component.
func longest(f *design.Field, p keys.Part) int {
	if p.Name == "" {
		return 0
	}
	if width, ok := p.Type.Fixed(); ok {
		return width
	}
	if f == nil {
		return 0
	}
	n := f.MaxSize
	for _, v := range slices.Concat(f.Values, p.Type.Values) {
		n = max(n, len(v))
	}
	return n
}

var itemSize = lint{Rule{
	ID: "item-size", Title: "Items near 400 KB", Severity: design.Warning,
	Help: "An item holds at most 400 KB, names and values together, and with local indexes the rows there count too. A write beyond that is refused, as is an update that makes it so: a list that only grows gets there. " +
		"Long before, a large item costs: every read of it is a unit for each 4 KB, every change of one byte a unit for each 1 KB.",
	Example: []string{`an item of 390 KB: 98 units to read, 390 to write`},
	Cure:    "Put large values into rows of their own, DOC#{doc} with PART#{n:int(4)}, or into an object store with the key here; keep growing lists as items.",
	Source:  limits + "; https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-use-s3-too.html",
}, func(l *linter) {
	for _, e := range l.entities {
		l.itemSize(e)
	}
}}

func (l *linter) itemSize(e *design.Entity) {
	largest, at := 0, (*design.Item)(nil)
	for _, it := range l.items[e] {
		n := it.Attributes.Size()
		for _, v := range l.views {
			if v.t == e.Table && v.x != nil && v.x.Local {
				if size, ok := v.size(it.Attributes); ok {
					n += size
				}
			}
		}
		if n > largest {
			largest, at = n, it
		}
	}
	most := 0
	large, bytes := "", 0
	for _, t := range e.Attributes {
		n := len(t.Name)
		if t.Template == nil {
			n += t.Const.Size()
		} else {
			for _, p := range t.Template.Parts() {
				n += len(p.Literal) + longest(e.Field(p.Name), p)
			}
		}
		most += n
		if n > bytes {
			large, bytes = t.Name, n
		}
	}
	v := &view{t: e.Table, all: e.Table.Keys()}
	f := design.Finding{Pos: e.Pos, Table: e.Table.Name, Entity: e.Name, Keys: v.shown(at), Advice: fmt.Sprintf("put %s into rows of its own, or into an object store", large)}
	if t := e.Attribute(large); t != nil && t.Pos.Line > 0 {
		f.Pos = t.Pos
	}
	switch {
	case most > maxItemBytes:
		f.Severity = design.Error
		f.Message = fmt.Sprintf("an item of %s can have %s, and 400 KB is the most: writes will be refused", e.Name, size(float64(most)))
	case largest > maxItemBytes*3/4:
		f.Message = fmt.Sprintf("items of %s have up to %s, and 400 KB is the most", e.Name, size(float64(largest)))
	default:
		return
	}
	l.add(f)
}

var collectionSize = lint{Rule{
	ID: "collection-size", Title: "Collections beyond 10 GB", Severity: design.Error,
	Help: "In a table with a local index, all items with one partition key and their rows in local indexes are one collection of at most 10 GB. At the limit, writes that would make it larger are refused, for ever: " +
		"a local index cannot be removed from a table. Without local indexes there is no such limit.",
	Example: []string{`"TENANT#big": 14 GB`},
	Cure:    "Use a global index in place of the local one, or divide the collection: TENANT#{tenant}#{month:month}.",
	Source:  "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/LSI.html (item collection size limit)",
}, func(l *linter) {
	for _, v := range l.views {
		if v.x == nil && slices.ContainsFunc(v.t.Indexes, func(x *design.Index) bool { return x.Local }) {
			l.collections(v)
		}
	}
}}

func (l *linter) collections(v *view) {
	var local []*view
	for _, o := range l.views {
		if o.t == v.t && o.x != nil && o.x.Local {
			local = append(local, o)
		}
	}
	grow := l.w.Growth(v.hash)
	most, over := 0.0, 0
	var at part
	for _, p := range v.parts {
		sum := 0.0
		for _, r := range v.rows[p.from:p.to] {
			sum += float64(r.size) * grow.Of(r.it)
		}
		for _, o := range local {
			if lp, ok := o.partition(v.rows[p.from].part); ok {
				for _, r := range o.rows[lp.from:lp.to] {
					sum += float64(r.size) * grow.Of(r.it)
				}
			}
		}
		if sum > maxCollectionBytes {
			over++
		}
		if sum > most {
			most, at = sum, p
		}
	}
	if most < maxCollectionBytes/2 {
		return
	}
	f := v.in(design.Finding{Pos: l.partitionPos(v, at), Keys: v.shown(v.rows[at.from].it, v.rows[at.to-1].it)})
	for _, x := range v.t.Indexes {
		if x.Local {
			f.Advice = fmt.Sprintf("make %s a global index, with a partition key of its own, or divide the partition, by month or by a number", x.Name)
			f.Index = x.Name
			break
		}
	}
	f.Message = fmt.Sprintf("at the declared scale the collection of %s has %s with its local indexes, and 10 GB is the most%s", v.partitionOf(v.rows[at.from].it), size(most), others(over-1, "beyond it"))
	if over == 0 {
		f.Severity = design.Warning
	}
	l.add(f)
}

// partitionPos is where the partition key of the first row of a partition is
// made.
func (l *linter) partitionPos(v *view, p part) design.Pos {
	if e := v.rows[p.from].it.Entity; e != nil {
		if t := e.Attribute(v.hash[0].Name); t != nil {
			return t.Pos
		}
	}
	return v.pos()
}
