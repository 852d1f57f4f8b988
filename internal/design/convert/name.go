package convert

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/keys"
)

// names finds a name for each component of an attribute: the name of a
// component or attribute with the same values, the alias, the label before the
// component, or the name of the attribute.
func (s *shaper) names(
	a model.Attribute, pieces []piece, at []int, sparse, conditional bool,
) (names []string, columns [][]cell, ok bool) {
	var components []piece
	for _, p := range pieces {
		if p.parts != nil {
			components = append(components, p)
		}
	}

	alias := fieldName(s.g.aliases[a.Name])
	if generic().MatchString(alias) {
		alias = "" // Workbench fills in the attribute's name
	}
	fresh := false // the attribute has a new component
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
		// An attribute of only some items must not follow from fields that all
		// items have.
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
				wishes = append(wishes, s.attributeLike(p.typ, column, conditional))
			}
			own := ""
			if len(components) == 1 {
				own = fieldName(a.Name)
			}
			if p.label == "" {
				wishes = append(wishes, own)
			}
			if !slices.ContainsFunc(p.parts, func(v string) bool { return !isState(v) }) {
				wishes = append(wishes, "status")
			}
			name = s.pick(column, own, append(wishes, labelName(p), own, a.Name), names)
		}

		names = append(names, name)
		columns = append(columns, column)
	}
	return names, columns, true
}

// distinctive reports whether equal values are unlikely to be a coincidence: they are
// several, or a long one, or one of some length that repeats.
func distinctive(column []cell) bool {
	first, times := "", 0
	for _, v := range column {
		switch {
		case !v.ok:
		case len(v.text) >= 8 || first != "" && v.text != first:
			return true
		default:
			first = v.text
			times++
		}
	}
	return times > 1 && len(first) >= 4
}

// shared returns the component with the same values in all rows that have one.
// Short equal values can be a coincidence, unless the label matches as well.
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

// attributeLike returns the attribute that contains only the same values, or "". If the column has values of only
// some rows, by a condition, it gets those of the attribute in the others.
func (s *shaper) attributeLike(typ keys.Type, column []cell, conditional bool) string {
	if !distinctive(column) {
		return ""
	}
	for name := range s.rows[0].it.All() {
		n := string(name)
		if n != fieldName(n) || s.t.IsKey(n) {
			continue
		}
		filled := slices.Clone(column)
		for i, r := range s.rows {
			v := r.it.Get(n)
			scalar := v.Kind() == attr.String || v.Kind() == attr.Number
			if !column[i].ok && conditional && scalar && s.e.Field(n) == nil && decodes(typ, keyText(v)) {
				filled[i] = cell{keyText(v), true}
			}
		}
		if s.equals(n, filled) {
			copy(column, filled)
			return n
		}
	}
	return ""
}

// equals reports whether an attribute has exactly the values of a column.
func (s *shaper) equals(name string, column []cell) bool {
	some := false
	for i, r := range s.rows {
		v := r.it.Get(name)
		scalar := v.Kind() == attr.String || v.Kind() == attr.Number
		if v.Kind() == 0 && !column[i].ok {
			continue
		}
		if !scalar || !column[i].ok || keyText(v) != column[i].text {
			return false
		}
		some = true
	}
	return some
}

// pick returns the first candidate name that is not used otherwise. Own is the
// name of the attribute that consists only of the component.
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
				if v := r.it.Get(name); v.Kind() != 0 && keyText(v) != column[i].text {
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
		if usable(name) {
			return name
		}
	}
}

// whatWords are labels that name the value itself, not a thing with an id.
var whatWords = []string{
	"status", "state", "type", "category", "country", "city", "email", "date", "name", "title", "year", "month", "day",
	"region", "version", "path", "role", "sku", "tag", "score", "key", "time", "timestamp",
}

// labelName derives a name from the label before a component: orderId for
// ORDER#.
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
	if label == "" || slices.Contains(whatWords, strings.ToLower(label)) ||
		strings.HasSuffix(strings.ToLower(label), "id") {
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

// fieldName derives a valid field name from a text; it can be "".
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
