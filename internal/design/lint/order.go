package lint

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/ast"
	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/keycond"
	"github.com/sortkey/sortkey/keys"
)

var randomOrder = lint{Rule{
	ID: "random-order", Title: "Random ids where time order is wanted", Severity: model.Warning,
	Help: "A UUID or a random id does not contain the time of its creation, so rows whose sort key begins with one are in a meaningless order. " +
		"The newest row can be anywhere, and a page of ten is a random ten. " +
		"The rule applies to patterns that declare an order, asc or desc, and to patterns whose name implies one (newest, latest, recent, timeline, last ten); " +
		"a pattern with only a limit, on rows with a time, gets a note.",
	Example: []string{`"EVENT#0f3c…" (of Friday)`, `"EVENT#a91b…" (of Monday)`},
	Cure:    "Put the time before the id: EVENT#{at:millis}#{id:uuid}. Or use an id that begins with its time: {id:ulid}, {id:ksuid}, or a UUID of version 7.",
	Source:  sortDesign,
}, func(l *linter) {
	for _, q := range l.queries {
		l.orders(q, true)
	}
}}

var componentOrder = lint{Rule{
	ID: "component-order", Title: "Key components in the wrong order for a pattern", Severity: model.Error,
	Help: "Rows are ordered by the first component of the sort key, then by the second, and so on. So a query can give the first components, a range of the next one, and nothing after it: " +
		"with ORDER#{status}#{placed:date}, the orders of January are in one place per status. " +
		"A pattern whose name implies an order of time (newest, latest, recent, timeline, last ten) gets a warning if another component comes first, " +
		"and a pattern that declares order: desc with a limit gets a note: its last rows are those with the last value, not the latest time.",
	Example: []string{`"ORDER#NEW#2026-02-01"`, `"ORDER#PAID#2026-01-05"`},
	Cure:    "Put components that are compared with = first, then the one with a range, and the most specific last. For another question, add another index.",
	Source:  sortDesign,
}, func(l *linter) {
	for _, q := range l.queries {
		if q.failed != nil {
			l.defeated(q)
			continue
		}
		l.orders(q, false)
	}
}}

var randomText = regexp.MustCompile(
	`^([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}|[0-9a-f]{16,}|[0-9A-Za-z_-]{21,22})$`,
)

// orders compares the order that a query wants with the order of its rows.
func (l *linter) orders(q *query, random bool) {
	if q.op != "Query" || q.report == nil || q.report.Refused != nil || q.p.Expect.Error != "" {
		return
	}
	w := orderingOf(q)
	if w == (ordering{}) {
		return
	}
	entities := q.entities
	if q.p.Entity != nil {
		entities = []*model.Entity{q.p.Entity}
	}
	for _, e := range entities {
		s, at, ok := q.next(l, e)
		if !ok {
			continue
		}
		p := s.parts[at]
		isRandom := p.Type.Name == "uuid" && !l.versionSeven(e, p.Name) || p.Type.Name == "hex"
		if textual(p.Type) {
			words := l.authored(e, p.Name)
			isRandom = len(words) > 0 &&
				!slices.ContainsFunc(words, func(w authoredValue) bool { return !randomText.MatchString(w.text) }) &&
				!l.versionSeven(e, p.Name)
		}
		time := timeAfter(s, at)
		if isRandom != random || !isRandom && (!textual(p.Type) || time < 0 || l.single(e, p.Name)) {
			continue
		}
		f := model.Finding{}
		if f.Severity = w.severity(random, time >= 0 || timeField(e) != ""); f.Severity == 0 {
			continue
		}
		var fixes []proposal
		f.Advice = "add an index whose sort key begins with the time"
		byTime := ""
		if time >= 0 {
			byTime = s.parts[time].Name
			better := swapped(s.t.Template.Parts(), at, time)
			fixes = append(fixes, proposal{
				text:  fmt.Sprintf("put %s before %s: write %s: %q", byTime, p.Name, s.t.Name, better),
				edits: []edit{writeTemplate(e.Name, s.t.Name, better)},
			})
		} else if t := timeField(e); t != "" {
			byTime, _, _ = strings.Cut(t, ":")
			better := source(s.parts, p.Name, "{"+t+"}#{"+p.Name+"}")
			fixes = append(fixes, proposal{
				text:  fmt.Sprintf("put the time first: write %s: %q", s.t.Name, better),
				edits: []edit{writeTemplate(e.Name, s.t.Name, better)},
			})
		} else {
			f.Advice = "use an id that begins with its time, or put a time before the id"
			fixes = append(fixes, proposal{
				text:  fmt.Sprintf("use an id that begins with its time, {%s:ulid}, or put a time before the id", p.Name),
				edits: []edit{writeTemplate(e.Name, s.t.Name, source(s.parts, p.Name, "{"+p.Name+":ulid}"))},
			})
		}
		if _, given := q.given(p.Name); byTime != "" && !given && q.p.Entity == e {
			if fix, ok := l.byFields(q.v, e, nil, []string{byTime}, q.p.Name); ok {
				fixes = append(fixes, fix)
			}
		}
		switch {
		case random:
			f.Message = fmt.Sprintf(
				"%q %s rows of %s ordered by %s, which is random", q.p.Name, w.reads(), e.Name, p.Name,
			)
		case w.words:
			f.Message = fmt.Sprintf(
				"%q wants rows in order of time, but rows of %s are ordered by %s: %s comes after it in %s", q.p.Name,
				e.Name, p.Name, s.parts[time].Name, s.t.Name,
			)
		default:
			f.Message = fmt.Sprintf(
				"%q %s rows of %s ordered by %s, not by time: %s comes after it in %s", q.p.Name, w.reads(), e.Name,
				p.Name, s.parts[time].Name, s.t.Name,
			)
		}
		f.Keys = l.twoRows(q, e)
		f = q.in(f)
		f.Entity = e.Name
		l.propose(f, fixes...)
		return
	}
}

// versionSeven reports whether the ids of a component are all UUIDs of version
// 7, which begin with their time.
func (l *linter) versionSeven(e *model.Entity, field string) bool {
	words := l.authored(e, field)
	return len(words) > 0 &&
		!slices.ContainsFunc(words, func(w authoredValue) bool { return len(w.text) != 36 || w.text[14] != '7' })
}

// single reports whether a field has only one value.
func (l *linter) single(e *model.Entity, field string) bool {
	f := e.Field(field)
	return f != nil && (len(f.Values) == 1 || f.Distinct == 1)
}

// timeAfter returns the index of the first part after at that is a time, or -1.
func timeAfter(s *slot, at int) int {
	for i := at + 1; i < len(s.parts); i++ {
		if s.parts[i].Name != "" && moment(s.parts[i].Type) {
			return i
		}
	}
	return -1
}

// timeField returns a component for a time field of the entity, or "".
func timeField(e *model.Entity) string {
	for _, f := range e.Fields {
		if moment(f.Type) {
			return f.Name + ":" + f.Type.String()
		}
	}
	for _, t := range e.Attributes {
		if t.Template == nil {
			continue
		}
		for _, p := range t.Template.Parts() {
			if p.Name != "" && moment(p.Type) {
				return p.Name + ":" + p.Type.String()
			}
		}
	}
	return ""
}

// swapped returns the template with two components exchanged. A word before the
// first component that is its name moves with it, unless all keys begin with
// it: C#USER#{user}#{at} becomes C#{at}#USER#{user}.
func swapped(parts []keys.Part, i, j int) string {
	if i > 0 && j == i+2 && parts[i-1].Name == "" {
		before, between := parts[i-1].Literal, parts[i+1].Literal
		bare := strings.TrimRight(before, delimiters)
		head := bare[:strings.LastIndexAny(bare, delimiters)+1]
		if head != "" && strings.EqualFold(bare[len(head):], parts[i].Name) {
			parts[i-1].Literal, parts[i+1].Literal = head, between+before[len(head):]
		}
	}
	parts[i], parts[j] = parts[j], parts[i]
	return source(parts, "", "")
}

// twoRows returns the keys of up to two rows of an entity that the query reads.
func (l *linter) twoRows(q *query, e *model.Entity) (shown []string) {
	p, ok := q.slice()
	if !ok {
		return nil
	}
	for _, r := range q.v.In(p) {
		if r.Item.Entity == e && len(shown) < 2 {
			shown = append(shown, q.v.shown(r.Item)...)
		}
	}
	if len(shown) < 2 {
		shown = append(shown, nonEmpty(l.suchAs(q.v, e, first(l.items[e]), l.changed(q, e)))...)
	}
	return shown
}

func first(items []*world.Item) *world.Item {
	if len(items) == 0 {
		return nil
	}
	return items[0]
}

// changed returns another value for the component that orders the rows.
func (l *linter) changed(q *query, e *model.Entity) map[string]string {
	s, at, ok := q.next(l, e)
	if !ok || !textual(s.parts[at].Type) {
		return nil
	}
	return map[string]string{s.parts[at].Name: "z9"}
}

// defeated reports a pattern that is not one range because of the order of the
// components in a sort key.
func (l *linter) defeated(q *query) {
	e := q.p.Entity
	if e == nil || q.v == nil || q.op != "Query" {
		return
	}
	s := l.slotOf(e, q.failed.Attribute)
	if s == nil || slices.ContainsFunc(q.v.hash, func(a model.Attribute) bool { return a.Name == s.t.Name }) {
		return
	}
	at := slices.IndexFunc(s.parts, func(p keys.Part) bool { return p.Name == q.failed.Component })
	if at < 0 {
		return
	}
	// Equalities first, then the range, then the rest.
	var equal, ranged, rest []keys.Part
	for _, p := range s.t.Template.Parts() {
		if p.Name == "" {
			continue
		}
		switch c, ok := q.given(p.Name); {
		case !ok:
			rest = append(rest, p)
		case c.Op == ast.Equal:
			equal = append(equal, p)
		default:
			ranged = append(ranged, p)
		}
	}
	wanted := slices.Concat(equal, ranged, rest)
	parts := s.t.Template.Parts()
	for i := range parts {
		if parts[i].Name != "" {
			parts[i], wanted = wanted[0], wanted[1:]
		}
	}
	better := source(parts, "", "")
	if _, err := keys.Parse(better); err != nil || better == s.t.Template.String() {
		better = ""
	}
	f := q.in(model.Finding{Message: fmt.Sprintf("%s has its components in the wrong order for %q: %s", s.t.Name, q.p.Name, q.failed.Msg), Advice: q.failed.Advice})
	var fixes []proposal
	for _, x := range q.v.t.Indexes {
		p := *q.p
		p.Index = x
		if _, err := compile.Pattern(l.m, &p); err == nil && x != q.v.x {
			fixes = append(
				fixes,
				proposal{text: fmt.Sprintf("query index %s instead", x.Name), edits: []edit{throughIndex(q.p.Name, x.Name)}, index: x},
			)
		}
	}
	if better != "" {
		fixes = append(fixes, proposal{
			text:  fmt.Sprintf("write %s: %q, or add an index with that sort key", s.t.Name, better),
			edits: []edit{writeTemplate(e.Name, s.t.Name, better), onPattern(q.p.Name, func(*model.Model, *model.Pattern) bool { return true })},
		})
	}
	var fields []string
	for _, p := range slices.Concat(equal, ranged) {
		fields = append(fields, p.Name)
	}
	if fix, ok := l.byFields(q.v, e, nil, fields, q.p.Name); ok {
		fixes = append(fixes, fix)
	}
	if q.p.Expect.Error != "" {
		f.Severity = model.Note
	}
	f.Pos = q.failed.Pos
	for _, it := range l.items[e] {
		if _, ok := q.v.size(it.Attributes); ok && len(f.Keys) < 2 {
			f.Keys = append(f.Keys, q.v.keyOf(it.Attributes))
		}
	}
	l.propose(f, fixes...)
}

var partitionPrefix = lint{Rule{
	ID: "partition-prefix", Title: "A partition key that a pattern knows only in part", Severity: model.Error,
	Help: "A query can compare a partition key only with =, because rows are found by a hash of the whole value: TENANT#T1#DOC#D1 and TENANT#T1#DOC#D2 can lie anywhere. " +
		"A query cannot find all partition keys that begin with TENANT#T1#; only a scan of the whole table can.",
	Example: []string{`"TENANT#T1#DOC#D1"`, `"TENANT#T1#DOC#D2"`},
	Cure:    "Use the known part as the partition key and the rest as the sort key, in the table or in an index: PK: TENANT#{tenant}, SK: DOC#{document}.",
	Source:  "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Query.KeyConditionExpressions.html",
}, func(l *linter) {
	for _, q := range l.queries {
		if q.op != "Query" || q.v == nil {
			continue
		}
		if q.failed != nil {
			l.partlyKnown(q)
			continue
		}
		clauses, _ := explain.Clauses(q.request)
		for _, c := range clauses {
			if c.Op != ast.Equal &&
				slices.ContainsFunc(q.v.hash, func(a model.Attribute) bool { return a.Name == c.Attribute.Name }) {
				l.prefixed(q, c)
				break
			}
		}
	}
}}

// prefixed reports a raw request that compares a partition key with anything
// but =.
func (l *linter) prefixed(q *query, c keycond.Clause) {
	f := q.in(model.Finding{Message: fmt.Sprintf("%q compares the partition key %s with %s: only = is possible", q.p.Name, c.Attribute.Name, c.Op)})
	if q.p.Expect.Error != "" {
		f.Severity = model.Note
	}
	if q.report != nil && q.report.Refused != nil && len(q.report.Refused.Advice) > 0 {
		f.Advice = q.report.Refused.Advice[0].Text
	}
	var fixes []proposal
	if c.Values[0].Kind() == attr.String {
		prefix := string(c.Values[0].Raw())
		for _, s := range l.slots {
			if s.t.Name != c.Attribute.Name || s.e.Table != q.v.t {
				continue
			}
			if _, fits := s.ends(prefix); !fits {
				continue
			}
			f.Entity = s.e.Name
			f.Keys = l.partitions(q.v, s, prefix)
			if head, tail, ok := s.cut(prefix); ok {
				f.Advice = "use the known part as the partition key of the table or of an index, and the rest as the sort key"
				fixes = l.splits(q, s, head, tail, knownIn(head, prefix))
				break
			}
		}
	}
	l.propose(f, fixes...)
}

// splits returns the proposals to split a partition key into two keys. Known are
// the values of the components in the first.
func (l *linter) splits(q *query, s *slot, head, tail string, known map[string]string) (fixes []proposal) {
	// asksBy makes the pattern give the known components.
	asksBy := func(index string) edit {
		return onPattern(q.p.Name, func(m *model.Model, p *model.Pattern) bool {
			e := m.Entity(s.e.Name)
			if p.Request != nil {
				*p = model.Pattern{
					Pos: p.Pos, Name: p.Name, About: p.About, Operation: "Query", Entity: e, Rate: p.Rate,
				}
				for _, field := range slices.Sorted(maps.Keys(known)) {
					p.Where = append(
						p.Where, model.Condition{Field: field, Op: ast.Equal, Args: []string{known[field]}},
					)
				}
			}
			p.Table = e.Table
			p.Index = e.Table.Index(index)
			return len(p.Where) > 0
		})
	}
	if q.v.x == nil && len(q.v.sort) > 0 {
		if t := s.e.Attribute(q.v.sort[0].Name); t != nil {
			if t.Template != nil && len(t.Template.Components()) > 0 {
				tail += "#" + t.Template.String()
			}
			fixes = append(fixes, proposal{
				text:  fmt.Sprintf("write %s: %q and %s: %q, or use them as the keys of an index", s.t.Name, head, t.Name, tail),
				edits: []edit{writeTemplate(s.e.Name, s.t.Name, head), writeTemplate(s.e.Name, t.Name, tail), asksBy("")},
			})
		}
	}
	components := func(src string) []string {
		t, err := keys.Parse(src)
		if err != nil {
			return nil
		}
		return t.Components()
	}
	if fix, ok := l.byFields(q.v, s.e, components(head), components(tail)); ok {
		fix.edits = append(fix.edits, asksBy(fix.added))
		fixes = append(fixes, fix)
	}
	return fixes
}

// knownIn returns the values of the components of a template that a key prefix
// contains entirely.
func knownIn(head, prefix string) map[string]string {
	t, err := keys.Parse(head)
	if err != nil {
		return nil
	}
	for n := len(prefix); n > 0; n-- {
		if values, ok := t.Match(prefix[:n]); ok {
			for name, value := range values {
				values[name] = strings.TrimRight(value, delimiters)
			}
			return values
		}
	}
	return nil
}

// cut splits the template after the last component that a prefix contains
// entirely.
func (s *slot) cut(prefix string) (head, tail string, ok bool) {
	last, rest := -1, prefix
	for i, p := range s.parts {
		if p.Name == "" {
			if i > 0 && delimiterAfter(p.Literal) != "" && strings.HasPrefix(rest, delimiterAfter(p.Literal)) {
				last = i - 1
			}
			if len(rest) <= len(p.Literal) && strings.HasPrefix(p.Literal, rest) {
				rest = ""
				break
			}
			if rest, ok = strings.CutPrefix(rest, p.Literal); !ok {
				return "", "", false
			}
			continue
		}
		if i+1 == len(s.parts) || rest == "" {
			rest = ""
			break
		}
		at := strings.Index(rest, delimiterAfter(s.parts[i+1].Literal))
		if at < 0 {
			rest = ""
			break
		}
		rest = rest[at:]
	}
	if last < 0 || last+1 >= len(s.parts) || rest != "" {
		return "", "", false
	}
	head, tail = s.halves(last)
	return head, tail, tail != ""
}

// halves returns the template up to a component, and the rest without the
// delimiter.
func (s *slot) halves(last int) (head, tail string) {
	parts := s.t.Template.Parts()
	rest := slices.Clone(parts[last+1:])
	if len(rest) > 0 {
		rest[0].Literal = strings.TrimPrefix(rest[0].Literal, delimiterAfter(rest[0].Literal))
	}
	return source(parts[:last+1], "", ""), source(rest, "", "")
}

// partitions returns up to two partition keys of the slot that begin with
// prefix.
func (l *linter) partitions(v *view, s *slot, prefix string) (shown []string) {
	for _, p := range v.Parts {
		it := v.Rows[p.From].Item
		if it.Entity == s.e && strings.HasPrefix(string(it.Attributes.Get(s.t.Name).Raw()), prefix) && len(shown) < 2 {
			shown = append(shown, v.keyOf(it.Attributes))
		}
	}
	if len(shown) < 2 {
		it := first(l.items[s.e])
		for _, last := range slices.Backward(s.parts) {
			if last.Name != "" && textual(last.Type) {
				shown = append(shown, nonEmpty(l.suchAs(v, s.e, it, map[string]string{last.Name: "another"}))...)
				break
			}
		}
	}
	return shown
}

// partlyKnown reports a pattern whose fields give only part of a partition key.
func (l *linter) partlyKnown(q *query) {
	e := q.p.Entity
	if e == nil ||
		!slices.ContainsFunc(q.v.hash, func(a model.Attribute) bool { return a.Name == q.failed.Attribute }) {
		return
	}
	s := l.slotOf(e, q.failed.Attribute)
	if s == nil || len(s.t.Template.Components()) < 2 {
		return
	}
	// If the pattern knows no component, the hazard is another one.
	known, last := 0, -1
	for i, p := range s.parts {
		if p.Name == "" {
			continue
		}
		c, ok := q.given(p.Name)
		if !ok || c.Op != ast.Equal {
			break
		}
		known, last = known+1, i
	}
	if known == 0 {
		return
	}
	f := q.in(model.Finding{Message: fmt.Sprintf("%q knows only part of the partition key %s: %s", q.p.Name, s.t.Name, q.failed.Msg), Advice: q.failed.Advice})
	if q.p.Expect.Error != "" {
		f.Severity = model.Note
	}
	var fixes []proposal
	if head, tail := s.halves(last); tail != "" {
		fixes = l.splits(q, s, head, tail, nil)
	}
	f.Keys = l.partitions(q.v, s, s.literal())
	l.propose(f, fixes...)
}
