package export

import (
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/design/terminal"
	"github.com/sortkey/sortkey/internal/text"
)

// A Part is a kind of thing in a model.
type Part string

// The parts of a model, in the order in which losses are listed.
const (
	Name         Part = "the name of the model"
	About        Part = "the description of the model"
	Tables       Part = "tables"
	TableNames   Part = "names of tables"
	TableOrder   Part = "the order of the tables"
	KeyTypes     Part = "types of key attributes"
	Indexes      Part = "indexes"
	IndexOrder   Part = "the order of local and global indexes"
	LocalIndexes Part = "whether an index is local"
	Projections  Part = "projections of indexes"
	TTL          Part = "times to live"
	Entities     Part = "entities"
	EntityAbout  Part = "descriptions of entities"
	Templates    Part = "templates of attributes"
	Types        Part = "types of values in templates"
	Constants    Part = "constant attributes"
	Conditions   Part = "conditions of attributes"
	Values       Part = "values of fields"
	Parents      Part = "what belongs to what"
	Mutable      Part = "fields that change"
	Lives        Part = "lives of items"
	Generation   Part = "counts and distributions of generated items"
	Rates        Part = "rates"
	Items        Part = "sample items"
	Owners       Part = "which entity an item is of"
	Patterns     Part = "access patterns"
	PatternAbout Part = "descriptions of access patterns"
	Where        Part = "conditions of access patterns on fields"
	Expectations Part = "expectations of access patterns"
	Allowances   Part = "accepted findings"
	// Added are attributes that the other tool adds to items.
	Added Part = "attributes that the tool adds to items"
)

// Parts returns the parts in the order in which losses are listed.
func Parts() []Part {
	return []Part{
		Name, About, Tables, TableNames, TableOrder, KeyTypes, Indexes, IndexOrder, LocalIndexes, Projections, TTL,
		Entities, EntityAbout, Templates, Types, Constants, Conditions, Values, Parents, Mutable, Lives,
		Generation, Rates, Items, Owners,
		Patterns, PatternAbout, Where, Expectations, Allowances, Added,
	}
}

// within are the parts that are lost with another one: an entity that is lost has no templates.
var within = map[Part]Part{
	EntityAbout: Entities, Templates: Entities, Types: Templates, Constants: Templates, Conditions: Templates,
	Values: Entities, Parents: Entities, Mutable: Entities, Lives: Entities, Owners: Items,
	PatternAbout: Patterns, Where: Patterns, Expectations: Patterns,
	LocalIndexes: Indexes, Projections: Indexes, TableNames: Tables, KeyTypes: Tables, Indexes: Tables, TTL: Tables,
}

// A Loss is a part of a model that a file lacks.
type Loss struct {
	Part Part
	// Names are the things whose part is lost, in the order of the model: names of tables, entities
	// and patterns, or of what is in them, such as Order.SK. Without names the part is the model's.
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
	for _, part := range Parts() {
		if part == Added {
			continue
		}
		l := Loss{Part: part}
		some := false
		for _, f := range d.facts {
			if f.part != part || !d.loses(f) || d.losesWhole(f) {
				continue
			}
			some = true
			if name := d.nameOf(f); name != "" && !slices.Contains(l.Names, name) {
				l.Names = append(l.Names, name)
			}
		}
		if some {
			all = append(all, l)
		}
	}
	if added := d.names(Added); len(added) > 0 {
		all = append(all, Loss{Part: Added, Names: added})
	}
	return all
}

// nameOf returns the name of a fact in a loss: if the format carries nothing of its part, that of
// the whole entity.
func (d *design) nameOf(f fact) string {
	if f.of != "" && !slices.Contains(d.w.carries, f.part) {
		return f.of
	}
	return f.name
}

// loses reports whether the file lacks a fact.
func (d *design) loses(f fact) bool {
	return f.part != "" && (!slices.Contains(d.w.carries, f.part) || slices.Contains(d.lost, single{f.part, f.name}))
}

// losesWhole reports whether the file lacks what the fact is about, so that the fact is not worth
// a word.
func (d *design) losesWhole(f fact) bool {
	for part, ok := within[f.part]; ok; part, ok = within[part] {
		if !slices.Contains(d.w.carries, part) {
			return true
		}
	}
	if slices.Contains(d.lost, single{f.within, f.of}) && (f.part != f.within || f.name != f.of) {
		return true
	}
	return f.part == Types && slices.Contains(d.lost, single{Templates, f.of + "." + f.attribute})
}

// names returns the things of which the writer lost a part.
func (d *design) names(part Part) (all []string) {
	for _, s := range d.lost {
		if s.part == part {
			all = append(all, s.name)
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
