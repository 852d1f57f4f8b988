package lint

import (
	"context"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/keys"
)

// A linter holds a world in the forms that the rules need.
type linter struct {
	ctx   context.Context
	w     *world.World
	m     *model.Model
	rules []string // IDs of all rules
	// entities are the entities stored in a table of the model.
	entities []*model.Entity
	items    map[*model.Entity][]*world.Item
	views    []*view
	slots    []*slot
	queries  []*query
	columns  map[column][]authoredValue
	numbers  []numberHazard // found by the first rule that needs them
	counted  bool
	used     map[*model.Allowance]bool
	found    []model.Finding
	// proposals are those of findings, by their indexes in found, and settled
	// the edits of those that became advice. A small linter tries proposals of
	// another and has none.
	proposals map[int][]proposal
	settled   map[int][][]edit
	small     bool
}

func newLinter(ctx context.Context, w *world.World) *linter {
	return &linter{
		ctx: ctx, w: w, m: w.Model,
		items: map[*model.Entity][]*world.Item{}, columns: map[column][]authoredValue{},
		used:      map[*model.Allowance]bool{},
		proposals: map[int][]proposal{}, settled: map[int][][]edit{},
	}
}

func (l *linter) prepare() error {
	for _, e := range l.m.Entities {
		if slices.Contains(l.m.Tables, e.Table) && e.Table != nil {
			l.entities = append(l.entities, e)
		}
	}
	for i := range l.w.Items {
		it := &l.w.Items[i]
		l.items[it.Entity] = append(l.items[it.Entity], it)
	}
	for _, t := range l.m.Tables {
		for _, x := range append([]*model.Index{nil}, t.Indexes...) {
			v, err := l.view(t, x)
			if err != nil {
				return err
			}
			l.views = append(l.views, v)
		}
	}
	for _, e := range l.entities {
		for _, t := range e.Attributes {
			if s := l.slot(e, t); s != nil {
				l.slots = append(l.slots, s)
			}
		}
	}
	return l.runPatterns()
}

// add adds a finding. [Run] fills in the rule, and the severity if it is 0.
func (l *linter) add(f model.Finding) { l.found = append(l.found, f) }

// A view is a table or an index with its rows in key order.
type view struct {
	*world.Space
	t    *model.Table
	x    *model.Index // nil for the table itself
	hash []model.Attribute
	sort []model.Attribute
	all  []model.Attribute // hash, then sort
}

func (l *linter) view(t *model.Table, x *model.Index) (*view, error) {
	s, err := l.w.Space(l.ctx, t, x)
	if err != nil {
		return nil, err
	}
	return &view{Space: s, t: t, x: x, hash: s.Hash, sort: s.Sort, all: slices.Concat(s.Hash, s.Sort)}, nil
}

// size returns the documented size of an item in the view, and whether the view
// holds the item.
func (v *view) size(it attr.Item) (int, bool) { return v.Size(it) }

// in fills in the table and index of a finding.
func (v *view) in(f model.Finding) model.Finding {
	f.Table = v.t.Name
	if v.x != nil {
		f.Index = v.x.Name
	}
	return f
}

// name returns the name of the view for sentences.
func (v *view) name() string {
	if v.x != nil {
		return "index " + v.x.Name
	}
	return "table " + v.t.Name
}

func (v *view) pos() model.Pos {
	if v.x != nil {
		return v.x.Pos
	}
	return v.t.Pos
}

// indexName returns the name of the view's index, or "".
func (v *view) indexName() string {
	if v.x == nil {
		return ""
	}
	return v.x.Name
}

// tableView returns the view of a table itself.
func (l *linter) tableView(t *model.Table) *view {
	return l.views[slices.IndexFunc(l.views, func(v *view) bool { return v.t == t && v.x == nil })]
}

// A slot is a key attribute of an entity that is built from a template.
type slot struct {
	e      *model.Entity
	t      *model.Template
	parts  []keys.Part
	places []place
}

// A place is a view whose key includes a slot.
type place struct {
	v    *view
	sort bool
}

func (l *linter) slot(e *model.Entity, t *model.Template) *slot {
	if t.Template == nil {
		return nil
	}
	s := &slot{e: e, t: t, parts: t.Template.Parts()}
	for _, v := range l.views {
		if v.t != e.Table || !v.writtenBy(e) {
			continue
		}
		for _, a := range v.all {
			if a.Name == t.Name {
				s.places = append(s.places, place{v, !slices.Contains(v.hash, a)})
			}
		}
	}
	if len(s.places) == 0 {
		return nil
	}
	return s
}

// writtenBy reports whether the entity has all key attributes of the view, so
// that its items are in it.
func (v *view) writtenBy(e *model.Entity) bool {
	return !slices.ContainsFunc(v.all, func(a model.Attribute) bool { return e.Attribute(a.Name) == nil })
}

// sortView returns the first view whose sort key includes the slot, or nil.
func (s *slot) sortView() *view {
	for _, p := range s.places {
		if p.sort {
			return p.v
		}
	}
	return nil
}

// view returns a view whose key includes the slot, preferably one whose sort
// key does.
func (s *slot) view() *view {
	if v := s.sortView(); v != nil {
		return v
	}
	return s.places[0].v
}

// in fills in the position, entity, table and index of a finding.
func (s *slot) in(f model.Finding) model.Finding {
	f.Pos, f.Entity = s.t.Pos, s.e.Name
	return s.view().in(f)
}

// slotOf returns the slot of an entity's attribute, or nil.
func (l *linter) slotOf(e *model.Entity, name string) *slot {
	for _, s := range l.slots {
		if s.e == e && s.t.Name == name {
			return s
		}
	}
	return nil
}

// literal returns the literal text at the start of the slot's keys.
func (s *slot) literal() string {
	if len(s.parts) > 0 && s.parts[0].Name == "" {
		return s.parts[0].Literal
	}
	return ""
}

// ends returns the component in which a key prefix ends, or -1 if it ends in
// literal text. It reports false if no key has that prefix.
func (s *slot) ends(prefix string) (int, bool) {
	for i, p := range s.parts {
		switch width, fixed := p.Type.Fixed(); {
		case p.Name == "":
			if len(prefix) <= len(p.Literal) {
				return -1, strings.HasPrefix(p.Literal, prefix)
			}
			if !strings.HasPrefix(prefix, p.Literal) {
				return -1, false
			}
			prefix = prefix[len(p.Literal):]
		case fixed:
			if len(prefix) <= width {
				return i, true
			}
			prefix = prefix[width:]
		default:
			if i == len(s.parts)-1 {
				return i, true
			}
			at := strings.Index(prefix, s.parts[i+1].Literal)
			if s.parts[i+1].Literal == "" || at < 0 {
				return i, true
			}
			prefix = prefix[at:]
		}
	}
	return -1, prefix == ""
}

// textual reports whether a type is arbitrary text.
func textual(t keys.Type) bool { return t.Name == "" || t.Name == "string" || t.Name == "path" }
