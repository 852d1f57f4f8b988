package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

// runningRule is the rule ID of findings about differences between a model and running tables.
const runningRule = "running-table"

// RunningOptions configure [Running]. The zero value is ready to use.
type RunningOptions struct {
	// Items limits the items that Running reads of each table. Default: 2,000.
	Items int
	// Pages limits the pages that a pattern without a Limit reads. Default: 100. A pattern with a Limit reads one
	// page.
	Pages int
}

// Running compares a model with running tables and runs its patterns on them. It never writes, so it skips patterns
// that write.
//
// The values in the model need not exist in the running tables, so Running reads items there and takes the values for
// each pattern from them. It compares a budget with the most expensive reading. A p95 budget must hold for 95 % of
// the readings. Running ignores expectations about the rows of the samples.
func Running(ctx context.Context, target explain.Target, m *model.Model, o RunningOptions) (*Result, error) {
	o.Items, o.Pages = cmp.Or(o.Items, 2000), cmp.Or(o.Pages, 100)
	r := &running{
		ctx: ctx, target: target, m: m, o: o, result: &Result{Model: m, Scale: 1, Tables: []TableStats{}},
		items: map[*model.Entity][]attr.Item{}, looked: map[*model.Table]Looked{},
		there: map[*model.Table]*keyschema.Table{},
	}
	for _, t := range m.Tables {
		if err := r.table(t); err != nil {
			return nil, err
		}
	}
	for _, p := range m.Patterns {
		pr, err := r.pattern(p)
		if err != nil {
			return nil, err
		}
		r.result.Patterns = append(r.result.Patterns, pr)
		r.result.Findings = append(r.result.Findings, pr.Failures...)
	}
	slices.SortStableFunc(r.result.Findings, func(a, b model.Finding) int {
		return cmp.Compare(b.Severity, a.Severity)
	})
	return r.result, nil
}

// A Looked is the number of items that a check read of a running table.
type Looked struct {
	Table *model.Table `json:"table"`
	Items int          `json:"items"`
	All   bool         `json:"all"` // the check read all items of the table
}

// Empty reports whether the table has no items.
func (l Looked) Empty() bool { return l.All && l.Items == 0 }

type running struct {
	ctx    context.Context
	target explain.Target
	m      *model.Model
	o      RunningOptions
	result *Result
	items  map[*model.Entity][]attr.Item
	looked map[*model.Table]Looked
	there  map[*model.Table]*keyschema.Table // the running tables, if they exist
}

func (r *running) differ(s model.Severity, f model.Finding, advice, format string, args ...any) {
	f.Rule, f.Severity, f.Advice, f.Message = runningRule, s, advice, fmt.Sprintf(format, args...)
	r.result.Findings = append(r.result.Findings, f)
}

// table compares a running table with the model, and calls sample to read some of its items.
func (r *running) table(t *model.Table) error {
	about := model.Finding{Pos: t.Pos, Table: t.Name}
	there, err := explain.Describe(r.ctx, r.target, t.Name)
	if e, ok := errors.AsType[*explain.ServiceError](err); ok && e.Code == "ResourceNotFoundException" {
		r.differ(model.Error, about, "create it, or correct its name", "table %s does not exist there", t.Name)
		return nil
	}
	if err != nil {
		return err
	}

	r.there[t] = there
	own := t.Schema(nil)
	if !sameKeys(own.Partition(), there.Key.Partition()) || !sameKeys(own.Sort(), there.Key.Sort()) {
		r.differ(
			model.Error, about, "a key cannot change: correct the model, or move the items to another table",
			"table %s has the key %s there, and %s in the model", t.Name,
			keyNames(there.Key.Partition(), there.Key.Sort()), keyNames(own.Partition(), own.Sort()),
		)
	}

	for _, x := range t.Indexes {
		r.index(t, x, there)
	}
	for _, x := range there.Indexes {
		if t.Index(x.Key.Name()) == nil {
			f := about
			f.Index = x.Key.Name()
			r.differ(model.Note, f, "add it to the model, or remove it, as each write to it is paid for",
				"index %s is there, and not in the model", x.Key.Name())
		}
	}
	return r.sample(t)
}

// index compares a running index with the model.
func (r *running) index(t *model.Table, x *model.Index, there *keyschema.Table) {
	about := model.Finding{Pos: x.Pos, Table: t.Name, Index: x.Name}
	got := there.Index(x.Name)
	switch {
	case got == nil:
		r.differ(
			model.Error, about, "create it, or remove it from the model",
			"index %s of table %s does not exist there", x.Name, t.Name,
		)
		return
	case got.Local != x.Local || !sameKeys(got.Key.Partition(), x.Partition) || !sameKeys(got.Key.Sort(), x.Sort):
		r.differ(model.Error, about, "create the index under another name, then remove the old one",
			"index %s has the key %s there, and %s in the model", x.Name, keyNames(got.Key.Partition(), got.Key.Sort()),
			keyNames(x.Partition, x.Sort))
	}
	wanted, has := slices.Sorted(slices.Values(x.Include)), slices.Sorted(slices.Values(got.Include))
	if got.Projection != x.Projection || !slices.Equal(wanted, has) {
		r.differ(model.Warning, about, "correct the model: the projection of an index cannot change",
			"index %s projects %s there, and %s in the model", x.Name, projection(got.Projection, has),
			projection(x.Projection, wanted))
	}
}

func projection(kind string, include []string) string {
	if len(include) == 0 {
		return kind
	}
	return fmt.Sprintf("%s of %s", kind, text.Join(include, "and"))
}

func sameKeys(a, b []model.Attribute) bool { return slices.Equal(a, b) }

func keyNames(hash, sort []model.Attribute) string {
	var names []string
	for _, a := range slices.Concat(hash, sort) {
		names = append(names, a.Name+":"+a.Kind.String())
	}
	return text.Join(names, "and")
}

// segments is the number of segments of the parallel Scan with which sample reads items from all parts of a table.
const segments = 16

// sample reads items from all parts of a table, groups them by entity and compares them with the templates.
func (r *running) sample(t *model.Table) error {
	looked := Looked{Table: t}
	strangers, attributes := 0, map[string]int{}
	var strange attr.Item
	var err error
	looked.All, err = r.look(t, func(it attr.Item) {
		looked.Items++
		e := r.m.Classify(t, it)
		if e == nil {
			if strangers++; strange == nil {
				strange = it
			}
			return
		}
		r.items[e] = append(r.items[e], it)
		for _, name := range e.Unlike(it) {
			attributes[e.Name+"."+name]++
		}
	})
	if err != nil {
		return err
	}
	r.result.Items += looked.Items
	r.result.Looked = append(r.result.Looked, looked)
	r.looked[t] = looked

	if looked.Empty() {
		r.differ(model.Note, model.Finding{Pos: t.Pos, Table: t.Name}, "fill it: patterns take their values from items",
			"table %s is empty there", t.Name)
		return nil
	}
	if strangers > 0 {
		severity := model.Warning
		if slices.ContainsFunc(r.m.Items, func(raw *model.RawItem) bool { return raw.Table == t }) {
			severity = model.Note // the model has raw items too
		}
		r.differ(severity, model.Finding{Pos: t.Pos, Table: t.Name, Keys: []string{rowText(t, strange)}},
			"add an entity with their keys", "%s in table %s %s of no entity of the model",
			outOf(strangers, looked.Items), t.Name, text.Agree(strangers, "is", "are"))
	}
	for _, e := range r.m.Entities {
		if e.Table == t {
			r.entity(t, e, attributes)
		}
	}
	return nil
}

// outOf returns a phrase such as "3 items of 20 looked at", for n out of the items that were read.
func outOf(n, looked int) string {
	return fmt.Sprintf("%s of %s looked at", text.Count(n, "item"), text.Thousands(looked))
}

// A part is the unread rest of a segment.
type part struct {
	segment, of int64
	next        attr.Item // nil at its beginning
}

// look calls see with up to r.o.Items items of a table. It reads about the same number of items from each segment. If
// some segments have fewer items, it reads more from the others. all is true if see received every item of the table.
func (r *running) look(t *model.Table, see func(attr.Item)) (all bool, err error) {
	left := r.o.Items
	var parts []part
	for s := range int64(min(segments, left)) {
		parts = append(parts, part{segment: s, of: int64(min(segments, left))})
	}

	for len(parts) > 0 && left > 0 {
		var more []part
		for i, p := range parts {
			if left == 0 {
				more = append(more, p)
				continue
			}
			behind := len(parts) - i // number of parts, including this one, still to read in this round
			page, err := r.scan(t, p, (left+behind-1)/behind)
			if err != nil {
				return false, err
			}
			for _, it := range page.Items {
				see(it)
			}
			left = max(left-len(page.Items), 0)
			if p.next = page.LastEvaluatedKey; p.next != nil {
				more = append(more, p)
			}
		}

		parts = more
	}
	return len(parts) == 0, nil
}

// scan reads a page of a part.
func (r *running) scan(t *model.Table, p part, limit int) (*wire.ScanOutput, error) {
	out, _, err := r.target.Do(r.ctx, &wire.ScanInput{
		TableName: &t.Name, Segment: &p.segment, TotalSegments: &p.of, Limit: new(int64(limit)),
		ExclusiveStartKey: p.next,
	})
	if err != nil {
		return nil, err
	}
	page, ok := out.(*wire.ScanOutput)
	if !ok {
		return nil, fmt.Errorf("the answer to a Scan is a %T", out)
	}
	return page, nil
}

// absent says why the check found no item of an entity. It returns "" if it found some.
func (r *running) absent(e *model.Entity) string {
	looked := r.looked[e.Table]
	switch {
	case len(r.items[e]) > 0:
		return ""
	case looked.Empty():
		return "table " + e.Table.Name + " is empty there"
	case looked.All:
		return "table " + e.Table.Name + " has no items of entity " + e.Name + " there"
	}
	return "none of the items looked at is of entity " + e.Name
}

// entity reports an entity of which the check found no items, and attributes that do not match their templates.
func (r *running) entity(t *model.Table, e *model.Entity, unlike map[string]int) {
	about := model.Finding{Pos: e.Pos, Table: t.Name, Entity: e.Name}
	if why := r.absent(e); why != "" {
		advice := "look at more items, or remove it from the model"
		if r.looked[t].All {
			advice = "remove it from the model, or add such items"
		}
		r.differ(model.Note, about, advice, "%s", why)
	}

	for _, a := range e.Attributes {
		n := unlike[e.Name+"."+a.Name]
		if n == 0 {
			continue
		}
		f := about
		f.Pos = a.Pos
		for _, it := range r.items[e] {
			if slices.Contains(e.Unlike(it), a.Name) {
				f.Keys = []string{a.Name + " = " + text.Literal(it.Get(a.Name)), rowText(t, it)}
				break
			}
		}
		r.differ(
			model.Warning, f, "correct the template, or the items",
			"%s of %s has another form than in the model in %s", a.Name, e.Name, outOf(n, len(r.items[e])),
		)
	}
}

// pattern runs a pattern with the values of several items, and returns one of the results. It prefers the failing
// result with the most failures. If no result fails, it returns the most expensive one. A p95 budget excuses some
// failures (see exempt).
func (r *running) pattern(p *model.Pattern) (most PatternResult, err error) {
	asked := *p
	x := p.Expect
	asked.Expect = model.Expect{Pos: x.Pos, Entities: x.Entities, Error: x.Error, Budget: x.Budget}
	if x.Budget != model.BudgetSample { // a sample budget holds only for the values in the model
		asked.Expect.MaxRows, asked.Expect.Units = x.MaxRows, x.Units
		asked.Expect.Pages, asked.Expect.Waste = x.Pages, x.Waste
	}
	most = PatternResult{Pattern: &asked, Growth: 1}
	switch {
	case p.IsWrite():
		most.Skipped = "it writes, and a check of running tables only reads"
		return most, nil
	case p.Table != nil && r.there[p.Table] == nil:
		most.Skipped = "table " + p.Table.Name + " does not exist there"
		return most, nil
	case p.Entity != nil && r.absent(p.Entity) != "":
		most.Skipped = r.absent(p.Entity)
		return most, nil
	}

	tries := []*model.Pattern{&asked}
	if p.Entity != nil && len(p.Where) > 0 {
		tries = r.tries(&asked)
	}
	o := explain.Options{Pages: r.o.Pages, Classify: r.m.EntityName, Brief: true}
	if p.Limit > 0 {
		o.Pages = 0 // the default: one page
	}
	var read []PatternResult
	for _, q := range tries {
		pr, err := Through(r.ctx, r.target, r.m, q, o)
		if err != nil {
			return most, err
		}
		if pr.FoundNothing() {
			// An empty result is no failure: the item may have changed since the check read it, or may be outside the
			// range.
			pr.Failures = nil
		}
		if rep := pr.Report; o.Pages > 0 && rep != nil && rep.Last != nil && rep.Pages == o.Pages {
			pr.Cut = o.Pages
		}
		read = append(read, pr)
	}

	slices.SortStableFunc(read, func(a, b PatternResult) int {
		if a.OK() != b.OK() {
			return cmp.Compare(len(b.Failures), len(a.Failures))
		}
		return cmp.Compare(b.Units(), a.Units())
	})
	if x.Budget == model.BudgetP95 {
		return read[exempt(read)], nil
	}
	return read[0], nil
}

// exempt returns how many of the failing results a p95 budget excuses: at most 5 % of all. In read, the failing results
// come first.
func exempt(read []PatternResult) (n int) {
	for n < len(read)/20 && !read[n].OK() {
		n++
	}
	return n
}

// tries returns copies of a pattern with the values of different items. It takes the values that most items have,
// because these cost most, and some others. For a p95 budget, it takes values at equal distances in the list, because
// the readings must be representative.
func (r *running) tries(p *model.Pattern) []*model.Pattern {
	var all []*model.Pattern
	shares := map[*model.Pattern]int{}
	known := map[string]*model.Pattern{}
	for _, it := range r.items[p.Entity] {
		q := withValues(p, it)
		if q == nil {
			continue
		}
		id := fmt.Sprintf("%q", q.Where)
		if known[id] == nil {
			if _, err := compile.Split(q); err != nil {
				continue
			}
			known[id] = q
			all = append(all, q)
		}
		shares[known[id]]++
	}
	if len(all) == 0 {
		return []*model.Pattern{p}
	}
	if p.Expect.Budget == model.BudgetP95 {
		return spreadOver(all, manyTries)
	}

	slices.SortStableFunc(all, func(a, b *model.Pattern) int { return cmp.Compare(shares[b], shares[a]) })
	first := min((fewTries+1)/2, len(all))
	return append(all[:first:first], spreadOver(all[first:], fewTries-first)...)
}

// fewTries is how many copies tries returns at most. For a p95 budget, it is manyTries.
const (
	fewTries  = 5
	manyTries = 20
)

// withValues returns a copy of p with the values of an item in its equality conditions. It returns nil if the item
// lacks one of them.
func withValues(p *model.Pattern, it attr.Item) *model.Pattern {
	values := p.Entity.FieldsOf(it)
	q := *p
	q.Where = slices.Clone(p.Where)
	for k, w := range q.Where {
		if w.Op != ast.Equal {
			continue
		}
		v, ok := values[w.Field]
		if p.Entity.Field(w.Field) == nil {
			a := it.Get(w.Field)
			v, ok = model.TextOf(a), a.Kind() != 0
		}
		if !ok {
			return nil
		}
		q.Where[k].Args = []string{v}
	}
	return &q
}

// spreadOver returns the given number of elements, at equal distances in the list. If the list does not have more, it
// returns the whole list.
func spreadOver[T any](all []T, many int) (some []T) {
	if len(all) <= many {
		return all
	}
	for i := range many {
		some = append(some, all[i*len(all)/many])
	}
	return some
}
