package modelfile

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/internal/design/model"

	"github.com/sortkey/sortkey/attr"
)

// Write writes the model as readable YAML, which [Parse] reads back to the same
// model. It adds comments that name the sections. A pattern's raw request must
// be JSON.
func Write(w io.Writer, m *model.Model) error {
	p := &writer{m: m}
	p.model()
	if p.err != nil {
		return p.err
	}
	_, err := w.Write(p.out.Bytes())
	return err
}

type writer struct {
	m   *model.Model
	out bytes.Buffer
	err error
}

// line writes an indented line. Depth counts levels of two spaces.
func (p *writer) line(depth int, format string, args ...any) {
	p.out.WriteString(strings.Repeat("  ", depth))
	fmt.Fprintf(&p.out, format, args...)
	p.out.WriteByte('\n')
}

// text writes a member with text, unless that is empty.
func (p *writer) text(depth int, name, s string) {
	if s != "" {
		p.line(depth, "%s: %s", name, plainText(s))
	}
}

func (p *writer) section(comment string) {
	p.out.WriteByte('\n')
	for l := range strings.Lines(comment) {
		p.line(0, "# %s", strings.TrimSpace(l))
	}
}

func (p *writer) model() {
	m := p.m
	p.text(0, "name", m.Name)
	p.text(0, "about", m.About)
	if m.Seed != 0 {
		p.line(0, "seed: %d", m.Seed)
	}
	p.section("Tables, their keys and their indexes.")
	p.line(0, "tables:")
	for _, t := range m.Tables {
		p.table(t)
	}
	if len(m.Fields) > 0 {
		p.section("Fields in keys. Entities that name the same field share its values.")
		p.line(0, "fields:")
		for _, f := range m.Fields {
			p.line(1, "%s: %s", name(f.Name), fieldText(f))
		}
	}
	if len(m.Entities) > 0 {
		p.section("Entities: the templates of their attributes, samples, and the number of items to generate.")
		p.line(0, "entities:")
		for _, e := range m.Entities {
			p.entity(e)
		}
	}
	if len(m.Items) > 0 {
		p.section("Items that no entity describes.")
		p.line(0, "items:")
		for _, t := range m.Tables {
			p.items(t)
		}
	}
	if len(m.Patterns) > 0 {
		p.section("Access patterns and their expected results.")
		p.line(0, "patterns:")
		for _, q := range m.Patterns {
			p.pattern(q)
		}
	}
	p.allowances()
}

func (p *writer) table(t *model.Table) {
	p.line(1, "%s:", name(t.Name))
	p.line(2, "partition: %s", attributesText(t.Partition))
	if len(t.Sort) > 0 {
		p.line(2, "sort: %s", attributesText(t.Sort))
	}
	if len(t.Indexes) == 0 {
		return
	}
	p.line(2, "indexes:")
	for _, x := range t.Indexes {
		var parts []string
		if x.Local {
			parts = append(parts, "local: true")
		} else {
			parts = append(parts, "partition: "+attributesText(x.Partition))
		}
		if len(x.Sort) > 0 {
			parts = append(parts, "sort: "+attributesText(x.Sort))
		}
		switch x.Projection {
		case "KEYS_ONLY":
			parts = append(parts, "projection: keys")
		case "INCLUDE":
			parts = append(parts, "projection: "+flowTexts(x.Include))
		}
		p.line(3, "%s: {%s}", name(x.Name), strings.Join(parts, ", "))
	}
}

func attributesText(list []model.Attribute) string {
	one := func(a model.Attribute) string {
		if a.Kind == attr.String {
			return flowText(a.Name)
		}
		return fmt.Sprintf("{name: %s, type: %s}", flowText(a.Name), a.Kind)
	}
	if len(list) == 1 {
		return one(list[0])
	}
	parts := make([]string, len(list))
	for i, a := range list {
		parts[i] = one(a)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func fieldText(f *model.Field) string {
	var parts []string
	add := func(name, text string) { parts = append(parts, name+": "+text) }
	if f.Type.Name != "" {
		add("type", flowText(f.Type.String()))
	}
	if len(f.Values) > 0 {
		add("values", flowTexts(f.Values))
	}
	if f.Distinct > 0 {
		add("distinct", strconv.Itoa(f.Distinct))
	}
	switch d := f.Distribution; d.Name {
	case "", "uniform":
	case "zipf":
		add("distribution", "zipf("+strconv.FormatFloat(d.Skew, 'g', -1, 64)+")")
	default:
		add("distribution", d.Name)
	}
	if f.MaxSize > 0 || f.MinSize > 0 {
		add("size", fmt.Sprintf("%d..%d", f.MinSize, f.MaxSize))
	}
	if f.From != "" {
		add("from", flowText(f.From))
	}
	if f.To != "" {
		add("to", flowText(f.To))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func (p *writer) entity(e *model.Entity) {
	p.line(1, "%s:", name(e.Name))
	if e.Table != nil {
		p.text(2, "table", e.Table.Name)
	}
	p.text(2, "about", e.About)
	var own []*model.Field
	for _, f := range e.Fields {
		if !slices.Contains(p.m.Fields, f) {
			own = append(own, f)
		}
	}
	if len(own) > 0 {
		p.line(2, "fields:")
		for _, f := range own {
			p.line(3, "%s: %s", name(f.Name), fieldText(f))
		}
	}
	if list := explicitAttributes(e, own); len(list) > 0 {
		p.line(2, "attributes:")
		for _, t := range list {
			p.line(3, "%s: %s", name(t.Name), templateText(e, t))
		}
	}
	if len(e.Mutable) > 0 {
		p.line(2, "mutable: %s", flowTexts(e.Mutable))
	}
	if len(e.Samples) > 0 {
		p.line(2, "samples:")
		for _, s := range e.Samples {
			p.line(3, "- %s", sampleText(e, s))
		}
	}
	if e.Count > 0 {
		p.line(2, "count: %d", e.Count)
	}
	switch {
	case e.Reads > 0 && e.Writes > 0:
		p.line(2, "rates: {reads: %v, writes: %v}", e.Reads, e.Writes)
	case e.Reads > 0:
		p.line(2, "rates: {reads: %v}", e.Reads)
	case e.Writes > 0:
		p.line(2, "rates: {writes: %v}", e.Writes)
	}
}

// explicitAttributes returns the attributes of e except those at the end that
// its own fields imply.
func explicitAttributes(e *model.Entity, own []*model.Field) []*model.Template {
	all := e.Attributes
	used := map[string]bool{}
	for _, t := range all {
		if t.Template != nil && t.Template.String() != "{"+t.Name+"}" {
			for _, name := range t.Template.Components() {
				used[name] = true
			}
		}
	}
	end := len(all)
	for _, f := range slices.Backward(own) {
		if used[f.Name] || e.Attribute(f.Name) == nil {
			continue
		}
		made, err := fieldAttribute(e, f)
		if end == 0 || err != nil {
			return all
		}
		t := all[end-1]
		if t.Name != f.Name || t.Kind != made.Kind || len(t.When) > 0 || t.Template == nil ||
			t.Template.String() != made.Template.String() {
			break
		}
		end--
	}
	// A field in an earlier attribute does not imply an attribute.
	for _, t := range all[:end] {
		if t.Template == nil {
			continue
		}
		for _, name := range t.Template.Components() {
			if slices.ContainsFunc(all[end:], func(o *model.Template) bool { return o.Name == name }) {
				return all
			}
		}
	}
	return all[:end]
}

func templateText(e *model.Entity, t *model.Template) string {
	kind := attr.String
	if e.Table != nil {
		if k := e.Table.Kinds()[t.Name]; k != 0 {
			kind = k
		}
	}
	var parts []string
	if t.Template == nil {
		parts = append(parts, "value: "+valueText(t.Const))
	} else {
		parts = append(parts, "template: "+quote(t.Template.String()))
		if t.Kind != kind {
			parts = append(parts, "type: "+t.Kind.String())
		}
	}
	if len(t.When) > 0 {
		var when []string
		for _, f := range slices.Sorted(maps.Keys(t.When)) {
			when = append(when, name(f)+": "+flowTexts(t.When[f]))
		}
		parts = append(parts, "when: {"+strings.Join(when, ", ")+"}")
	}
	if t.Template != nil && len(parts) == 1 {
		return quote(t.Template.String())
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func sampleText(e *model.Entity, s *model.Sample) string {
	var parts []string
	done := map[string]bool{}
	add := func(field string) {
		if v, ok := s.Values[field]; ok && !done[field] {
			done[field] = true
			parts = append(parts, name(field)+": "+flowText(v))
		}
	}
	for _, f := range e.Fields {
		add(f.Name)
	}
	for _, field := range slices.Sorted(maps.Keys(s.Values)) {
		add(field)
	}
	for attribute, v := range s.Attributes.All() {
		parts = append(parts, name(string(attribute))+": "+valueText(v))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func (p *writer) items(t *model.Table) {
	first := true
	for _, r := range p.m.Items {
		if r.Table != t {
			continue
		}
		if first {
			p.line(1, "%s:", name(t.Name))
			first = false
		}
		p.line(2, "- %s", itemText(r.Item))
	}
}

func itemText(it attr.Item) string {
	var parts []string
	for attribute, v := range it.All() {
		parts = append(parts, name(string(attribute))+": "+valueText(v))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
