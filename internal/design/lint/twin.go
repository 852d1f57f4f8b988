package lint

import "github.com/sortkey/sortkey/internal/design/lint/rule"

// A spelling is a text that somebody wrote for a component.
type spelling struct {
	rule.Component
	value rule.Written
	q     *rule.Query // the pattern that asks for it, or nil
}

// spellings returns what people wrote in the model for the text components of
// all entities.
func spellings(p *rule.Pass) (all []spelling) {
	for _, s := range p.Slots {
		for _, c := range s.Components() {
			if rule.Textual(c.Type) {
				for _, w := range c.Written() {
					all = append(all, spelling{c, w, nil})
				}
			}
		}
	}
	return all
}

// A twin is a pair of spellings of one field that differ, but that people take
// for equal; n counts such pairs of the field.
type twin struct {
	a, b spelling
	n    int
}

func (t *twin) keys() []string { return append(t.a.KeyWith(t.a.value), t.b.KeyWith(t.b.value)...) }

// twins returns the first twins of each field: spellings that fold makes equal.
func twins(all []spelling, fold func(string) string) (found []*twin) {
	first := map[[2]string]spelling{}
	of := map[string]*twin{}
	for _, b := range all {
		key := [2]string{b.Name, fold(b.value.Text)}
		a, ok := first[key]
		switch {
		case !ok:
			first[key] = b
		case a.value.Text == b.value.Text:
		case of[b.Name] != nil:
			of[b.Name].n++
		default:
			of[b.Name] = &twin{a, b, 1}
			found = append(found, of[b.Name])
		}
	}
	return found
}
