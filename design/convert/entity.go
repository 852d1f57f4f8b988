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

// entities makes entities of the items of a table, and leaves those raw that
// fit none.
func (im *importer) entities(t *design.Table) {
	p := im.pool(t)
	if p.over > 0 {
		im.add(Loss{
			What: "items of table " + t.Name, Why: counted(p.over, "item") + " beyond the first " + strconv.Itoa(max(im.o.Items, 0)),
			Hint: "--items N takes more",
		})
	}
	join(t, p)
	var made []*design.Entity
	for _, g := range p.groups {
		for _, part := range part(t, g) {
			if e := im.settle(t, part); e != nil {
				made = append(made, e)
			}
		}
	}
	var rest []*row
	for _, r := range p.rows {
		if r.group != nil {
			continue
		}
		if e := im.m.Classify(t, r.it); e != nil && slices.Contains(made, e) && telling(e) {
			if s := sample(e, r.it); s != nil {
				e.Samples = append(e.Samples, s)
				continue
			}
		}
		rest = append(rest, r)
	}
	for _, g := range groups(t, rest) {
		im.settle(t, g)
	}
}

// join puts items that nothing says the kind of into the group whose keys have
// the same words, if there is one such group.
func join(t *design.Table, p *pool) {
	owner := map[string]*group{}
	for _, g := range p.groups {
		for _, r := range g.rows {
			shape := shapes(t, r)
			if other, ok := owner[shape]; ok && other != g {
				owner[shape] = nil
			} else {
				owner[shape] = g
			}
		}
	}
	for _, r := range p.rows {
		if shape := shapes(t, r); r.group == nil && strings.Trim(shape, "*\x00") != "" && owner[shape] != nil {
			r.group = owner[shape]
			r.group.rows = append(r.group.rows, r)
		}
	}
}

// part takes a group apart whose keys have different words: a facet may hold a
// thing and all that belongs to it.
func part(t *design.Table, g *group) []*group {
	parts := groupBy(g.rows, func(r *row) string { return shapes(t, r) })
	if g.entity != nil || len(parts) < 2 || len(parts) > min(mostKinds, 1+2*len(g.rows)/3) ||
		slices.ContainsFunc(parts, func(one *group) bool { return strings.Trim(one.name, "*\x00") == "" }) {
		return []*group{g}
	}
	bare := false
	for _, one := range parts {
		name, _ := shapeName(one.name, t.Name)
		keys := strings.Split(one.name, "\x00")
		if len(keys) > 2 && !strings.Contains(keys[1], "*") && !bare {
			name, bare = "", true // the thing itself
		}
		one.aliases, one.attributes, one.n = g.aliases, g.attributes, g.n
		one.about = g.about
		one.name = strings.TrimSpace(g.name + " " + name)
		if name == g.name {
			one.name = name
		}
	}
	return parts
}

// shapes are the shapes of the keys of an item.
func shapes(t *design.Table, r *row) string {
	var parts []string
	for _, a := range t.Keys() {
		if a.Kind == attr.String {
			parts = append(parts, shape(text(r.it.Get(a.Name))))
		}
	}
	return strings.Join(parts, "\x00") + "\x00"
}

// settle makes the entity of a group, with the items that fit it as samples.
// The others are raw.
func (im *importer) settle(t *design.Table, g *group) *design.Entity {
	e := g.entity
	if e == nil {
		e = im.infer(t, g)
	}
	if e == nil {
		im.raw(t, g.rows)
		return nil
	}
	e.Name = im.entityName(g.name, g.long, t)
	if e.About == "" {
		e.About = g.about
	}
	im.m.Entities = append(im.m.Entities, e)
	if len(g.rows) == 0 {
		im.invent(t, e, g)
	}
	var unfit []*row
	for _, r := range g.rows {
		if s := sample(e, r.it); s != nil {
			e.Samples = append(e.Samples, s)
		} else {
			unfit = append(unfit, r)
		}
	}
	if len(unfit) > 0 {
		im.lose(unfit[0].n, counted(len(unfit), "item")+" of "+e.Name, "the templates of the entity do not make them, so they are raw items of table "+t.Name, "look at their keys, and at attributes whose names differ in one letter")
		im.raw(t, unfit)
	}
	return e
}

func (im *importer) raw(t *design.Table, rows []*row) {
	for _, r := range rows {
		im.m.Items = append(im.m.Items, &design.RawItem{Table: t, Item: r.it})
	}
}

// telling reports whether the keys of e have something of their own: literal
// text.
func telling(e *design.Entity) bool {
	return slices.ContainsFunc(e.Table.Keys(), func(a design.Attribute) bool {
		t := e.Attribute(a.Name)
		return t != nil && (t.Template == nil || slices.ContainsFunc(t.Template.Parts(), func(p keys.Part) bool { return p.Literal != "" }))
	})
}

// sample takes an item apart into the values of fields and what is left of it.
// It returns nil when the entity does not make exactly this item.
func sample(e *design.Entity, it attr.Item) *design.Sample {
	s := &design.Sample{Values: map[string]string{}}
	var extra attr.Builder
	for name, v := range it.All() {
		t := e.Attribute(string(name))
		if t != nil && t.Template == nil && attr.Equal(t.Const, v) || t != nil && v.Kind() == t.Kind && take(s.Values, t, v) {
			continue
		}
		if !plainExtra(e, string(name)) {
			return nil
		}
		extra.AddBytes(name, v)
	}
	s.Attributes = extra.Item()
	made, err := e.Item(s.Values)
	if err != nil {
		return nil
	}
	var b attr.Builder
	for name, v := range made.All() {
		b.AddBytes(name, v)
	}
	for name, v := range s.Attributes.All() {
		b.AddBytes(name, v)
	}
	if !b.Item().Equal(it) {
		return nil
	}
	return s
}

// take adds the values that a template finds, unless they are others than those
// there are.
func take(values map[string]string, t *design.Template, v attr.Value) bool {
	if t.Template == nil {
		return false
	}
	found, ok := t.Template.Match(text(v))
	if !ok {
		return false
	}
	for name, f := range found {
		if have, ok := values[name]; ok && have != f {
			return false
		}
	}
	for name, f := range found {
		values[name] = f
	}
	return true
}

// text is what a template makes of the value of a key.
func text(v attr.Value) string {
	if v.Kind() == attr.Number {
		return string(v.AppendNumber(nil))
	}
	return string(v.Raw())
}

// plainExtra reports whether a sample may have an attribute of that name beside
// the fields: one that looks like a slip is refused by the model file.
func plainExtra(e *design.Entity, name string) bool {
	if e.Field(name) != nil {
		return false
	}
	if e.Attribute(name) != nil {
		return true
	}
	for _, f := range e.Fields {
		if slip(name, f.Name) {
			return false
		}
	}
	for _, t := range e.Attributes {
		if slip(name, t.Name) {
			return false
		}
	}
	return true
}

// slip reports whether two names differ by one byte inserted, deleted, replaced
// or swapped with its neighbour, or by case.
func slip(a, b string) bool {
	if strings.EqualFold(a, b) {
		return true
	}
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return len(a) <= 1 && len(b) <= 1 || len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
}

// kindAttributes are names of the attribute that often tells the kind of an
// item.
var kindAttributes = []string{
	"_type", "__edb_e__", "__typename", "entityType", "EntityType", "entity_type", "ENTITY_TYPE", "_et", "entity", "Entity",
	"type", "Type", "TYPE", "itemType", "recordType", "kind", "Kind",
}

// mostKinds is how many groups the items of a table may fall into. More are no
// kinds.
const mostKinds = 40

// groups sorts items by what kind they seem to be: by the attribute that says
// so, or by the words in their keys.
func groups(t *design.Table, rows []*row) []*group {
	if len(rows) == 0 {
		return nil
	}
	for _, name := range kindAttributes {
		if isKey(t, name) {
			continue
		}
		g := groupBy(rows, func(r *row) string {
			if v := r.it.Get(name); v.Kind() == attr.String && len(v.Raw()) < 50 {
				return string(v.Raw())
			}
			return ""
		})
		if len(g) > 0 && len(g) <= min(mostKinds, 1+len(rows)/2) {
			for _, one := range g {
				one.constant = name
			}
			return g
		}
	}
	list := t.Keys()
	g := groupBy(rows, func(r *row) string { return shapes(t, r) })
	if most := min(mostKinds, 6+2*len(rows)/3); len(g) > most {
		// Words that are values make too many.
		if g = groupBy(rows, func(r *row) string { return shape(text(r.it.Get(list[0].Name))) + "\x00" }); len(g) > most {
			g = groupBy(rows, func(*row) string { return "\x00" })
		}
	}
	for _, one := range g {
		one.name, one.long = shapeName(one.name, t.Name)
	}
	return g
}

// groupBy returns groups in the order of their first item, none when an item
// has no kind.
func groupBy(rows []*row, kind func(*row) string) (all []*group) {
	byName := map[string]*group{}
	for _, r := range rows {
		k := kind(r)
		if k == "" {
			return nil
		}
		g := byName[k]
		if g == nil {
			g = &group{name: k}
			byName[k] = g
			all = append(all, g)
		}
		g.rows = append(g.rows, r)
	}
	return all
}

var labels = regexp.MustCompile(`^[$@]?\pL[\pL_ -]*$`)

// shape returns the words of a key that stand where labels do, with * for the
// values between them.
func shape(key string) string {
	parts := strings.FieldsFunc(key, func(r rune) bool { return strings.ContainsRune(strong, r) })
	if len(parts) == 1 && !strings.ContainsAny(key, strong) {
		head, _, ok := strings.Cut(key, ":")
		if !ok {
			head, _, ok = strings.Cut(key, "_")
		}
		switch {
		case ok && alphabet.MatchString(head):
			return head + " *"
		case upper.MatchString(key) && !ok:
			return key
		}
		return "*"
	}
	label := true
	// In capitals when the first is; the parts of a path are no labels.
	capitals := strings.IndexAny(key, strong) == strings.IndexByte(key, '/') || len(parts) > 0 && upper.MatchString(parts[0])
	for i, p := range parts {
		if !label || !labels.MatchString(p) || capitals && !upper.MatchString(p) {
			parts[i], label = "*", true
			continue
		}
		label = false
	}
	return strings.Join(slices.Compact(parts), " ")
}

// shapeName makes the name of an entity of the shapes of its keys, and a longer
// one.
func shapeName(shapes, table string) (short, long string) {
	var last, first string
	for i, s := range strings.Split(strings.TrimSuffix(shapes, "\x00"), "\x00") {
		var words []string
		values := false
		for p := range strings.FieldsSeq(s) {
			if p == "*" {
				values = true
			} else {
				words = append(words, title(p))
			}
		}
		if i == 0 {
			if len(words) > 0 {
				first = words[len(words)-1]
			}
			continue
		}
		if len(words) > 0 && (values || first == "") {
			last = strings.Join(words, "")
		} else if len(words) > 0 && !slices.Contains([]string{"Profile", "Metadata", "Meta", "Info", "Details", "Detail", "A", "Root", "Main", "Data", "Item", "Header", first}, words[0]) {
			last = first + words[0]
		}
	}
	switch {
	case last != "":
		return last, first + last
	case first != "":
		return first, ""
	}
	return table, ""
}

// title writes a word as names of entities are: Order for ORDER.
func title(s string) string {
	s = strings.TrimLeft(s, "$@_")
	var b strings.Builder
	start := true
	for i, r := range s {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			start = true
			continue
		case start:
			r = unicode.ToUpper(r)
		case strings.ToUpper(s[:i+1]) == s[:i+1]:
			r = unicode.ToLower(r)
		}
		start = false
		b.WriteRune(r)
	}
	return b.String()
}

var notName = regexp.MustCompile(`[^\pL\pN_ .-]+`)

// entityName makes a name that no other entity has.
func (im *importer) entityName(name, long string, t *design.Table) string {
	if long != "" && im.m.Entity(name) != nil && im.m.Entity(name).Table == t && im.m.Entity(long) == nil {
		name = long
	}
	name = strings.Join(strings.Fields(notName.ReplaceAllString(name, " ")), " ")
	if name == "" || !unicode.IsLetter([]rune(name)[0]) && name[0] != '_' {
		name = "Item" + name
	}
	if r := []rune(name); len(r) > 80 {
		name = strings.TrimSpace(string(r[:80]))
	}
	of := " of " + notName.ReplaceAllString(t.Name, "_")
	candidates := []string{name}
	if len(im.m.Tables) > 1 {
		candidates = append(candidates, name+of)
	}
	if long != "" {
		candidates = append(candidates, long, long+of)
	}
	for _, c := range candidates {
		if im.m.Entity(c) == nil {
			return c
		}
	}
	for i := 2; ; i++ {
		if other := name + strconv.Itoa(i); im.m.Entity(other) == nil {
			return other
		}
	}
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
