package modelfile

import (
	"errors"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/internal/design/model"

	"go.yaml.in/yaml/v4"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keys"
)

// Load reads a model from a file. It returns [Errors] for an invalid model.
func Load(path string) (*model.Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return nil, err
	}
	return Parse(path, data)
}

// Parse reads a model from YAML or JSON. File is the file name for places. For
// an invalid model it returns [Errors].
func Parse(file string, data []byte) (*model.Model, error) {
	p := &parser{reader: reader{file: file}, m: &model.Model{}}
	if root := p.document(data); root != nil {
		p.model(root)
	}
	if len(p.errs) > 0 {
		p.errs.Sort()
		return nil, p.errs
	}
	return p.m, nil
}

// A parser builds a model from nodes. It leaves out invalid parts and checks
// the rest.
type parser struct {
	reader
	m        *model.Model
	declared map[*model.Field]bool // fields that have a type of their own
}

var (
	modelName    = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	notModelName = regexp.MustCompile(`[^a-z0-9]+`)
)

func (p *parser) model(root *yaml.Node) {
	m := p.m
	m.Pos = p.pos(root)
	top := p.object(
		root, "the model", "name", "about", "seed", "tables", "fields", "entities", "items", "patterns", "allow",
		"$schema",
	)
	const addName = "begin with a line such as name: task-management"
	if n := top["name"]; n != nil {
		var ok bool
		m.Name, ok = p.text(n, "the name")
		switch {
		case ok && m.Name == "":
			p.fail(n, addName, "the model has no name")
		case ok && !modelName.MatchString(m.Name):
			like := strings.Trim(notModelName.ReplaceAllString(strings.ToLower(m.Name), "-"), "-")
			if len(like) > 60 || !modelName.MatchString(like) {
				like = "task-management"
			}
			p.fail(
				n, "such as "+like, "the name of a model must be lower-case words joined by hyphens, not %s",
				clip(m.Name),
			)
		}
	} else if root.Kind == yaml.MappingNode {
		p.fail(root, addName, "the model has no name")
	}
	if n := top["about"]; n != nil {
		m.About, _ = p.text(n, "about")
	}
	if n := top["seed"]; n != nil {
		var err error
		if at := p.deref(n); at != nil {
			if m.Seed, err = strconv.ParseUint(at.Value, 10, 64); err != nil {
				p.fail(
					n, "", "the seed must be a whole number from 0 to %d, not %q", uint64(math.MaxUint64),
					clip(at.Value),
				)
			}
		}
	}
	p.tables(top["tables"], root)
	p.declared = map[*model.Field]bool{}
	m.Fields = p.fields(top["fields"])
	p.entities(top["entities"])
	p.checkFields()
	p.items(top["items"])
	p.patterns(top["patterns"])
	p.allowances(top["allow"])
}

// present reports whether n exists and is not empty.
func (p *parser) present(n *yaml.Node) bool { return n != nil && !empty(n) }

func (p *parser) tables(n, root *yaml.Node) {
	if d := p.deref(n); d == nil || empty(d) || d.Kind == yaml.MappingNode && len(d.Content) == 0 {
		if root.Kind == yaml.MappingNode {
			p.fail(root, "add tables: {Name: {partition: PK, sort: SK}}", "the model has no tables")
		}
		return
	}
	for _, m := range p.members(n, "tables") {
		if t := p.table(m); t != nil {
			p.m.Tables = append(p.m.Tables, t)
		}
	}
}

var tableName = regexp.MustCompile(`^[A-Za-z0-9_.-]{3,255}$`)

func (p *parser) table(m member) *model.Table {
	t := &model.Table{Pos: p.pos(m.key), Name: m.name}
	if !tableName.MatchString(m.name) {
		p.fail(m.key, "3 to 255 letters, digits, and _ - .", "%s is not a valid table name", clip(m.name))
	}
	o := p.object(m.value, "table "+m.name, "partition", "sort", "indexes")
	if o["partition"] == nil {
		p.fail(m.key, "add partition: PK", "table %s has no partition key", m.name)
	} else {
		t.Partition = p.keyAttributes(o["partition"], "the partition key", 1)
	}
	if o["sort"] != nil {
		t.Sort = p.keyAttributes(o["sort"], "the sort key", 1)
	}
	if p.present(o["indexes"]) {
		for _, x := range p.members(o["indexes"], "indexes") {
			t.Indexes = append(t.Indexes, p.index(t, x))
		}
	}
	p.checkKinds(t)
	return t
}

func (p *parser) index(t *model.Table, m member) *model.Index {
	x := &model.Index{Pos: p.pos(m.key), Name: m.name, Projection: "ALL"}
	what := "index " + m.name
	if !tableName.MatchString(m.name) {
		p.fail(m.key, "3 to 255 letters, digits, and _ - .", "%s is not a valid index name", clip(m.name))
	}
	o := p.object(m.value, what, "partition", "sort", "projection", "local")
	if o["local"] != nil {
		x.Local = p.flag(o["local"], "local")
	}
	most := 4
	if x.Local {
		most = 1
	}
	switch {
	case o["partition"] != nil:
		x.Partition = p.keyAttributes(o["partition"], "the partition key", most)
		if x.Local && len(x.Partition) == 1 && len(t.Partition) == 1 && x.Partition[0] != t.Partition[0] {
			p.fail(
				o["partition"], "leave it out",
				"the local index %s must have the partition key of its table, %s, not %s", m.name, t.Partition[0].Name,
				x.Partition[0].Name,
			)
		}
	case x.Local:
		x.Partition = t.Partition
	default:
		p.fail(m.key, "add partition: GSI1PK", "index %s has no partition key", m.name)
	}
	if o["sort"] != nil {
		x.Sort = p.keyAttributes(o["sort"], "the sort key", most)
	} else if x.Local {
		p.fail(m.key, "add sort: …", "the local index %s has no sort key", m.name)
	}
	if x.Local && len(t.Sort) == 0 {
		p.fail(m.key, "", "a local index needs a table with a sort key, but %s has none", t.Name)
	}
	if n := o["projection"]; n != nil {
		if d := p.deref(n); d != nil && d.Kind == yaml.SequenceNode {
			x.Projection, x.Include = "INCLUDE", p.texts(n, "projection")
		} else {
			word := p.choice(n, "projection", "all", "keys")
			x.Projection = map[string]string{"all": "ALL", "keys": "KEYS_ONLY", "": "ALL"}[word]
		}
	}
	return x
}

// keyAttributes reads PK, {name: PK, type: S}, or a list of those.
func (p *parser) keyAttributes(n *yaml.Node, what string, most int) []model.Attribute {
	var all []model.Attribute
	for _, e := range p.list(n, what) {
		if e = p.deref(e); e == nil {
			continue
		}
		a := model.Attribute{Kind: attr.String}
		if e.Kind == yaml.MappingNode {
			o := p.object(e, what, "name", "type")
			if o["name"] == nil {
				p.fail(e, "write {name: PK, type: S}", "%s has no name", what)
				continue
			}
			a.Name, _ = p.text(o["name"], "the name of "+what)
			if o["type"] != nil {
				a.Kind = p.keyKind(o["type"])
			}
		} else {
			a.Name, _ = p.text(e, what)
		}
		if len(a.Name) > 255 {
			p.fail(e, "", "the name of %s has more than 255 bytes", what)
		}
		if a.Name != "" {
			all = append(all, a)
		}
	}
	if len(all) > most {
		hint := ""
		if most == 1 {
			hint = "only global indexes can have keys of several attributes"
		}
		p.fail(n, hint, "%s has %d attributes, and the limit is %d", what, len(all), most)
		all = all[:most]
	}
	return all
}

func (p *parser) keyKind(n *yaml.Node) attr.Kind {
	word := p.choice(n, "the type of a key attribute", "S", "N", "B")
	if kind, ok := attr.ParseKind(word); ok {
		return kind
	}
	return attr.String
}

// checkKinds checks that each key attribute of a table has the same type in all
// keys, and that CreateTable would accept the table.
func (p *parser) checkKinds(t *model.Table) {
	before := len(p.errs)
	kinds := map[string]attr.Kind{}
	look := func(pos model.Pos, what string, list []model.Attribute) {
		for _, a := range list {
			if k, ok := kinds[a.Name]; ok && k != a.Kind {
				p.failAt(
					pos, "write {name: "+a.Name+", type: "+k.String()+"}",
					"%s has %s with type %s, but another key has it with type %s", what, a.Name, a.Kind, k,
				)
			} else {
				kinds[a.Name] = a.Kind
			}
		}
	}
	look(t.Pos, "table "+t.Name, t.Partition)
	look(t.Pos, "table "+t.Name, t.Sort)
	for _, x := range t.Indexes {
		look(x.Pos, "index "+x.Name, x.Partition)
		look(x.Pos, "index "+x.Name, x.Sort)
	}
	if len(p.errs) > before || len(t.Partition) == 0 {
		return
	}
	if err := t.Definition().Check(); err != nil {
		p.failAt(t.Pos, "", "cannot create table %s: %v", t.Name, err)
	}
}

func (p *parser) fields(n *yaml.Node) []*model.Field {
	if !p.present(n) {
		return nil
	}
	var all []*model.Field
	for _, m := range p.members(n, "fields") {
		if f := p.field(m); f != nil {
			all = append(all, f)
		}
	}
	return all
}

var sizeRange = regexp.MustCompile(`^(\d{1,6})(?:\s*\.\.\s*(\d{1,6}))?$`)

const maxDistinct = 100_000_000

// field reads {type: …, distinct: …}, a type, or nothing.
func (p *parser) field(m member) *model.Field {
	f := &model.Field{Pos: p.pos(m.key), Name: m.name, Distribution: model.Distribution{Name: "uniform"}}
	if _, err := keys.Parse("{" + m.name + "}"); err != nil || strings.Contains(m.name, ":") {
		p.fail(
			m.key, "names consist of letters, digits, _, - and ., and begin with a letter or _",
			"%s is not a valid field name", clip(m.name),
		)
		return nil
	}
	v := p.deref(m.value)
	if v == nil || empty(v) {
		return f
	}
	if v.Kind == yaml.ScalarNode {
		p.fieldType(f, v)
		return f
	}
	o := p.object(v, "field "+m.name, "type", "values", "distinct", "distribution", "size", "from", "to")
	if o["type"] != nil {
		p.fieldType(f, o["type"])
	}
	if n := o["values"]; n != nil {
		if f.Values = p.texts(n, "values"); len(f.Values) == 0 {
			p.fail(n, "", "field %s has no values to choose from", m.name)
		}
	}
	if n := o["distinct"]; n != nil {
		f.Distinct = p.integer(n, "distinct", 1, maxDistinct)
		if len(f.Values) > 0 {
			p.fail(n, "keep one of them", "field %s has both values and distinct", m.name)
		}
	}
	if n := o["distribution"]; n != nil {
		f.Distribution = p.distribution(n)
	}
	if n := o["size"]; n != nil {
		p.size(f, n)
	}
	for name, to := range map[string]*string{"from": &f.From, "to": &f.To} {
		if o[name] != nil {
			*to, _ = p.text(o[name], name)
		}
	}
	return f
}

// checkFields checks values and bounds against the types of fields.
func (p *parser) checkFields() {
	done := map[*model.Field]bool{}
	check := func(list []*model.Field) {
		for _, f := range list {
			if !done[f] {
				p.checkField(f)
			}
			done[f] = true
		}
	}
	check(p.m.Fields)
	for _, e := range p.m.Entities {
		check(e.Fields)
	}
}

func (p *parser) checkField(f *model.Field) {
	if f.Type.Name == "string" && f.Type.Width > 0 {
		f.MinSize, f.MaxSize = f.Type.Width, f.Type.Width
	}
	texts := slices.Clone(f.Values)
	switch f.Type.Name {
	case "int", "signed", "decimal", "number": // bounds of a time can also be a month or a year
		for _, bound := range []string{f.From, f.To} {
			if bound != "" {
				texts = append(texts, bound)
			}
		}
	}
	for _, text := range texts {
		if _, err := f.Type.Encode(text); err != nil {
			p.failKey(f.Pos, "field "+f.Name, err)
			return
		}
	}
	if _, err := f.Bounds(); err != nil {
		p.failAt(f.Pos, "", "field %s: %v", f.Name, err)
	}
}

func (p *parser) fieldType(f *model.Field, n *yaml.Node) {
	s, ok := p.text(n, "the type of field "+f.Name)
	if !ok {
		return
	}
	t, err := keys.ParseType(s)
	if err != nil {
		name, _, _ := strings.Cut(s, "(")
		if strings.Contains(s, "(") && !strings.Contains(s, ")") {
			p.fail(
				n, "inside braces, put a type with a comma in quotes",
				"field %s: the type %s has no closing parenthesis", f.Name, clip(s),
			)
		} else if slices.Contains(keys.TypeNames(), name) {
			p.failKey(p.pos(n), "field "+f.Name, err)
		} else {
			p.fail(n, text.DidYouMean(name, keys.TypeNames()), "field %s: unknown type %s", f.Name, clip(name))
		}
		return
	}
	f.Type = t
	p.declared[f] = true
}

func (p *parser) distribution(n *yaml.Node) model.Distribution {
	s, ok := p.text(n, "distribution")
	d := model.Distribution{Name: s}
	switch {
	case !ok || s == "uniform" || s == "sequence":
		return d
	case s == "zipf":
		return model.Distribution{Name: "zipf", Skew: 1.2}
	case strings.HasPrefix(s, "zipf(") && strings.HasSuffix(s, ")"):
		skew, err := strconv.ParseFloat(s[len("zipf("):len(s)-1], 64)
		d = model.Distribution{Name: "zipf", Skew: skew}
		if err != nil || !(skew > 0 && skew <= 8) {
			p.fail(n, "such as zipf(1.2)", "the skew of a zipf distribution must be above 0 and at most 8")
			d.Skew = 1.2
		}
		return d
	}
	p.fail(n, text.DidYouMean(s, []string{"uniform", "zipf(1.2)", "sequence"}), "unknown distribution %s", clip(s))
	return model.Distribution{Name: "uniform"}
}

func (p *parser) size(f *model.Field, n *yaml.Node) {
	s, ok := p.text(n, "size")
	if !ok {
		return
	}
	m := sizeRange.FindStringSubmatch(s)
	if m == nil {
		p.fail(n, "write bytes, such as 20 or 20..200", "invalid size %[2]s of field %[1]s", f.Name, clip(s))
		return
	}
	at := func(text string) int {
		return p.integer(
			&yaml.Node{Kind: yaml.ScalarNode, Line: n.Line, Column: n.Column, Value: text}, "size", 0, 400<<10,
		)
	}
	f.MinSize = at(m[1])
	if f.MaxSize = f.MinSize; m[2] != "" {
		f.MaxSize = at(m[2])
	}
	if f.MaxSize < f.MinSize {
		p.fail(n, "", "the first size of field %s is larger than the second", f.Name)
	}
}

// failKey adds an error of package keys.
func (p *parser) failKey(pos model.Pos, what string, err error) {
	if e, ok := errors.AsType[*keys.Error](err); ok {
		if e.Component != "" && !strings.HasSuffix(what, " "+e.Component) {
			what += ", component " + e.Component
		}
		p.failAt(pos, e.Advice, "%s: %s", what, e.Msg)
		return
	}
	p.failAt(pos, "", "%s: %v", what, err)
}

// similar returns the known name that differs from name by one typing error, or
// "". Names that differ only in digits, such as line1 and line2, are not
// similar.
func similar(name string, known []string) string {
	bare := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return -1
			}
			return r
		}, s)
	}
	for _, k := range known {
		if len(name) > 3 && bare(name) != bare(k) && (text.Distance(name, k) == 1 || strings.EqualFold(name, k)) {
			return k
		}
	}
	return ""
}
