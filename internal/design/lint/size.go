package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/keycond"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keys"
)

const limits = "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html"

// Limits of items and partitions. Source: DG/Constraints.html, DG/LSI.html.
const (
	maxItemBytes       = 400 << 10
	maxCollectionBytes = 10 << 30
)

var keyLength = lint{Rule{
	ID: "key-length", Title: "Keys near their limit", Severity: model.Warning,
	Help: "A partition key has at most 2,048 bytes and a sort key 1,024, in tables and in indexes. A write with a longer key is refused. " +
		"Lengths are in bytes of UTF-8: a Chinese character takes three, an emoji four.",
	Example: []string{`"FILE#" and a path of 1,020 bytes`},
	Cure:    "Limit the length of values in the key, or put a hash there, {digest:hex(32)}, and the text into a separate attribute.",
	Source:  limits,
}, func(l *linter) {
	for _, s := range l.slots {
		if s.t.Kind == attr.Number {
			continue
		}
		limit, role := keycond.MaxPartitionKeyBytes, "partition key"
		if s.sortView() != nil {
			limit, role = keycond.MaxSortKeyBytes, "sort key"
		}
		longest, at := 0, (*world.Item)(nil)
		for _, it := range l.items[s.e] {
			if n := len(it.Attributes.Get(s.t.Name).Raw()); n > longest {
				longest, at = n, it
			}
		}
		f := s.in(model.Finding{Keys: s.view().shown(at), Advice: fmt.Sprintf("limit the length of the values in %s, or put a hash there and the text into another attribute", s.t.Name)})
		if most := longestKey(s); most > limit {
			f.Severity = model.Error
			f.Keys = append(f.Keys, l.longKey(s, at)...)
			f.Message = fmt.Sprintf(
				"%s can have %s bytes, and the limit of a %s is %s: writes will be refused", s.t.Name,
				text.Thousands(most), role, text.Thousands(limit),
			)
			l.add(f)
		} else if longest > limit*3/4 {
			f.Message = fmt.Sprintf(
				"%s has up to %s bytes, and the limit of a %s is %s", s.t.Name, text.Thousands(longest), role,
				text.Thousands(limit),
			)
			l.add(f)
		}
	}
}}

// longKey returns a key of the greatest possible length.
func (l *linter) longKey(s *slot, at *world.Item) []string {
	for _, p := range s.parts {
		if f := s.e.Field(p.Name); f != nil && f.MaxSize > 0 && textual(p.Type) {
			return nonEmpty(l.suchAs(s.view(), s.e, at, map[string]string{p.Name: strings.Repeat("x", f.MaxSize)}))
		}
	}
	return nil
}

// longestKey returns the largest number of bytes that a template can produce,
// as far as types and fields limit it; text without a limit counts as 0.
func longestKey(s *slot) int {
	n := 0
	for _, p := range s.parts {
		n += len(p.Literal) + longest(s.e.Field(p.Name), p)
	}
	return n
}

// longest returns the largest number of bytes of a component.
func longest(f *model.Field, p keys.Part) int {
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
	ID: "item-size", Title: "Items near 400 KB", Severity: model.Warning,
	Help: "An item has at most 400 KB, names and values together; its rows in local indexes count too. A write or an update beyond that is refused: a list that only grows gets there. " +
		"Large items are expensive long before: every read takes a unit for each 4 KB, and every write, even of one byte, a unit for each 1 KB.",
	Example: []string{`an item of 390 KB: 98 units to read, 390 to write`},
	Cure:    "Put large values into separate items, DOC#{doc} with PART#{n:int(4)}, or into an object store and its key into the item. Store growing lists as items.",
	Source:  limits + "; https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-use-s3-too.html",
}, func(l *linter) {
	for _, e := range l.entities {
		l.itemSize(e)
	}
}}

func (l *linter) itemSize(e *model.Entity) {
	largest, at := 0, (*world.Item)(nil)
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
	f := model.Finding{
		Pos: e.Pos, Table: e.Table.Name, Entity: e.Name, Keys: v.shown(at),
		Advice: fmt.Sprintf("put %s into separate items, or into an object store", large),
	}
	if t := e.Attribute(large); t != nil && t.Pos.Line > 0 {
		f.Pos = t.Pos
	}
	switch {
	case most > maxItemBytes:
		f.Severity = model.Error
		f.Message = fmt.Sprintf(
			"an item of %s can have %s, and the limit is 400 KB: writes will be refused", e.Name,
			text.Size(float64(most)),
		)
	case largest > maxItemBytes*3/4:
		f.Message = fmt.Sprintf(
			"items of %s have up to %s, and the limit is 400 KB", e.Name, text.Size(float64(largest)),
		)
	default:
		return
	}
	l.add(f)
}

var collectionSize = lint{Rule{
	ID: "collection-size", Title: "Item collections beyond 10 GB", Severity: model.Error,
	Help: "In a table with a local index, all items with one partition key and their rows in local indexes form an item collection of at most 10 GB. At the limit, writes that would enlarge it are refused for good: " +
		"a local index cannot be removed from a table. Tables without local indexes have no such limit.",
	Example: []string{`"TENANT#big": 14 GB`},
	Cure:    "Use a global index instead of the local one, or divide the collection: TENANT#{tenant}#{month:month}.",
	Source:  "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/LSI.html (item collection size limit)",
}, func(l *linter) {
	for _, v := range l.views {
		if v.x == nil && slices.ContainsFunc(v.t.Indexes, func(x *model.Index) bool { return x.Local }) {
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
	var at world.Part
	for _, p := range v.Parts {
		sum := 0.0
		for _, r := range v.In(p) {
			sum += float64(r.Size()) * grow.Of(r.Item)
		}
		for _, o := range local {
			if lp, ok := o.Partition(v.PartitionOf(nil, &v.Rows[p.From])); ok {
				for _, r := range o.In(lp) {
					sum += float64(r.Size()) * grow.Of(r.Item)
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
	f := v.in(model.Finding{Pos: l.partitionPos(v, at), Keys: v.shown(v.Rows[at.From].Item, v.Rows[at.To-1].Item)})
	for _, x := range v.t.Indexes {
		if x.Local {
			f.Advice = fmt.Sprintf(
				"make %s a global index with its own partition key, or divide the partition by month or by a number",
				x.Name,
			)
			f.Index = x.Name
			break
		}
	}
	f.Message = fmt.Sprintf(
		"at the declared scale, the item collection of %s has %s with its local indexes, and the limit is 10 GB%s",
		v.partitionOf(v.Rows[at.From].Item), text.Size(most), others(over-1, "over it"),
	)
	if over == 0 {
		f.Severity = model.Warning
	}
	l.add(f)
}

// partitionPos returns the position of the template that builds the partition
// key of a partition's first row.
func (l *linter) partitionPos(v *view, p world.Part) model.Pos {
	if e := v.Rows[p.From].Item.Entity; e != nil {
		if t := e.Attribute(v.hash[0].Name); t != nil {
			return t.Pos
		}
	}
	return v.pos()
}
