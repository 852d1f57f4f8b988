package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/gen"
	"github.com/sortkey/sortkey/internal/design/load"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keys"
)

// An entityRow is an entity in the chart of the design.
type entityRow struct {
	*model.Entity
	N     int // from 1
	Color string
	Items int // at the declared scale
	Bytes int // of an item, on average
	// Places are the table and the indexes that hold items of the entity.
	Places   []place
	Patterns []*pattern // that read or write it
	Findings []finding
}

// A place is what the keys of an entity are in a table or an index.
type place struct {
	Space *space
	Keys  []keyChart
	// When says which items are there, or is "". Share is their share of the items of the entity.
	When  string
	Share float64
	// Example is the key of an item, or "".
	Example string
}

// A keyChart is a key attribute with its template.
type keyChart struct {
	Name  string
	Sort  bool
	Parts []keyPart
}

// A keyPart is literal text, or a component in the colour of its field.
type keyPart struct {
	Literal     string
	Name, Type  string
	Color, Help string
}

// chart returns the entities of a world with their keys in each table and index.
func chart(w *world.World, all []*space, access []*pattern, found []group, colors palette) []*entityRow {
	type amount struct{ items, n, bytes float64 }
	of := map[*model.Entity]*amount{}
	for i := range w.Items {
		it := &w.Items[i]
		a := of[it.Entity]
		if a == nil {
			a = &amount{}
			of[it.Entity] = a
		}
		a.items += w.Represents(it)
		a.n++
		a.bytes += float64(it.Attributes.Size())
	}

	fields := fieldColors(w.Model)
	var rows []*entityRow
	for i, e := range w.Model.Entities {
		r := &entityRow{Entity: e, N: i + 1, Color: colors[e.Name]}
		if a := of[e]; a != nil {
			r.Items, r.Bytes = int(a.items+0.5), int(a.bytes/a.n+0.5)
		}
		for _, s := range all {
			if p, ok := s.place(e, fields, r.Items); ok {
				r.Places = append(r.Places, p)
			}
		}
		for _, p := range access {
			if slices.Contains(p.entities(), e) {
				r.Patterns = append(r.Patterns, p)
			}
		}
		for _, g := range found {
			for _, f := range g.Findings {
				if f.Entity == e.Name && f.Rule != check.Rule {
					r.Findings = append(r.Findings, f)
				}
			}
		}
		rows = append(rows, r)
	}
	return rows
}

// place returns what the keys of an entity are in the space, and whether it can be there at all.
func (s *space) place(e *model.Entity, fields map[string]string, items int) (place, bool) {
	if e.Table != s.Table {
		return place{}, false
	}

	p := place{Space: s, Share: 1}
	var conditions []string
	add := func(a model.Attribute, sort bool) bool {
		t := e.Attribute(a.Name)
		if t == nil {
			return false
		}
		p.Keys = append(p.Keys, keyChart{a.Name, sort, keyParts(e, t, fields)})
		if c := t.Condition(); c != "" && !slices.Contains(conditions, c) {
			conditions = append(conditions, c)
		}
		return true
	}
	for _, a := range s.Hash {
		if !add(a, false) {
			return place{}, false
		}
	}

	for _, a := range s.Sort {
		if !add(a, true) {
			return place{}, false
		}
	}

	p.When = strings.Join(conditions, " and ")
	if n := s.declaredOf[e.Name]; items > 0 {
		p.Share = min(n/float64(items), 1)
	}
	for i := range s.Rows {
		if s.Rows[i].Item.Entity == e {
			p.Example = s.full(s.Rows[i].Item.Attributes)
			break
		}
	}
	return p, true
}

// keyParts returns the parts of the template of an entity's attribute.
func keyParts(e *model.Entity, t *model.Template, fields map[string]string) (all []keyPart) {
	if t.Template == nil {
		return []keyPart{{Literal: plain(t.Const)}}
	}
	for _, p := range t.Template.Parts() {
		if p.Name == "" {
			all = append(all, keyPart{Literal: p.Literal})
			continue
		}
		one := keyPart{Name: p.Name, Color: fields[p.Name], Help: fieldHelp(e.Field(p.Name), p.Type)}
		if p.Typed {
			one.Type = p.Type.String()
		}
		all = append(all, one)
	}
	return all
}

// fieldHelp describes a field in a key.
func fieldHelp(f *model.Field, t keys.Type) string {
	words := []string{"type " + t.String()}
	if f == nil {
		return words[0]
	}
	switch {
	case len(f.Values) > 0:
		words = append(words, "one of "+short(strings.Join(f.Values, ", "), 80))
	case f.Distinct > 0:
		words = append(words, text.Count(f.Distinct, "value"))
	}
	if d := f.Distribution; d.Name != "" && d.Name != "uniform" {
		if d.Skew > 0 {
			words = append(words, fmt.Sprintf("%s(%s)", d.Name, text.Figure(d.Skew)))
		} else {
			words = append(words, d.Name)
		}
	}
	if f.From != "" || f.To != "" {
		words = append(words, "from "+f.From+" to "+f.To)
	}
	return strings.Join(words, ", ")
}

// fieldColors gives each field that appears in a key template a class, in the order of the model.
func fieldColors(m *model.Model) map[string]string {
	all := map[string]string{}
	for _, e := range m.Entities {
		for _, t := range e.Attributes {
			if t.Template == nil {
				continue
			}
			for _, name := range t.Template.Components() {
				if all[name] == "" {
					all[name] = fmt.Sprintf("k%d", len(all))
				}
			}
		}
	}
	return all
}

// entities returns the entities that the pattern reads or writes.
func (p *pattern) entities() (all []*model.Entity) {
	if p.Pattern.Entity != nil {
		all = append(all, p.Pattern.Entity)
	}
	for i := range p.Pattern.Writes {
		all = append(all, p.Pattern.Writes[i].Entity)
	}
	if p.Pattern.Then != nil {
		all = append(all, p.Pattern.Then)
	}
	if p.Pattern.Entity == nil && p.Report != nil {
		for _, share := range p.Report.Entities {
			if e := p.model.Entity(share.Entity); e != nil {
				all = append(all, e)
			}
		}
	}
	return all
}

// Lives says how long items of the entity live, or "".
func (r *entityRow) Lives() string {
	if r.Life == 0 {
		return ""
	}
	return model.LifeText(r.Life)
}

// Belongs names the entities to which the items belong, or is "".
func (r *entityRow) Belongs() string {
	var names []string
	for _, p := range r.Parents {
		names = append(names, p.Entity.Name)
	}
	return text.Join(names, "and")
}

// Conditions says what the pattern fixes and bounds, without values, or "".
func (p *pattern) Conditions() string {
	var all []string
	list := p.Pattern.Where
	if len(p.Pattern.Writes) == 1 {
		list = p.Pattern.Writes[0].Where
	}
	if p.Pattern.Moves() {
		all = append(all, p.Pattern.Writes[0].Field.Name)
	}

	for _, c := range list {
		op := strings.ToLower(strings.ReplaceAll(string(c.Op), "_", " "))
		switch c.Op {
		case ast.OpBeginsWith:
			op = "begins with"
		case model.In:
			op = "in all"
			if len(c.Args) > 0 {
				op = fmt.Sprintf("in %d values", len(c.Args))
			}
		}
		all = append(all, strings.TrimSuffix(c.Field+" "+op, " ="))
	}

	words := strings.Join(all, ", ")
	if p.Pattern.Descending {
		words += ", descending"
	}
	if p.Pattern.Limit > 0 {
		words += fmt.Sprintf(", limit %d", p.Pattern.Limit)
	}
	return strings.TrimPrefix(words, ", ")
}

// A figureRow is a figure of a pattern in half, 95 % and all of the partitions.
type figureRow struct{ P50, P95, Worst string }

// Rows are the rows returned, or the items that a move rewrites, at the declared scale.
func (p *pattern) Rows() figureRow {
	rows := func(f float64) string { return text.Thousands(int(f + 0.5)) }
	if p.Writes != nil && p.Writes.Move != nil {
		m := p.Writes.Move
		return figureRow{rows(m.P50.Items), rows(m.P95.Items), rows(m.Worst.Items)}
	}
	if s := p.Spread; s != nil {
		return figureRow{rows(s.P50.DeclaredRows()), rows(s.P95.DeclaredRows()), rows(s.Worst.DeclaredRows())}
	}
	own := rows(p.Own().DeclaredRows())
	return figureRow{own, own, own}
}

// Costs are the units of a request, at the declared scale.
func (p *pattern) Costs() figureRow {
	s := p.Spread
	switch {
	case p.Writes != nil:
		return figureRow{text.Figure(p.Writes.P50), text.Figure(p.Writes.P95), text.Figure(p.Writes.Worst)}
	case s != nil:
		return figureRow{
			text.Figure(s.P50.DeclaredUnits()), text.Figure(s.P95.DeclaredUnits()),
			text.Figure(s.Worst.DeclaredUnits()),
		}
	}
	own := text.Figure(p.Own().DeclaredUnits())
	return figureRow{own, own, own}
}

// Pages is the most pages of a request, at the declared scale.
func (p *pattern) Pages() string {
	if p.Spread != nil {
		return text.Thousands(int(p.Spread.Worst.DeclaredPages()))
	}
	return text.Thousands(int(p.Own().DeclaredPages()))
}

// MostWaste is the share of the bytes read that are not returned, where it is highest.
func (p *pattern) MostWaste() float64 {
	waste := p.Waste()
	if p.Spread != nil {
		for i := range p.Spread.Readings {
			waste = max(waste, p.Spread.Readings[i].Waste)
		}
	}
	return waste
}

// Loaded reports whether the pattern has a rate, and a request.
func (p *pattern) Loaded() bool { return p.Pattern.Rate > 0 && (p.Read() || p.Writes != nil) }

// Unit returns the mark of the units that the pattern consumes.
func (p *pattern) Unit() string {
	if p.Writes != nil {
		return "W"
	}
	return "R"
}

// Load returns the units per second at the declared rate.
func (p *pattern) Load() float64 { return p.Pattern.Rate * p.MeanUnits() }

// Month returns what the pattern costs a month on demand, or "" if it has no rate.
func (p *pattern) Month() string {
	if p.bill == nil || !p.Loaded() {
		return ""
	}
	if p.Writes != nil {
		return p.bill.Money(p.bill.OnDemand(0, p.Load()))
	}
	return p.bill.Money(p.bill.OnDemand(p.Load(), 0))
}

// Code is a request in a language.
type Code struct{ Title, Text string }

// InCode returns the request in languages, none for one that is refused.
func (p *pattern) InCode() []Code { return InCode(p.Input) }

// InCode returns a request in languages, nothing for nil. The template "requests" shows it.
func InCode(in wire.Request) (all []Code) {
	if in == nil {
		return nil
	}
	for _, l := range []struct{ lang, title string }{
		{"aws", "AWS CLI"}, {"go", "Go"}, {"python", "Python"}, {"js", "TypeScript"},
	} {
		if s, err := gen.Request(in, l.lang); err == nil {
			all = append(all, Code{l.title, strings.TrimRight(s, "\n")})
		}
	}
	return all
}

// A collection is the items of a partition in the grid, with the number of those left out.
type collection struct {
	*part
	Items []gridItem
	Rest  int
}

// A gridItem is an item with its attributes other than the partition key.
type gridItem struct {
	Entity, Color string
	Anchor        string
	Sort          string
	Attributes    []gridAttribute
}

type gridAttribute struct{ Name, Value string }

const (
	maxGrid       = 6 // partitions in a grid
	maxGridItems  = 6 // of a partition
	maxGridValues = 12
)

// grid returns the items of some partitions: those that patterns read, and one of each kind.
func (s *space) grid() (all []collection) {
	for _, p := range s.choose(2, maxGrid) {
		c := collection{part: p}
		for i := range p.Rows {
			if len(c.Items) == maxGridItems {
				c.Rest = len(p.Rows) - i
				break
			}
			item := s.gridItem(&p.Rows[i])
			item.Anchor = s.anchorRow(p, i)
			c.Items = append(c.Items, item)
		}
		all = append(all, c)
	}
	return all
}

func (s *space) gridItem(r *world.Row) gridItem {
	g := gridItem{Entity: entity(r), Color: s.colors[entity(r)], Sort: values(r.Item.Attributes, s.Sort)}
	keys := slices.Concat(s.Hash, s.Sort)
	shown := func(name string) bool {
		return !slices.ContainsFunc(keys, func(a model.Attribute) bool { return a.Name == name })
	}
	more := 0
	for raw, v := range r.Item.Attributes.All() {
		name := string(raw)
		switch {
		case !shown(name) || !s.projects(name):
		case len(g.Attributes) == maxGridValues:
			more++
		default:
			g.Attributes = append(g.Attributes, gridAttribute{name, gridValue(v)})
		}
	}
	if more > 0 {
		g.Attributes = append(g.Attributes, gridAttribute{"and", text.Count(more, "attribute") + " more"})
	}
	return g
}

// projects reports whether rows of the space have an attribute.
func (s *space) projects(name string) bool {
	return s.Index == nil || s.Index.Projection == "ALL" || slices.Contains(s.Index.Include, name) ||
		s.Table.IsKey(name)
}

func gridValue(v attr.Value) string {
	if v.Kind() == attr.String || v.Kind() == attr.Number {
		return plain(v)
	}
	return text.Literal(v)
}

// A hue is a colour that the style sheet does not name: of an entity beyond the first, or of a field.
type hue struct {
	Class string
	Angle int // of OKLCH, in degrees
}

// hues returns colours that are golden angles apart, and as bright as the others.
func hues(entities, fields int) (all []hue) {
	for i := maxColors; i < entities; i++ {
		all = append(all, hue{fmt.Sprintf("e%d", i), i * 137508 / 1000 % 360})
	}
	for i := range fields {
		all = append(all, hue{fmt.Sprintf("k%d", i), (40 + i*137508/1000) % 360})
	}
	return all
}

// figures returns the three cells of a row of the table of patterns.
func figures(name string, f figureRow) cells { return cells{name, f} }

type cells struct {
	Name string
	figureRow
}

// Unit returns the mark of what the figures are.
func (c cells) Unit() string {
	switch c.Name {
	case "read units":
		return "R"
	case "write units":
		return "W"
	}
	return ""
}

// A namedMoved is a row of the table of a move.
type namedMoved struct {
	Label string
	load.Moved
}

// A namedReading is a row of the table of a spread.
type namedReading struct {
	Name string
	load.Reading
}
