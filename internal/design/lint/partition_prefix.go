package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr/ast"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/keys"
)

var partitionPrefix = rule.Rule{
	ID: "partition-prefix", Title: "A partition key that a pattern knows only in part", Severity: model.Error,
	Help: "A query can compare a partition key only with =, because rows are found by a hash of the whole value: " +
		"TENANT#T1#DOC#D1 and TENANT#T1#DOC#D2 can lie anywhere. A query cannot find all partition keys that begin " +
		"with TENANT#T1#; only a scan of the whole table can.",
	Example: []string{`"TENANT#T1#DOC#D1"`, `"TENANT#T1#DOC#D2"`},
	Cure: "Use the known part as the partition key and the rest as the sort key, in the table or in an index: PK: " +
		"TENANT#{tenant}, SK: DOC#{document}.",
	Source: guide + "Query.KeyConditionExpressions.html",

	Query: func(p *rule.Pass, q *rule.Query) {
		if q.Operation != "Query" || q.View == nil {
			return
		}
		if q.Failed != nil {
			checkPartlyKnown(p, q)
			return
		}
		clauses, _ := explain.Clauses(q.Compiled)
		for _, c := range clauses {
			if c.Op != ast.Equal && slices.Contains(rule.Names(q.View.Hash), c.Attribute) {
				checkPrefixed(p, q, c)
				return
			}
		}
	},
}

// checkPrefixed reports a raw request that compares a partition key with anything
// but =.
func checkPrefixed(p *rule.Pass, q *rule.Query, c keycond.Clause) {
	f := q.Finding("%q compares the partition key %s with %s: only = is possible", q.Name, c.Attribute, c.Op)
	if q.Expect.Error != "" {
		f.Severity = model.Note
	}
	if q.Report != nil && q.Report.Refused != nil && len(q.Report.Hints) > 0 {
		f.Advice = q.Report.Hints[0]
	}
	if c.Values[0].Kind() == attr.String {
		known := string(c.Values[0].Raw())
		for _, s := range p.SlotsOf(q.View.Table, c.Attribute) {
			if _, _, fits := s.After(known); !fits {
				continue
			}
			f.Entity = s.Entity.Name
			f.Keys = partitionKeysOf(p, q.View, s, known)
			if head, tail, ok := cutAfter(s, known); ok {
				f.Advice = "use the known part as the partition key of the table or of an index, " +
					"and the rest as the sort key"
				proposeSplit(f, q, s, head, tail, knownIn(head, known))
				break
			}
		}
	}
	p.Report(f)
}

// checkPartlyKnown reports a pattern whose fields give only part of a partition
// key.
func checkPartlyKnown(p *rule.Pass, q *rule.Query) {
	if q.Entity == nil || !slices.Contains(rule.Names(q.View.Hash), q.Failed.Attribute) {
		return
	}

	s := p.Slot(q.Entity, q.Failed.Attribute)
	if s == nil || len(s.Components()) < 2 {
		return
	}
	last := -1 // of the known components
	for _, c := range s.Components() {
		given, ok := q.Given(c.Name)
		if !ok || given.Op != ast.Equal {
			break
		}
		last = c.At
	}
	if last < 0 {
		return // the hazard is another one
	}

	f := q.Finding("%q knows only part of the partition key %s: %s", q.Name, s.Name, q.Failed.Msg)
	f.Advice = q.Failed.Advice
	if q.Expect.Error != "" {
		f.Severity = model.Note
	}
	if head, tail := splitAfter(s, last); tail != "" {
		proposeSplit(f, q, s, head, tail, nil)
	}

	f.Keys = partitionKeysOf(p, q.View, s, s.Literal())
	p.Report(f)
}

// partitionKeysOf returns up to two partition keys of the slot that begin with
// prefix.
func partitionKeysOf(p *rule.Pass, v *rule.View, s *rule.Slot, prefix string) (shown []string) {
	for _, part := range v.Parts {
		it := v.Rows[part.From].Item
		if it.Entity == s.Entity && strings.HasPrefix(rule.Value(it, s.Name), prefix) && len(shown) < 2 {
			shown = append(shown, v.Shown(it)...)
		}
	}
	if len(shown) < 2 {
		own := []model.Attribute{{Name: s.Name}}
		shown = append(shown, v.Another(s.Entity, p.First(s.Entity), own)...)
	}
	return shown
}

// proposeSplit proposes to split a partition key into two keys. Known are the
// values of the components in the first, for a pattern that does not give them.
func proposeSplit(f *rule.Finding, q *rule.Query, s *rule.Slot, head, tail string, known map[string]string) {
	e := s.Entity
	if q.View.Index == nil && len(q.View.Sort) > 0 {
		if t := e.Attribute(q.View.Sort[0].Name); t != nil {
			if t.Template != nil && len(t.Template.Components()) > 0 {
				tail += "#" + t.Template.String()
			}
			f.Propose(
				fmt.Sprintf("write %s: %q and %s: %q, or use them as the keys of an index", s.Name, head, t.Name, tail),
				s.Write(head), rule.WriteTemplate(e.Name, t.Name, tail), askBy(q, e.Name, known, ""),
			)
		}
	}
	fix, index := q.View.ByFields(e, componentNames(head), componentNames(tail))
	if index != "" {
		fix.Edits = append(fix.Edits, askBy(q, e.Name, known, index))
		f.Proposals = append(f.Proposals, fix)
	}
}

// askBy returns the edit that makes a pattern give the known components to an
// index, or to the table.
func askBy(q *rule.Query, entity string, known map[string]string, index string) rule.Edit {
	return rule.OnPattern(q.Name, func(m *model.Model, p *model.Pattern) bool {
		e := m.Entity(entity)
		if p.Request != nil {
			*p = model.Pattern{Pos: p.Pos, Name: p.Name, About: p.About, Operation: "Query", Entity: e, Rate: p.Rate}
			for _, field := range slices.Sorted(maps.Keys(known)) {
				p.Where = append(p.Where, model.Condition{Field: field, Op: ast.Equal, Args: []string{known[field]}})
			}
		}
		p.Table, p.Index = e.Table, e.Table.Index(index)
		return len(p.Where) > 0
	})
}

func componentNames(src string) []string {
	t, err := keys.Parse(src)
	if err != nil {
		return nil
	}
	return t.Components()
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
				values[name] = strings.TrimRight(value, rule.Delimiters)
			}
			return values
		}
	}
	return nil
}

// cutAfter splits the template after the last component that a prefix contains
// entirely.
func cutAfter(s *rule.Slot, prefix string) (head, tail string, ok bool) {
	last, rest := -1, prefix
	for i, p := range s.Parts {
		if p.Name == "" {
			if mark := rule.DelimiterAfter(p.Literal); i > 0 && mark != "" && strings.HasPrefix(rest, mark) {
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
		if i+1 == len(s.Parts) || rest == "" {
			rest = ""
			break
		}

		at := strings.Index(rest, rule.DelimiterAfter(s.Parts[i+1].Literal))
		if at < 0 {
			rest = ""
			break
		}

		rest = rest[at:]
	}
	if last < 0 || last+1 >= len(s.Parts) || rest != "" {
		return "", "", false
	}

	head, tail = splitAfter(s, last)
	return head, tail, tail != ""
}

// splitAfter returns the template up to a component, and the rest without the
// delimiter.
func splitAfter(s *rule.Slot, last int) (head, tail string) {
	parts := s.Template.Parts()
	rest := slices.Clone(parts[last+1:])
	if len(rest) > 0 {
		rest[0].Literal = strings.TrimPrefix(rest[0].Literal, rule.DelimiterAfter(rest[0].Literal))
	}
	return rule.Source(parts[:last+1]), rule.Source(rest)
}
