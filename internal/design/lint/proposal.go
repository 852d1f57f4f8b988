package lint

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/ast"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/keycond"
	"github.com/sortkey/sortkey/internal/literal"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keys"
)

// A proposal is a change of the model that removes a finding. It is printed as
// advice only if the changed model shows that it does, and brings no other
// hazard.
type proposal struct {
	text  string
	edits []edit
	// index is an index that the proposal uses as it is, or nil. added is the
	// name of one that it adds.
	index *model.Index
	added string
	// or adds the proposal to an earlier one that holds.
	or bool
}

// An edit changes a copy of the model. It reports false if it cannot, or if it
// changes nothing.
type edit func(*model.Model) bool

// Limits on the copies of a model in which proposals are tried.
const (
	trialItems   = 200  // generated
	moreItems    = 3000 // generated, for findings that show only then
	trialWritten = 200  // samples of one entity, and raw items
	maxTrials    = 60   // further findings keep their general advice
)

// propose adds a finding with proposals. The first that holds becomes its
// advice; if none does, the advice of f remains.
func (l *linter) propose(f model.Finding, all ...proposal) {
	l.proposals[len(l.found)] = all
	l.add(f)
}

// A trial is a small world of a model and what the rules find in it.
type trial struct {
	serious, all map[string]int // findings by subject
	messages     map[string]string
	answered     map[string]bool // patterns whose request is accepted
}

// settle tries the proposals and sets the advice of the findings.
func (l *linter) settle() error {
	if len(l.proposals) == 0 || l.small {
		return nil
	}
	base := map[int]*trial{} // by number of generated items
	trials := 0
	for i := range l.found {
		f := &l.found[i]
		var remarks []string
		for _, p := range l.proposals[i] {
			if len(p.edits) == 0 || len(l.settled[i]) > 0 && !p.or {
				continue
			}
			if trials++; trials > maxTrials {
				break
			}
			items, before := trialItems, (*trial)(nil)
			for _, items = range []int{trialItems, moreItems} {
				if base[items] == nil {
					var err error
					if base[items], err = l.try(nil, items); err != nil {
						return context.Cause(l.ctx) // a model made by a program may not be writable
					}
				}
				if base[items].all[subject(f)] > 0 {
					before = base[items]
					break
				}
			}
			if before == nil {
				continue
			}
			after, err := l.try(p.edits, items)
			if cause := context.Cause(l.ctx); cause != nil {
				return cause
			}
			if err != nil {
				continue
			}
			notes, ok := after.improves(before, f)
			if !ok {
				continue
			}
			if len(l.settled[i]) > 0 {
				f.Advice += ", or " + p.text
			} else {
				f.Advice = p.text
			}
			for _, note := range append(notes, l.caveat(f, p.index)...) {
				if !slices.Contains(remarks, note) {
					remarks = append(remarks, note)
				}
			}
			l.settled[i] = append(l.settled[i], p.edits)
		}
		for _, remark := range remarks {
			f.Advice += "; " + remark
		}
	}
	return nil
}

// caveat names a hazard of an index that a finding recommends, which may be nil.
func (l *linter) caveat(f *model.Finding, x *model.Index) []string {
	for _, o := range l.found {
		if x != nil && o.Index == x.Name && o.Severity >= model.Warning && o.Rule != f.Rule {
			return []string{fmt.Sprintf("first mend the %s of index %s", o.Rule, x.Name)}
		}
	}
	return nil
}

// subject identifies what a finding is about, but for its place.
func subject(f *model.Finding) string {
	return strings.Join([]string{f.Rule, f.Table, f.Index, f.Entity, f.Pattern}, "\x00")
}

// improves reports whether a finding is gone in a changed model, and no other
// hazard has come and no pattern is refused. It returns sentences about new
// notes.
func (t *trial) improves(before *trial, f *model.Finding) ([]string, bool) {
	for name := range before.answered {
		if !t.answered[name] {
			return nil, false
		}
	}
	key := subject(f)
	if t.all[key] >= before.all[key] {
		return nil, false
	}
	for other, n := range t.serious {
		if n > before.serious[other] {
			return nil, false
		}
	}
	var notes []string
	for other, n := range t.all {
		if n > before.all[other] {
			rule, _, _ := strings.Cut(other, "\x00")
			if rule == multiAttribute.ID {
				continue // an option, not a hazard
			}
			notes = append(notes, "this brings a note of "+rule+": "+t.messages[other])
		}
	}
	slices.Sort(notes)
	return notes, len(notes) < 3
}

// try applies edits to a copy of the model and runs the rules on it, with a
// number of generated items.
func (l *linter) try(edits []edit, items int) (*trial, error) {
	m, err := edited(l.m, edits)
	if err != nil {
		return nil, err
	}
	w, err := world.Build(l.ctx, m, world.Options{MaxItems: items})
	if err != nil {
		return nil, err
	}
	defer w.Close()
	small := newLinter(l.ctx, w)
	small.small = true
	if err := small.run(); err != nil {
		return nil, err
	}
	t := &trial{
		serious: map[string]int{}, all: map[string]int{}, messages: map[string]string{}, answered: map[string]bool{},
	}
	for i := range small.found {
		f := &small.found[i]
		key := subject(f)
		t.all[key]++
		t.messages[key] = f.Message
		if f.Severity >= model.Warning {
			t.serious[key]++
		}
	}
	for _, q := range small.queries {
		if q.failed == nil && (q.report == nil || q.report.Refused == nil) {
			t.answered[q.p.Name] = true
		}
	}
	return t, nil
}

// edited returns a copy of a model with edits, without allowances and with
// fewer items.
func edited(m *model.Model, edits []edit) (*model.Model, error) {
	small := *m
	small.Allow = nil
	small.Items = m.Items[:min(len(m.Items), trialWritten)]
	small.Entities = nil
	for _, e := range m.Entities {
		fewer := *e
		fewer.Samples = e.Samples[:min(len(e.Samples), trialWritten)]
		small.Entities = append(small.Entities, &fewer)
	}
	clone, err := rewritten(&small)
	if err != nil || len(edits) == 0 {
		return clone, err
	}
	for _, change := range edits {
		if !change(clone) {
			return nil, fmt.Errorf("the proposal does not apply")
		}
	}
	return rewritten(clone)
}

// rewritten returns a copy of a model, checked.
func rewritten(m *model.Model) (*model.Model, error) {
	var b bytes.Buffer
	if err := modelfile.Write(&b, m); err != nil {
		return nil, err
	}
	return modelfile.Parse(m.Pos.File, b.Bytes())
}

// writeTemplate returns the edit that gives an entity's attribute another
// template. Samples and patterns get values for new components, and values that
// the new types accept.
func writeTemplate(entity, attribute, src string) edit {
	return func(m *model.Model) bool {
		e := m.Entity(entity)
		if e == nil {
			return false
		}
		t := e.Attribute(attribute)
		template, err := keys.Parse(src)
		if t == nil || err != nil || t.Template != nil && t.Template.String() == src {
			return false
		}
		t.Template, t.Const = template, attr.Value{}
		for _, p := range template.Parts() {
			if p.Name == "" {
				continue
			}
			fresh := e.Field(p.Name) == nil
			for i, s := range e.Samples {
				if value, ok := s.Values[p.Name]; ok || fresh {
					s.Values[p.Name] = fitting(p.Type, value, i)
				}
			}
			if f := e.Field(p.Name); f != nil {
				for i := range f.Values {
					f.Values[i] = fitting(p.Type, f.Values[i], i)
				}
			}
			for _, q := range m.Patterns {
				if q.Entity != e {
					continue
				}
				for _, c := range q.Where {
					if c.Field == p.Name && c.Op != ast.OpBeginsWith {
						for i := range c.Args {
							c.Args[i] = fitting(p.Type, c.Args[i], i)
						}
					}
				}
			}
		}
		return true
	}
}

// timeLayouts are the formats of dates in which people write, for [fitting].
var timeLayouts = []string{
	time.RFC3339Nano, "2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02T15:04",
	"2006-1-2", "2006/01/02",
	"02/01/2006", "01/02/2006", "02.01.2006", "02-01-2006", "20060102T150405Z", "20060102T150405", "2 Jan 2006",
	"Jan 2, 2006", time.RFC1123,
}

// fitting returns a value that the type accepts: the value itself, the same
// time in another format, or an example.
func fitting(t keys.Type, value string, i int) string {
	if _, err := t.Encode(value); err == nil && value != "" {
		return value
	}
	if moment(t) {
		at := time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC)
		if n := len(value); epochText.MatchString(value) || epochMilli.MatchString(value) {
			var seconds int64
			fmt.Sscan(value[:10], &seconds)
			at = time.Unix(seconds, int64(n-10)*1e6)
		}
		for _, layout := range timeLayouts {
			if parsed, err := time.Parse(layout, value); err == nil {
				at = parsed
				break
			}
		}
		return at.UTC().Format(time.RFC3339Nano)
	}
	switch {
	case textual(t) && t.Width > 0:
		return fmt.Sprintf("%0*d", t.Width, i)[:t.Width]
	case textual(t):
		return fmt.Sprintf("n%d", i)
	case t.Name == "ulid":
		return fmt.Sprintf("01KE5WGCV08GZZZZZZZZZZ%04d", i)
	case t.Name == "uuid":
		return fmt.Sprintf("123e4567-e89b-42d3-a456-42661417%04d", i)
	case numeric(t) && t.Width > 0:
		return fmt.Sprint(i % 10)
	}
	return example(nil, t)
}

// removeAttributes returns the edit that removes attributes of an entity.
func removeAttributes(entity string, names []string) edit {
	return func(m *model.Model) bool {
		e := m.Entity(entity)
		if e == nil || len(names) == 0 {
			return false
		}
		n := len(e.Attributes)
		e.Attributes = slices.DeleteFunc(e.Attributes, func(t *model.Template) bool { return slices.Contains(names, t.Name) })
		// Without their attributes, fields would imply them.
		e.Fields = slices.DeleteFunc(e.Fields, func(f *model.Field) bool {
			return slices.Contains(names, f.Name) && !slices.ContainsFunc(e.Attributes, func(t *model.Template) bool {
				return t.Template != nil && slices.Contains(t.Template.Components(), f.Name)
			})
		})
		for _, s := range e.Samples {
			for name := range s.Values {
				if e.Field(name) == nil {
					delete(s.Values, name)
				}
			}
		}
		return len(e.Attributes) < n
	}
}

// writeWhen returns the edit that sets the conditions on attributes of an
// entity.
func writeWhen(entity string, when map[string][]string, attributes ...string) edit {
	return func(m *model.Model) bool {
		e := m.Entity(entity)
		for _, name := range attributes {
			if e == nil || e.Attribute(name) == nil {
				return false
			}
			e.Attribute(name).When = when
		}
		return true
	}
}

// writeIndex returns the edit that adds an index or replaces the one of its
// name.
func writeIndex(table string, x model.Index) edit {
	return func(m *model.Model) bool {
		t := m.Table(table)
		if t == nil {
			return false
		}
		if have := t.Index(x.Name); have != nil {
			*have = x
		} else {
			t.Indexes = append(t.Indexes, &x)
		}
		return true
	}
}

// removeIndex returns the edit that removes an index.
func removeIndex(table, index string) edit {
	return func(m *model.Model) bool {
		t := m.Table(table)
		if t == nil || t.Index(index) == nil {
			return false
		}
		t.Indexes = slices.DeleteFunc(t.Indexes, func(x *model.Index) bool { return x.Name == index })
		return true
	}
}

// storeFields returns the edit that stores fields of an entity as attributes of
// their own.
func storeFields(entity string, fields []string) edit {
	return func(m *model.Model) bool {
		e := m.Entity(entity)
		if e == nil {
			return false
		}
		for _, name := range fields {
			f := e.Field(name)
			if e.Attribute(name) != nil {
				continue
			}
			if f == nil {
				return false
			}
			template, err := keys.Parse("{" + name + ":" + typeText(f.Type) + "}")
			if err != nil {
				return false
			}
			e.Attributes = append(e.Attributes, &model.Template{Name: name, Kind: kindOf(f.Type), Template: template})
		}
		return true
	}
}

// kindOf returns the type of an attribute that has the values of a field.
func kindOf(t keys.Type) attr.Kind {
	switch t.Name {
	case "epoch", "epochms", "year":
		return attr.Number
	}
	if numeric(t) {
		return attr.Number
	}
	return attr.String
}

func typeText(t keys.Type) string {
	if t.Name == "" {
		return "string"
	}
	return t.String()
}

// onPattern returns the edit that changes a pattern. What the pattern expected
// is dropped with the request that it was written for.
func onPattern(name string, change func(*model.Model, *model.Pattern) bool) edit {
	return func(m *model.Model) bool {
		p := m.Pattern(name)
		if p == nil || !change(m, p) {
			return false
		}
		p.Expect = model.Expect{Entities: p.Expect.Entities}
		return true
	}
}

// throughIndex returns the edit that sends a pattern with conditions on fields
// to an index.
func throughIndex(pattern, index string) edit {
	return onPattern(pattern, func(m *model.Model, p *model.Pattern) bool {
		if p.Entity == nil || p.Request != nil {
			return false
		}
		p.Table, p.Index = p.Entity.Table, p.Entity.Table.Index(index)
		return p.Index != nil
	})
}

// ask returns the edit that gives a pattern a request with these key
// conditions.
func ask(pattern, table, index string, clauses []keycond.Clause) edit {
	return onPattern(pattern, func(_ *model.Model, p *model.Pattern) bool {
		request := map[string]json.RawMessage{}
		if p.Request != nil {
			var old map[string]json.RawMessage
			if json.Unmarshal(p.Request, &old) != nil {
				return false
			}
			for _, member := range []string{"ScanIndexForward", "Limit"} {
				if v, ok := old[member]; ok {
					request[member] = v
				}
			}
		}
		var place literal.Placeholders
		set := func(member string, v any) {
			request[member], _ = json.Marshal(v)
		}
		set("TableName", table)
		if index != "" {
			set("IndexName", index)
		}
		set("KeyConditionExpression", place.KeyCondition(clauses))
		if names := place.Names(); len(names) > 0 {
			set("ExpressionAttributeNames", names)
		}
		request["ExpressionAttributeValues"] = place.Values().AppendJSON(nil)
		out, err := json.Marshal(request)
		*p = model.Pattern{
			Pos: p.Pos, Name: p.Name, About: p.About, Operation: "Query", Request: out, Rate: p.Rate, Expect: p.Expect,
		}
		return err == nil
	})
}

// alsoGiven returns the edit that gives the patterns that read a view a value
// for another field of their entity, as they must if a partition key gets that
// field.
func alsoGiven(table, index, entity, field, value string) edit {
	return func(m *model.Model) bool {
		for _, p := range m.Patterns {
			name := ""
			if p.Index != nil {
				name = p.Index.Name
			}
			given := slices.ContainsFunc(p.Where, func(c model.Condition) bool { return c.Field == field })
			if p.Entity != nil && p.Entity.Name == entity && p.Table != nil && p.Table.Name == table && name == index &&
				p.Operation == "Query" && !given {
				p.Where = append(p.Where, model.Condition{Field: field, Op: ast.Equal, Args: []string{value}})
			}
		}
		return true
	}
}

// byFields returns the proposal of an index with the view's partition key, or
// with the given one, that is sorted by fields of an entity. The patterns query
// it.
func (l *linter) byFields(
	v *view, e *model.Entity, partition, sort []string, patterns ...string,
) (p proposal, ok bool) {
	x := model.Index{Projection: "ALL"}
	var stored []string
	attributes := func(fields []string) (all []model.Attribute) {
		for _, name := range fields {
			a := model.Attribute{Name: name}
			if t := e.Attribute(name); t != nil {
				a.Kind = t.Kind
			} else if f := e.Field(name); f != nil {
				stored = append(stored, name)
				a.Kind = kindOf(f.Type)
			} else {
				return nil
			}
			all = append(all, a)
		}
		return all
	}
	x.Partition = v.hash
	if partition != nil {
		x.Partition = attributes(partition)
	}
	x.Sort = attributes(sort)
	if len(x.Partition) == 0 || len(x.Partition) > 4 || len(x.Sort) != len(sort) || len(sort) > 4 {
		return p, false
	}
	named := sort
	if partition != nil || len(sort) == 0 {
		named = partition
	}
	x.Name = "By" + title(named[len(named)-1])
	for v.t.Index(x.Name) != nil {
		x.Name += "2"
	}
	p.added, p.text = x.Name, "add an index "+indexText(&x)
	p.edits = []edit{storeFields(e.Name, slices.Concat(partition, sort)), writeIndex(v.t.Name, x)}
	if len(stored) > 0 {
		p.text += fmt.Sprintf(", store %s as %s of %s", list(stored), attributesOf(len(stored)), e.Name)
	}
	var quotedNames []string
	for _, name := range patterns {
		p.edits = append(p.edits, throughIndex(name, x.Name))
		quotedNames = append(quotedNames, text.Quote([]byte(name)))
	}
	if len(patterns) > 0 {
		p.text += fmt.Sprintf(", and query it for %s", list(quotedNames))
	}
	return p, true
}

func attributesOf(n int) string {
	if n == 1 {
		return "an attribute"
	}
	return "attributes"
}

// indexText returns the declaration of an index as in a model file.
func indexText(x *model.Index) string {
	side := func(all []model.Attribute) string {
		specs := make([]string, len(all))
		for i, a := range all {
			specs[i] = a.Name
			if a.Kind == attr.Number {
				specs[i] = "{name: " + a.Name + ", type: N}"
			}
		}
		if len(specs) == 1 {
			return specs[0]
		}
		return "[" + strings.Join(specs, ", ") + "]"
	}
	out := x.Name + ": {partition: " + side(x.Partition)
	if len(x.Sort) > 0 {
		out += ", sort: " + side(x.Sort)
	}
	return out + "}"
}
