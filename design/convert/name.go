package convert

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/design"
	"github.com/sortkey/sortkey/keys"
)

// A shaper makes the entity of a group: a template for each key attribute, and
// fields for what is in them and beside them.
type shaper struct {
	im   *importer
	t    *design.Table
	g    *group
	e    *design.Entity
	rows []*row
	// columns are the values of the components so far, by row; "" and false
	// for a row that has none.
	columns map[string][]cell
	plain   bool // no pieces: each key attribute is one component
}

// A cell is a value of a component in its text form, if the row has one.
type cell struct {
	text string
	ok   bool
}

// share puts the fields that stand in templates among those of the model, so
// that entities share them by name, unless they have another type there.
func (s *shaper) share() {
	for i, f := range s.e.Fields {
		if _, component := s.columns[f.Name]; component {
			s.e.Fields[i] = s.im.share(f)
		}
	}
}

func (im *importer) share(f *design.Field) *design.Field {
	have := im.shared[f.Name]
	switch {
	case have == nil:
		im.shared[f.Name] = f
		im.m.Fields = append(im.m.Fields, f)
	case have.Type.String() == f.Type.String() && slices.Equal(have.Values, f.Values):
		return have
	}
	return f
}

// infer makes an entity of the items of a group. When templates of several
// pieces do not fit most of them, each key attribute is one component; nil when
// that does not fit either.
func (im *importer) infer(t *design.Table, g *group) *design.Entity {
	if len(g.rows) == 0 {
		return im.bare(t, g)
	}
	for _, plain := range []bool{false, true} {
		s := &shaper{im: im, t: t, g: g, rows: g.rows, columns: map[string][]cell{}, plain: plain, e: &design.Entity{Table: t}}
		if !s.keys() {
			continue
		}
		s.constants()
		s.fields()
		fit := 0
		for _, r := range g.rows {
			if sample(s.e, r.it) != nil {
				fit++
			}
		}
		if 2*fit > len(g.rows) {
			s.share()
			return s.e
		}
	}
	return nil
}

// bare is the entity of a group without items: nothing is known of its keys
// but their names.
func (im *importer) bare(t *design.Table, g *group) *design.Entity {
	s := &shaper{im: im, t: t, g: g, columns: map[string][]cell{}, e: &design.Entity{Table: t}}
	for _, a := range t.Keys() {
		name := s.free(fieldName(g.aliases[a.Name]), a.Name)
		s.columns[name] = nil
		s.attribute(a, []piece{{typ: s.kindType(a.Kind), parts: []string{}}}, []string{name})
	}
	for _, name := range g.attributes {
		if name == fieldName(name) && s.columns[name] == nil && s.e.Attribute(name) == nil && s.e.Field(name) == nil && !s.slips(name) {
			s.own(name, attr.String)
		}
	}
	s.share()
	im.lose(g.n, g.name, "it has no items that would tell what its keys look like, so their templates are bare", "write them, such as CUSTOMER#{customerId}")
	g.bare = true
	return s.e
}

func (s *shaper) slips(name string) bool { return len(name) > 3 && !plainExtra(s.e, name) }

func (s *shaper) kindType(k attr.Kind) keys.Type {
	if k == attr.Number {
		return keys.Type{Name: "number"}
	}
	return keys.Type{Name: "string"}
}

// keys makes the templates of key attributes, those of the table first. It
// reports false when one of the table's cannot be.
func (s *shaper) keys() bool {
	sort := map[string]bool{}
	list := s.t.Keys()
	for _, a := range s.t.Sort {
		sort[a.Name] = true
	}
	for _, x := range s.t.Indexes {
		for _, a := range x.Sort {
			sort[a.Name] = true
		}
		list = append(list, x.Keys()...)
	}
	for _, a := range list {
		if s.e.Attribute(a.Name) != nil {
			continue
		}
		if !s.key(a, sort[a.Name]) && isKey(s.t, a.Name) {
			return false
		}
	}
	return true
}

func (s *shaper) key(a design.Attribute, sort bool) bool {
	var values []string
	var at []int
	for i, r := range s.rows {
		if v := r.it.Get(a.Name); v.Kind() == a.Kind {
			values = append(values, text(v))
			at = append(at, i)
		}
	}
	if len(values) == 0 {
		return false
	}
	whole := []piece{{typ: s.kindType(a.Kind), parts: values}}
	attempts := [][]piece{whole}
	if a.Kind == attr.String && !s.plain {
		pieces := inferPieces(values, sort)
		// In an attribute with a name of its own, EMP-7 is the value; in PK, a
		// label and a value.
		if named := !generic.MatchString(a.Name); !named || pieces[0].parts != nil || strings.ContainsAny(pieces[0].literal, strong) || len(pieces) == 1 {
			attempts = [][]piece{pieces, whole}
		}
	}
	sparse := len(values) < len(s.rows)
	when := map[string][]string(nil)
	if sparse {
		when = s.when(at)
		sparse = when == nil
	}
	for _, pieces := range attempts {
		if sparse && !slices.ContainsFunc(pieces, func(p piece) bool { return p.parts != nil }) {
			continue // it would make the attribute of every item
		}
		names, columns, ok := s.names(a, pieces, at, sparse, when != nil)
		if !ok {
			continue
		}
		t, err := keys.Parse(source(pieces, names))
		if err != nil || !makes(t, values) {
			continue
		}
		for i, name := range names {
			if s.columns[name] == nil {
				s.columns[name] = columns[i]
			}
		}
		s.attribute(a, pieces, names)
		s.e.Attributes[len(s.e.Attributes)-1].When = when
		return true
	}
	return false
}

// generic are names of attributes that say nothing of what is in them.
var generic = regexp.MustCompile(`(?i)^((g|l)?si?\d*[_-]?)?(pk|sk|hash|range|partition|sort|key|id)?([_-]?(pk|sk|key|hash|range|value|attribute))?[_-]?\d*([_-]?(pk|sk))?$`)

// when finds the condition that tells the rows at some places from the others:
// a word that all items have, such as a status, and whose values are others
// there. It returns nil when there is none.
func (s *shaper) when(at []int) map[string][]string {
	for name, v := range s.rows[0].it.All() {
		n := string(name)
		if v.Kind() != attr.String || n != fieldName(n) || s.t.IsKey(n) {
			continue
		}
		values := map[bool][]string{}
		repeated, good := false, true
		for i, r := range s.rows {
			v := r.it.Get(n)
			if good = v.Kind() == attr.String && word.Match(v.Raw()) && len(v.Raw()) <= 40; !good {
				break
			}
			in := slices.Contains(at, i)
			if slices.Contains(values[in], text(v)) {
				repeated = true
			} else {
				values[in] = append(values[in], text(v))
			}
		}
		if !good || !repeated || len(values[true]) > 10 || slices.ContainsFunc(values[true], func(v string) bool { return slices.Contains(values[false], v) }) {
			continue
		}
		// The field must go by the name of its attribute.
		if f := s.e.Field(n); f != nil && (s.columns[n] == nil || !s.equals(n, s.columns[n])) {
			continue
		}
		return map[string][]string{n: values[true]}
	}
	return nil
}

// attribute adds the template of a key attribute and its fields.
func (s *shaper) attribute(a design.Attribute, pieces []piece, names []string) {
	src := source(pieces, names)
	t, err := keys.Parse(src)
	if err != nil {
		return
	}
	s.e.Attributes = append(s.e.Attributes, &design.Template{Name: a.Name, Kind: a.Kind, Template: t})
	for _, p := range t.Parts() {
		if p.Name == "" || s.e.Field(p.Name) != nil {
			continue
		}
		f := &design.Field{Name: p.Name, Distribution: design.Distribution{Name: "uniform"}}
		if p.Type.Name != "string" {
			f.Type = p.Type
		}
		s.e.Fields = append(s.e.Fields, f)
	}
}

// names finds a name for each component of an attribute: that of a component or
// an attribute with the same values, the alias, what the label before it says,
// or that of the attribute.
func (s *shaper) names(a design.Attribute, pieces []piece, at []int, sparse, conditional bool) (names []string, columns [][]cell, ok bool) {
	var components []piece
	for _, p := range pieces {
		if p.parts != nil {
			components = append(components, p)
		}
	}
	alias := fieldName(s.g.aliases[a.Name])
	if generic.MatchString(alias) {
		alias = "" // Workbench fills in the attribute's name
	}
	fresh := false // a component of its own
	for i, p := range components {
		column := make([]cell, len(s.rows))
		for k, part := range p.parts {
			v, err := p.typ.Decode(part)
			if err != nil {
				return nil, nil, false
			}
			column[at[k]] = cell{v, true}
		}
		lastOne := i == len(components)-1
		// What only some items have must not follow from what all have.
		mayShare := !sparse || fresh || !lastOne
		name := ""
		if mayShare {
			name = s.shared(p, column, names)
		}
		if name == "" {
			fresh = true
			var wishes []string
			if alias != "" && lastOne && !slices.Contains(names, alias) {
				wishes = append(wishes, alias)
			}
			if mayShare {
				same := s.attributeLike(column)
				if same == "" && conditional {
					same = s.attributeUnder(p.typ, column)
				}
				if same != "" {
					wishes = append(wishes, same)
				}
			}
			own := ""
			if len(components) == 1 {
				own = fieldName(a.Name)
			}
			if p.label == "" {
				wishes = append(wishes, own)
			}
			if at := slices.Index(calendar, lastOf(names)); at >= 0 && at+1 < len(calendar) && p.typ.Name == "int" && p.typ.Width == 2 {
				wishes = append(wishes, calendar[at+1])
			}
			name = s.pick(column, own, append(wishes, labelName(p), own, a.Name), names)
		}
		names = append(names, name)
		columns = append(columns, column)
	}
	return names, columns, true
}

// calendar are the parts of a date in keys that have them one by one; nothing
// follows the last.
var calendar = []string{"year", "month", "day", "hour", "minute", "second", ""}

func lastOf(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return names[len(names)-1]
}

// distinctive reports whether equal values are no coincidence.
func distinctive(column []cell) bool {
	first := ""
	for _, v := range column {
		switch {
		case !v.ok:
		case len(v.text) >= 4:
			return true
		case first == "":
			first = v.text
		case v.text != first:
			return true
		}
	}
	return false
}

// shared returns the component that has the same values in all rows with one.
// Short values that are the same once may be so by chance, unless the label says
// the same too.
func (s *shaper) shared(p piece, column []cell, taken []string) string {
	sure := distinctive(column)
	for _, f := range s.e.Fields {
		have := s.columns[f.Name]
		if have == nil || slices.Contains(taken, f.Name) || f.Type.String() != p.typ.String() {
			continue
		}
		equal := sure || f.Name == labelName(p)
		for i, v := range column {
			equal = equal && (!v.ok || have[i] == v)
		}
		if equal {
			return f.Name
		}
	}
	return ""
}

// attributeLike returns the attribute that holds the same values alone.
func (s *shaper) attributeLike(column []cell) string {
	if !distinctive(column) {
		return ""
	}
	for name, v := range s.rows[0].it.All() {
		n := string(name)
		if v.Kind() != attr.String && v.Kind() != attr.Number || n != fieldName(n) || s.t.IsKey(n) {
			continue
		}
		if s.equals(n, column) {
			return n
		}
	}
	return ""
}

// attributeUnder returns the attribute that holds the same values in the rows
// that have one, and others in the rest, which it adds to the column.
func (s *shaper) attributeUnder(typ keys.Type, column []cell) string {
	if !distinctive(column) {
		return ""
	}
	for name := range s.rows[0].it.All() {
		n := string(name)
		if n != fieldName(n) || s.t.IsKey(n) || s.e.Field(n) != nil {
			continue
		}
		filled := slices.Clone(column)
		good := true
		for i, r := range s.rows {
			v := r.it.Get(n)
			if v.Kind() == 0 && !column[i].ok {
				continue
			}
			good = good && v.Kind() == attr.String && decodes(typ, text(v)) && (!column[i].ok || column[i].text == text(v))
			if good {
				filled[i] = cell{text(v), true}
			}
		}
		if good && s.equals(n, filled) {
			copy(column, filled)
			return n
		}
	}
	return ""
}

// equals reports whether an attribute has the values of a column, and the rows
// without one have no such attribute.
func (s *shaper) equals(name string, column []cell) bool {
	some := false
	for i, r := range s.rows {
		v := r.it.Get(name)
		scalar := v.Kind() == attr.String || v.Kind() == attr.Number
		if v.Kind() == 0 && !column[i].ok {
			continue
		}
		if !scalar || !column[i].ok || text(v) != column[i].text {
			return false
		}
		some = true
	}
	return some
}

// pick returns the first wish that means nothing else yet. Own is the name of
// the attribute that the component makes alone.
func (s *shaper) pick(column []cell, own string, wishes, taken []string) string {
	usable := func(name string) bool {
		if name == "" || slices.Contains(taken, name) || s.columns[name] != nil || s.e.Field(name) != nil {
			return false
		}
		if name == own {
			return true
		}
		for i, r := range s.rows {
			if r.it.Get(name).Kind() != 0 && !s.t.IsKey(name) && !s.equals(name, column) {
				return false
			}
			if s.t.IsKey(name) && column[i].ok {
				if v := r.it.Get(name); v.Kind() != 0 && text(v) != column[i].text {
					return false
				}
			}
		}
		return true
	}
	for _, w := range wishes {
		if usable(w) {
			return w
		}
	}
	base := "key"
	for _, w := range wishes {
		if w = fieldName(w); w != "" {
			base = w
			break
		}
	}
	for i := 2; ; i++ {
		name := base + strconv.Itoa(i)
		component := slices.Contains(taken, base) || s.columns[base] != nil
		if i == 2 && !component && !strings.HasSuffix(base, "Key") && usable(base+"Key") {
			return base + "Key"
		}
		if usable(name) {
			return name
		}
	}
}

func (s *shaper) free(wishes ...string) string { return s.pick(nil, "", wishes, nil) }

// whatWords are labels that name what follows them rather than a thing that has an
// id.
var whatWords = []string{
	"status", "state", "type", "category", "country", "city", "email", "date", "name", "title", "year", "month", "day", "genre", "level",
	"region", "version", "path", "role", "phone", "zip", "sku", "isbn", "url", "slug", "tag", "color", "size", "price", "score", "rank", "key", "time", "timestamp",
}

// labelName makes a name of the label before a component: orderId for ORDER#.
func labelName(p piece) string {
	label := fieldName(lowerFirst(title(p.label)))
	if p.typ.Name == "path" {
		return "path"
	}
	switch p.typ.Name {
	case "date", "month", "year", "time", "millis", "micros", "nanos", "epoch", "epochms":
		name := p.typ.Name
		switch name {
		case "millis", "micros", "nanos", "epoch", "epochms":
			name = "time"
		}
		if label == "" || label == name {
			return name
		}
		if slices.Contains(whatWords, label) {
			return label
		}
		return label + title(name)
	}
	if label == "" || slices.Contains(whatWords, strings.ToLower(label)) || strings.HasSuffix(strings.ToLower(label), "id") {
		return label
	}
	return label + "Id"
}

func lowerFirst(s string) string {
	for i, r := range s {
		return string(unicode.ToLower(r)) + s[i+len(string(r)):]
	}
	return s
}

// fieldName makes a name that a template takes of any text, "" if nothing is
// left.
func fieldName(s string) string {
	var b strings.Builder
	raise := false
	for _, r := range s {
		switch {
		case r == '_' || unicode.IsLetter(r), b.Len() > 0 && (unicode.IsDigit(r) || r == '-' || r == '.'):
			if raise && b.Len() > 0 {
				r = unicode.ToUpper(r)
			}
			b.WriteRune(r)
			raise = false
		default:
			raise = true
		}
	}
	if b.Len() > 60 {
		return ""
	}
	return b.String()
}

// constants adds the attributes that are equal in all items because they tell
// the kind, and those that hold a component alone.
func (s *shaper) constants() {
	for name, v := range s.rows[0].it.All() {
		n := string(name)
		if s.e.Attribute(n) != nil || v.Kind() != attr.String && v.Kind() != attr.Number {
			continue
		}
		if n == s.g.constant || slices.Contains(kindAttributes, n) && len(s.rows) > 1 {
			equal := true
			for _, r := range s.rows {
				equal = equal && attr.Equal(r.it.Get(n), v)
			}
			if equal {
				s.e.Attributes = append(s.e.Attributes, &design.Template{Name: n, Kind: v.Kind(), Const: v})
				continue
			}
		}
		f := s.e.Field(n)
		if f == nil || s.columns[n] == nil || !s.equals(n, s.columns[n]) {
			if f = s.holds(n); f == nil {
				continue
			}
		}
		typ := f.Type
		if typ.Name == "" {
			typ.Name = "string"
		}
		if v.Kind() == attr.Number {
			typ = keys.Type{Name: "number"}
		}
		a := design.Attribute{Name: n, Kind: v.Kind()}
		src := []piece{{typ: typ, parts: []string{}}}
		t, err := keys.Parse(source(src, []string{f.Name}))
		if err != nil {
			continue
		}
		fits := true
		for _, r := range s.rows {
			w := r.it.Get(n)
			fits = fits && (w.Kind() == 0 || w.Kind() == v.Kind() && makes(t, []string{text(w)}))
		}
		if fits {
			s.attribute(a, src, []string{f.Name})
		}
	}
}

// holds returns the field whose value the attribute has, under another name.
func (s *shaper) holds(name string) *design.Field {
	for _, f := range s.e.Fields {
		if c := s.columns[f.Name]; c != nil && strings.EqualFold(f.Name, name) && s.equals(name, c) {
			return f
		}
	}
	return nil
}

// fields declares the attributes that are strings or numbers in all items that
// have them.
func (s *shaper) fields() {
	kinds := map[string]attr.Kind{}
	var order []string
	for _, r := range s.rows {
		for name, v := range r.it.All() {
			n := string(name)
			k, seen := kinds[n]
			if !seen {
				order = append(order, n)
				kinds[n] = v.Kind()
			} else if k != v.Kind() {
				kinds[n] = attr.Map // of several kinds: none
			}
		}
	}
	for _, n := range order {
		if k := kinds[n]; (k == attr.String || k == attr.Number) && s.e.Attribute(n) == nil && s.e.Field(n) == nil && n == fieldName(n) && !s.t.IsKey(n) {
			s.own(n, k)
		}
	}
}

// own adds a field that is an attribute by itself.
func (s *shaper) own(name string, kind attr.Kind) {
	f := &design.Field{Name: name, Distribution: design.Distribution{Name: "uniform"}}
	if kind == attr.Number {
		f.Type = keys.Type{Name: "number"}
	}
	t, err := keys.ParseWith("{"+name+"}", map[string]keys.Type{name: f.Type})
	if err != nil {
		return
	}
	s.e.Fields = append(s.e.Fields, f)
	s.e.Attributes = append(s.e.Attributes, &design.Template{Name: name, Kind: kind, Template: t})
}
