package export

import (
	"reflect"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/terminal"
	"github.com/sortkey/sortkey/internal/text"
)

// A Part is a kind of thing in a model that a format may lack. All formats have tables with their keys
// and indexes.
type Part string

// The parts of a model.
const (
	Name         Part = "the name of the model"
	About        Part = "the description of the model"
	TableOrder   Part = "the order of the tables"
	IndexOrder   Part = "the order of local and global indexes"
	TTL          Part = "times to live"
	Entities     Part = "entities"
	EntityAbout  Part = "descriptions of entities"
	Templates    Part = "templates of attributes"
	Values       Part = "values of fields"
	Parents      Part = "what belongs to what"
	Mutable      Part = "fields that change"
	Unique       Part = "unique fields"
	Lives        Part = "lives of items"
	Generation   Part = "counts and distributions of generated items"
	Rates        Part = "rates"
	Items        Part = "sample items"
	Patterns     Part = "access patterns"
	Where        Part = "conditions of access patterns on fields"
	Expectations Part = "expectations of access patterns"
	Allowances   Part = "accepted findings"
)

// parts are the parts in the order in which losses are listed. A part that is within another one is
// lost with that, without a word.
var parts = []struct {
	part, within Part
	// of yields the things of a model that have the part: "" for the model itself.
	of func(m *model.Model, yield func(name string))
}{
	{Name, "", ofModel(func(*model.Model) bool { return true })},
	{About, "", ofModel(func(m *model.Model) bool { return strings.TrimSpace(m.About) != "" })},
	{TableOrder, "", ofModel(func(m *model.Model) bool { return len(m.Tables) > 1 })},
	{IndexOrder, "", ofTables(mixesIndexes)},
	{TTL, "", ofTables(func(t *model.Table) bool { return t.TTL != "" })},
	{Entities, "", ofEntities(func(*model.Entity) bool { return true })},
	{EntityAbout, Entities, ofEntities(func(e *model.Entity) bool { return e.About != "" })},
	{Templates, Entities, ofEntities(func(e *model.Entity) bool {
		return slices.ContainsFunc(e.Attributes, func(t *model.Template) bool { return len(t.Components()) > 0 })
	})},
	{Values, Entities, ofEntities(func(e *model.Entity) bool {
		return slices.ContainsFunc(e.Fields, func(f *model.Field) bool { return len(f.Values)+len(f.Type.Values) > 0 })
	})},
	{Parents, Entities, ofEntities(func(e *model.Entity) bool { return len(e.Parents) > 0 })},
	{Mutable, Entities, ofEntities(func(e *model.Entity) bool { return len(e.Mutable) > 0 })},
	{Unique, Entities, ofEntities(func(e *model.Entity) bool { return len(e.Unique) > 0 })},
	{Lives, Entities, ofEntities(func(e *model.Entity) bool { return e.Life != 0 })},
	{Generation, "", func(m *model.Model, yield func(name string)) {
		ofModel(func(m *model.Model) bool { return m.Seed > 1 })(m, yield)
		ofEntities(isGenerated)(m, yield)
	}},
	{Rates, "", func(m *model.Model, yield func(name string)) {
		ofEntities(func(e *model.Entity) bool { return e.Reads != 0 || e.Writes != 0 })(m, yield)
		ofPatterns(func(p *model.Pattern) bool { return p.Rate != 0 || p.Asked != "" })(m, yield)
	}},
	{Items, "", func(m *model.Model, yield func(name string)) {
		ofEntities(func(e *model.Entity) bool { return len(e.Samples) > 0 })(m, yield)
		for _, r := range m.Items {
			yield(r.Table.Name)
		}
	}},
	{Patterns, "", ofPatterns(func(*model.Pattern) bool { return true })},
	{Where, Patterns, ofPatterns(func(p *model.Pattern) bool { return p.Request == nil })},
	{Expectations, Patterns, ofPatterns(expects)},
	{Allowances, "", ofModel(func(m *model.Model) bool { return len(m.Allow) > 0 })},
}

func ofModel(has func(m *model.Model) bool) func(*model.Model, func(name string)) {
	return func(m *model.Model, yield func(name string)) {
		if has(m) {
			yield("")
		}
	}
}

func ofTables(has func(t *model.Table) bool) func(*model.Model, func(name string)) {
	return func(m *model.Model, yield func(name string)) {
		for _, t := range m.Tables {
			if has(t) {
				yield(t.Name)
			}
		}
	}
}

func ofEntities(has func(e *model.Entity) bool) func(*model.Model, func(name string)) {
	return func(m *model.Model, yield func(name string)) {
		for _, e := range m.Entities {
			if has(e) {
				yield(e.Name)
			}
		}
	}
}

func ofPatterns(has func(p *model.Pattern) bool) func(*model.Model, func(name string)) {
	return func(m *model.Model, yield func(name string)) {
		for _, p := range m.Patterns {
			if has(p) {
				yield(p.Name)
			}
		}
	}
}

// mixesIndexes reports whether a table lists a local index before a global one.
func mixesIndexes(t *model.Table) bool {
	local := slices.IndexFunc(t.Indexes, func(x *model.Index) bool { return x.Local })
	return local >= 0 && slices.ContainsFunc(t.Indexes[local:], func(x *model.Index) bool { return !x.Local })
}

// isGenerated reports whether an entity says how many items to generate, or with which values.
func isGenerated(e *model.Entity) bool {
	return e.Count != 0 || slices.ContainsFunc(e.Fields, func(f *model.Field) bool {
		return f.Distribution.Name != "" && f.Distribution.Name != "uniform" ||
			f.Distinct != 0 || f.MinSize != 0 || f.MaxSize != 0 || f.From != "" || f.To != ""
	})
}

// expects reports whether a pattern has expectations.
func expects(p *model.Pattern) bool {
	e := p.Expect
	e.Pos = model.Pos{}
	return !reflect.ValueOf(e).IsZero()
}

// A Loss is a part of a model that a file lacks.
type Loss struct {
	Part Part
	// Names are the tables, entities and patterns whose part is lost, in the order of the model.
	// Without names the part is the model's.
	Names []string
}

// String returns the loss on one line. Names of several words are in quotes.
func (l Loss) String() string {
	if len(l.Names) == 0 {
		return string(l.Part)
	}
	names := make([]string, len(l.Names))
	for i, name := range l.Names {
		if names[i] = text.Visible(name); strings.ContainsAny(name, " ,\"") {
			names[i] = text.Quote(name)
		}
	}
	return string(l.Part) + ": " + strings.Join(names, ", ")
}

// Lines returns the loss as lines of text, the first after bullet and the others below its text.
func (l Loss) Lines(bullet string) (lines []string) {
	for i, line := range terminal.Wrap(l.String(), lineWidth-len(bullet)) {
		if i > 0 {
			bullet = strings.Repeat(" ", len(bullet))
		}
		lines = append(lines, bullet+line)
	}
	return lines
}

// lineWidth is the width of lines of text.
const lineWidth = 100

// losses returns what the file lacks of the model.
func (d *design) losses() (all []Loss) {
	kept := *d.m // without the patterns that are lost
	kept.Patterns = slices.DeleteFunc(slices.Clone(kept.Patterns), func(p *model.Pattern) bool {
		return slices.Contains(d.lost[Patterns], p.Name)
	})
	for _, p := range parts {
		if p.within != "" && !slices.Contains(d.w.carries, p.within) {
			continue
		}
		m := &kept
		if p.part == Patterns {
			m = d.m
		}
		carried := slices.Contains(d.w.carries, p.part)
		l, some := Loss{Part: p.part}, false
		p.of(m, func(name string) {
			if carried && !slices.Contains(d.lost[p.part], name) {
				return
			}
			if some = true; name != "" && !slices.Contains(l.Names, name) {
				l.Names = append(l.Names, name)
			}
		})
		if some {
			all = append(all, l)
		}
	}
	return all
}

// comment returns what begins a file whose format has comments, each line after a mark.
func (d *design) comment(mark string) string {
	var b strings.Builder
	line := func(s string) { b.WriteString(strings.TrimRight(mark+" "+s, " ") + "\n") }
	line("Generated by sortkey design export from the model " + text.Visible(d.m.Name) + ".")
	if list := d.losses(); len(list) > 0 {
		line("")
		line("It lacks what " + d.w.title + " cannot have:")
		for _, l := range list {
			for _, s := range l.Lines("- ") {
				line(s)
			}
		}
	}
	return b.String()
}
