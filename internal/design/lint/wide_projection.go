package lint

import (
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

var wideProjection = rule.Rule{
	ID: "wide-projection", Title: "An index that copies more than its patterns read", Severity: model.Note,
	Help: "An index with projection ALL holds a copy of each item. Every write of an item writes the copy too, at " +
		"one unit per KB, and a query of the index reads it. If all patterns that read the index project few " +
		"attributes, a smaller projection serves them. The rule applies if it saves a kilobyte per row.",
	Example: []string{`ByEmail: projection ALL, rows of 5 KB, and the pattern reads only the key`},
	Cure:    "Declare projection: keys, or list the attributes that the patterns read.",
	Source:  guide + "bp-indexes-general.html (project only what you need)",

	Index: checkWideProjection,
}

// savedBytes is the average size that a smaller projection must save per row.
const savedBytes = 1 << 10

func checkWideProjection(p *rule.Pass, v *rule.View) {
	if v.Index.Projection != "ALL" || len(v.Rows) == 0 {
		return
	}
	needed, readers := map[string]bool{}, 0
	for _, q := range p.Queries {
		if q.View != v {
			continue
		}
		if len(q.Project) == 0 || q.Request != nil {
			return // it returns all attributes
		}
		readers++
		for _, name := range q.Project {
			needed[name] = true
		}
		for _, e := range v.Entities() {
			for _, t := range e.Attributes {
				if strings.Contains(q.Filter, t.Name) {
					needed[t.Name] = true
				}
			}
		}
	}
	if readers == 0 {
		return
	}

	better := *v.Index
	better.Projection, better.Include = "KEYS_ONLY", nil
	keys := slices.Concat(rule.Names(v.Keys), rule.Names(v.Table.Keys()))
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range needed {
			if !slices.Contains(keys, name) && !yield(name) {
				return
			}
		}
	}) {
		better.Projection, better.Include = "INCLUDE", append(better.Include, name)
	}
	now, then := rowBytes(p, v, v.Index), rowBytes(p, v, &better)
	if now-then < savedBytes {
		return
	}
	f := v.Finding(
		"%s copies all attributes, %s per row on average, but the %s only %s", v, text.Size(now),
		text.Agree(readers, "pattern that reads it returns", "patterns that read it return"),
		returnedOf(better.Include),
	)
	f.Keys = v.Shown(v.Rows[0].Item)
	if e := v.Rows[0].Item.Entity; e != nil {
		f.Entity = e.Name
	}
	f.Advice = "declare projection: " + projectionText(&better) + ", with " + text.Size(then) + " per row"
	f.Propose(f.Advice, rule.WriteIndex(v.Table.Name, better))
	p.Report(f)
}

// rowBytes returns the size of a row of a view on average, as it would be in an
// index.
func rowBytes(p *rule.Pass, v *rule.View, x *model.Index) float64 {
	sizes, sum, n := v.Table.RowSizes(x), 0.0, 0.0
	for _, r := range v.Rows {
		if size, ok := sizes.Of(attr.Item(r.Item.Attributes)); ok {
			times := p.World.Represents(r.Item)
			sum += times * float64(size)
			n += times
		}
	}
	return sum / max(n, 1)
}

func returnedOf(include []string) string {
	if len(include) == 0 {
		return "keys"
	}
	return "keys and " + rule.List(include)
}

// projectionText returns a projection as in a model file.
func projectionText(x *model.Index) string {
	if x.Projection == "KEYS_ONLY" {
		return "keys"
	}
	return "[" + strings.Join(x.Include, ", ") + "]"
}
