// Package diff compares two versions of a design. [Of] returns which tables, indexes, entities and patterns changed,
// what each pattern costs before and after, and which findings came and went. It also returns a plan: the steps from
// one version to the other, with the number of items and the write units of each.
package diff

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/bill"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/text"
)

// A Side is one version of a design, with its dataset and the result of its check.
type Side struct {
	Dataset *dataset.Dataset
	Result  *check.Result
	Bill    *bill.Bill // nil without prices
}

// A Diff is the difference between two versions of a design.
type Diff struct {
	Changes  []Change  `json:"changes"`
	Patterns []Pattern `json:"patterns"` // changed patterns, in the order of the new version
	Gained   []Finding `json:"gained"`
	Lost     []Finding `json:"lost"`
	// Questions are the decisions that Of leaves to the user. If there are any, there is no plan.
	Questions []Question `json:"questions"`
	// Names lists the names in the new version that the plan replaces by other names. Target is the new version with
	// these other names.
	Names  []Name       `json:"names"`
	Target *model.Model `json:"-"`
	Plan   []Step       `json:"plan"`
	// Was and Is are the bills of the old and the new version. They are nil if neither version declares rates, or if
	// the prices are not known.
	Was *bill.Bill `json:"billWas,omitempty"`
	Is  *bill.Bill `json:"billIs,omitempty"`
}

// Empty reports whether nothing changed.
func (d *Diff) Empty() bool {
	return len(d.Changes)+len(d.Patterns)+len(d.Gained)+len(d.Lost) == 0 && (d.Was == nil || d.Was.Total == d.Is.Total)
}

// A Change is a change of a table, an index, an entity or one of its attributes.
type Change struct {
	Subject string `json:"subject"` // such as: index ByDay of table Shop
	// Was and Is describe the subject in the old and the new version. Was is "" if the subject is new, and Is is ""
	// if it is gone.
	Was string `json:"was,omitempty"`
	Is  string `json:"is,omitempty"`
}

// A Pattern is an access pattern whose request, cost or result changed.
type Pattern struct {
	Name string `json:"name"`
	// Was is nil if the pattern is new. Is is nil if the pattern is gone.
	Was *Figures `json:"was,omitempty"`
	Is  *Figures `json:"is,omitempty"`
	// Request is true if the request itself changed.
	Request bool `json:"request"`
}

// Figures are what one run of a pattern costs. For a read, Units are the read units with the values in the model. P95
// and Worst are the 95th percentile and the maximum when the pattern reads other partitions instead. For a write, the
// figures are write units: the mean, the 95th percentile and the maximum over the items.
type Figures struct {
	OK    bool    `json:"ok"`
	Write bool    `json:"write,omitempty"`
	Rows  int     `json:"rows"`
	Units float64 `json:"units"`
	P95   float64 `json:"p95"`
	Worst float64 `json:"worst"`
}

// A Finding is a finding of the lint rules that only the old or only the new version has.
type Finding struct {
	Rule     string `json:"rule"`
	Severity string `json:"severity"`
	Subject  string `json:"subject"`
	Message  string `json:"message"`
}

// Of compares two versions of a design. renames says which entities and tables of the old version have another name
// in the new one.
func Of(ctx context.Context, was, is Side, renames Renames) (*Diff, error) {
	p := planner{ctx: ctx, was: was, is: is, renames: renames}
	if err := p.make(); err != nil {
		return nil, err
	}
	d := &Diff{
		Changes: []Change{}, Patterns: []Pattern{}, Gained: []Finding{}, Lost: []Finding{},
		Questions: append([]Question{}, p.questions...), Plan: append([]Step{}, p.all...), Names: []Name{},
		Target: p.target,
	}
	if len(d.Questions) == 0 {
		d.Names = append(d.Names, p.names.all...)
	}
	d.tables(was.Dataset.Model, is.Dataset.Model)
	d.entities(&p)
	d.raw(&p)
	d.patterns(&p)
	d.findings(was.Result, is.Result)
	if was.Bill != nil && is.Bill != nil && (was.Bill.Declared() || is.Bill.Declared()) {
		d.Was, d.Is = was.Bill, is.Bill
	}
	return d, nil
}

// change adds a change if was and is differ.
func (d *Diff) change(subject, was, is string) {
	if was != is {
		d.Changes = append(d.Changes, Change{subject, was, is})
	}
}

// eachName calls f once for each name in the two lists, with the elements that have the name: nil for a list without
// it. It calls f in the order of the new list, and then for the names that only the old list has.
func eachName[T any](was, is []*T, name func(*T) string, f func(was, is *T)) {
	find := func(list []*T, wanted string) *T {
		if i := slices.IndexFunc(list, func(v *T) bool { return name(v) == wanted }); i >= 0 {
			return list[i]
		}
		return nil
	}
	for _, v := range is {
		f(find(was, name(v)), v)
	}
	for _, v := range was {
		if find(is, name(v)) == nil {
			f(v, nil)
		}
	}
}

func (d *Diff) tables(was, is *model.Model) {
	eachName(was.Tables, is.Tables, tableName, func(a, b *model.Table) {
		t := cmp.Or(b, a)
		d.change("table "+t.Name, keyText(a), keyText(b))
		eachName(indexesOf(a), indexesOf(b), indexName, func(x, y *model.Index) {
			d.change("index "+cmp.Or(y, x).Name+" of table "+t.Name, indexText(x), indexText(y))
		})
	})
}

func tableName(t *model.Table) string { return t.Name }
func indexName(x *model.Index) string { return x.Name }

func indexesOf(t *model.Table) []*model.Index {
	if t == nil {
		return nil
	}
	return t.Indexes
}

func keyText(t *model.Table) string {
	if t == nil {
		return ""
	}
	s := attributesText(t.Partition, t.Sort)
	if t.TTL != "" {
		s += ", expires by " + t.TTL
	}
	return s
}

func indexText(x *model.Index) string {
	if x == nil {
		return ""
	}
	s := attributesText(x.Partition, x.Sort) + ", " + x.Projection
	if len(x.Include) > 0 {
		s += " " + strings.Join(slices.Sorted(slices.Values(x.Include)), " ") // their order does not matter
	}
	if x.Local {
		s += ", local"
	}
	return s
}

func attributesText(hash, sort []model.Attribute) string {
	join := func(list []model.Attribute) string {
		var all []string
		for _, a := range list {
			all = append(all, a.Name+":"+a.Kind.String())
		}
		return strings.Join(all, ", ")
	}
	if len(sort) == 0 {
		return join(hash)
	}
	return join(hash) + " / " + join(sort)
}

func (d *Diff) entities(p *planner) {
	was, is := p.was.Dataset.Model, p.is.Dataset.Model
	known := p.pairs
	for _, b := range is.Entities {
		fresh := true
		for _, a := range was.Entities {
			if known[a] != nil && known[a].is == b {
				d.entity(was, is, known[a])
				fresh = false
			}
		}
		if fresh {
			d.change("entity "+b.Name, "", entityText(b))
		}
	}
	for _, a := range was.Entities {
		if known[a] == nil {
			d.change("entity "+a.Name, entityText(a), "")
		}
	}
}

// entity adds the changes between two versions of an entity.
func (d *Diff) entity(was, is *model.Model, p *pair) {
	a, b := p.was, p.is
	subject := "entity " + b.Name
	d.change(subject+", name", a.Name, b.Name)
	d.change(subject+", table", a.Table.Name, b.Table.Name)
	d.change(subject+", items", text.Thousands(a.Count), text.Thousands(b.Count))
	d.change(subject+", reads a second", text.Figure(a.Reads), text.Figure(b.Reads))
	d.change(subject+", writes a second", text.Figure(was.ItemWrites(a)), text.Figure(is.ItemWrites(b)))
	eachName(a.Attributes, b.Attributes, func(t *model.Template) string { return t.Name }, func(s, t *model.Template) {
		d.change("attribute "+cmp.Or(t, s).Name+" of "+b.Name, templateText(s), templateText(t))
	})
	for _, f := range a.KeyedFields() {
		if !p.keeps(f.Name) {
			d.change("field "+f.Name+" of "+b.Name, "in keys only; the plan loses its values, unless "+b.Name+
				" gets "+f.Name+" among its fields", "")
		}
	}
	for _, f := range b.Fields { // the changes of attributes already show a field that only one version has
		if old := a.Field(p.from[f.Name]); old != nil {
			d.change("field "+f.Name+" of "+b.Name+", name", old.Name, f.Name)
			text := modelfile.FieldText(f)
			if coarse := written(b, f.Name); model.Finer(written(a, old.Name), coarse) {
				text += "; the plan keeps only the " + coarse.Name + " of each value"
			}
			d.change("field "+f.Name+" of "+b.Name, modelfile.FieldText(old), text)
		}
	}
}

// keeps reports whether the values of a field survive: either the new version has the field, or the old version holds
// it in an attribute outside the key. The changes list such attributes separately.
func (p *pair) keeps(field string) bool {
	for t, part := range p.was.AllParts() {
		if part.Name == field && !p.was.Table.IsKey(t.Name) {
			return true
		}
	}
	return slices.Contains(slices.Collect(maps.Values(p.from)), field)
}

// raw adds the changes of raw items, which belong to no entity. The plan does not delete raw items that the new
// version does not list.
func (d *Diff) raw(p *planner) {
	left := map[string]attr.Item{}
	for _, r := range p.target.Items {
		left[place(r.Table, r.Item)] = r.Item
	}
	shown := func(it attr.Item) string { return string(it.AppendJSON(nil)) }
	for i := range p.items {
		v := &p.items[i]
		if v.was.Entity != nil || v.table == nil || v.times == 0 {
			continue
		}
		id := place(v.table, v.item)
		subject := fmt.Sprintf("item %s of table %s", keyShown(v.table, v.item), v.table.Name)
		if now, ok := left[id]; !ok {
			d.change(subject, shown(v.item)+"; the plan leaves it", "")
		} else {
			d.change(subject, shown(v.item), shown(now))
		}
		delete(left, id)
	}
	for _, r := range p.target.Items {
		if _, ok := left[place(r.Table, r.Item)]; ok {
			d.change(fmt.Sprintf("item %s of table %s", keyShown(r.Table, r.Item), r.Table.Name), "", shown(r.Item))
		}
	}
}

// entityText describes the templates of an entity's key.
func entityText(e *model.Entity) string {
	var all []string
	for _, t := range e.Attributes {
		if e.Table.IsKey(t.Name) {
			all = append(all, t.Name+": "+templateText(t))
		}
	}
	return strings.Join(all, ", ")
}

func (d *Diff) patterns(p *planner) {
	results := func(r *check.Result) (all []*check.PatternResult) {
		for i := range r.Patterns {
			all = append(all, &r.Patterns[i])
		}
		return all
	}
	name := func(r *check.PatternResult) string { return r.Pattern.Name }
	eachName(results(p.was.Result), results(p.is.Result), name, func(a, b *check.PatternResult) {
		one := Pattern{Name: name(cmp.Or(b, a)), Was: figuresOf(a), Is: figuresOf(b)}
		if a != nil && b != nil {
			d.change(
				"pattern "+one.Name+", requests a second", text.Figure(a.Pattern.Rate), text.Figure(b.Pattern.Rate),
			)
			one.Request = p.differs(a.Pattern, b.Pattern)
			if !one.Request && *one.Was == *one.Is {
				return
			}
		}
		d.Patterns = append(d.Patterns, one)
	})
}

// figuresOf returns the figures of a pattern's result, or nil if pr is nil.
func figuresOf(pr *check.PatternResult) *Figures {
	if pr == nil {
		return nil
	}
	f := &Figures{OK: pr.OK(), Write: pr.Pattern.IsWrite(), Units: pr.Units(), P95: pr.Units(), Worst: pr.Units()}
	switch {
	case f.Write && pr.Writes != nil:
		f.Units, f.P95, f.Worst = pr.Writes.Mean(), pr.Writes.P95, pr.Writes.Worst
	case !f.Write && pr.Total != nil:
		f.Rows = pr.Total.Returned
		f.P95 = pr.Own().DeclaredUnits()
		f.Worst = f.P95
	}
	if s := pr.Spread; s != nil && !f.Write {
		f.P95, f.Worst = s.P95.DeclaredUnits(), s.Worst.DeclaredUnits()
	}
	return f
}

// writeText describes what a pattern writes, except for the templates of its entities.
func writeText(p *model.Pattern) string {
	var b strings.Builder
	for i := range p.Writes {
		w := &p.Writes[i]
		fmt.Fprintf(&b, "%s %s %v %v %s %s\n", w.Operation, w.Entity.Table.Name, valuesOf(w.Where), valuesOf(w.Set),
			w.If, w.Parameters.AppendJSON(nil))
	}
	return b.String()
}

func valuesOf(list []model.Condition) (all []string) {
	for _, c := range list {
		all = append(all, fmt.Sprintf("%s %s %q", c.Field, c.Op, c.Args))
	}
	return all
}

// findings adds the findings that only one version has. It compares rules, severities and subjects, but not messages,
// because a message may only differ in its figures. It skips findings that the model accepts, and unmet expectations,
// which the patterns show.
func (d *Diff) findings(was, is *check.Result) {
	open := func(r *check.Result) (all []Finding) {
		for _, f := range r.Findings {
			if f.Accepted == "" && f.Rule != check.Rule {
				all = append(all, findingOf(&f))
			}
		}
		return all
	}
	// only returns the elements of list that have no equal in others. Each element of others is used up by one equal.
	only := func(list, others []Finding) (all []Finding) {
		for _, f := range list {
			same := func(o Finding) bool {
				return o.Rule == f.Rule && o.Severity == f.Severity && o.Subject == f.Subject
			}
			if i := slices.IndexFunc(others, same); i >= 0 {
				others = slices.Delete(slices.Clone(others), i, i+1)
				continue
			}
			all = append(all, f)
		}
		return all
	}
	d.Gained = append(d.Gained, only(open(is), open(was))...)
	d.Lost = append(d.Lost, only(open(was), open(is))...)
}

func findingOf(f *model.Finding) Finding {
	var parts []string
	for _, part := range [][2]string{
		{"pattern", f.Pattern}, {"entity", f.Entity}, {"index", f.Index}, {"table", f.Table},
	} {
		if part[1] != "" {
			parts = append(parts, part[0]+" "+part[1])
		}
	}
	return Finding{f.Rule, f.Severity.String(), strings.Join(parts, ", "), f.Message}
}

// Worse reports whether a question is open, or the new version has an error or a failing pattern that the old version
// does not have.
func (d *Diff) Worse() bool {
	if len(d.Questions) > 0 {
		return true
	}
	failing := func(p Pattern) bool { return p.Is != nil && !p.Is.OK && (p.Was == nil || p.Was.OK) }
	return slices.ContainsFunc(d.Patterns, failing) ||
		slices.ContainsFunc(d.Gained, func(f Finding) bool { return f.Severity == model.Error.String() })
}

// Text describes what the pattern costs. It returns "" for nil.
func (f *Figures) Text() string {
	if f == nil {
		return ""
	}
	what := "read"
	if f.Write {
		what = "write"
	}
	s := fmt.Sprintf("%s, worst %s", text.Figure(f.Units), text.Amount(text.Figure(f.Worst), what+" unit"))
	if !f.OK {
		s += ", fails"
	}
	return s
}
