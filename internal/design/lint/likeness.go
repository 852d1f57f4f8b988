package lint

import (
	"slices"
	"strings"
	"unicode"

	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keys"
)

// A likeness is how alike the keys of two entities are.
type likeness int

const (
	unlike  likeness = iota // no two keys are equal, or the entities describe one item on purpose
	byID                    // keys are equal if ids are
	byWords                 // and words before the ids say that they are of one kind
	equal                   // they are built from the same fields
)

// checkKeys compares the keys of each entity with those of the entities before it, and reports those that are most
// alike.
func checkKeys(p *rule.Pass) {
	parts := map[*model.Entity][][]keys.Part{}
	for i, e := range p.Entities {
		parts[e] = keyOf(e)
		var names []string
		var first *model.Entity
		most := unlike
		for _, o := range p.Entities[:i] {
			if o.Table != e.Table {
				continue
			}
			alike := unifier{p, o, e}.all(parts[o], parts[e])
			onPurpose := within(o, e) != within(e, o) || aboutOneItem().MatchString(o.About+" "+e.About)
			if alike == equal && (onPurpose || onlyByTime(p, o)) {
				alike = unlike
			}
			if alike > most {
				names, first, most = nil, o, alike
			}
			if alike == most && most > unlike {
				names = append(names, o.Name)
			}
		}
		if most > unlike {
			reportAlike(p, first, e, append(names, e.Name), most)
		}
	}
}

// aboutOneItem matches what entities say that are two states of one item.
var aboutOneItem = text.Pattern(`(?i)\b(same (item|key)|replac(es?|ed|ing)|instead of|overwrit\w+|becomes?)\b`)

// keyOf returns the parts of each attribute of the table's key, or nil if the entity lacks one.
func keyOf(e *model.Entity) (all [][]keys.Part) {
	for _, a := range e.Table.Keys() {
		t := e.Attribute(a.Name)
		if t == nil {
			return nil
		}
		all = append(all, partsOf(t))
	}
	return all
}

// partsOf returns the parts of an attribute, one literal for a constant.
func partsOf(t *model.Template) []keys.Part {
	if t.Template == nil {
		return []keys.Part{{Literal: string(t.Const.Raw())}}
	}
	return t.Template.Parts()
}

// onlyByTime reports whether only points in time distinguish the rows of an entity in a partition: two entities
// then have equal keys only at one moment.
func onlyByTime(p *rule.Pass, e *model.Entity) bool {
	timed := false
	for _, a := range e.Table.Sort {
		for _, part := range partsOf(e.Attribute(a.Name)) {
			isTime := func(w rule.Written) bool { return isMoment(w.Text) }
			words := p.Written(e, part.Name)
			if part.Name != "" && rule.Precision(part.Type) == 0 &&
				(len(words) == 0 || !slices.ContainsFunc(words, isTime)) {
				return false
			}
			timed = timed || part.Name != ""
		}
	}
	return timed
}

// within reports whether b has all attributes of a.
func within(a, b *model.Entity) bool {
	return !slices.ContainsFunc(a.Attributes, func(t *model.Template) bool { return b.Attribute(t.Name) == nil })
}

// A unifier compares templates of two entities.
type unifier struct {
	*rule.Pass
	a, b *model.Entity
}

// all returns how alike two keys are.
func (u unifier) all(x, y [][]keys.Part) likeness {
	if x == nil || y == nil {
		return unlike
	}
	most := equal
	for i := range x {
		if most = min(most, u.unify(x[i], y[i], "")); most == unlike {
			break
		}
	}
	return most
}

// unify returns how alike the texts of two templates are. Word is the literal text just before them.
func (u unifier) unify(x, y []keys.Part, word string) likeness {
	for len(x) > 0 && len(y) > 0 && x[0].Name == "" && y[0].Name == "" {
		n := min(len(x[0].Literal), len(y[0].Literal))
		if x[0].Literal[:n] != y[0].Literal[:n] {
			return unlike
		}
		word += x[0].Literal[:n]
		x, y = without(x, n), without(y, n)
	}

	switch {
	case len(x) == 0 && len(y) == 0:
		return equal
	case len(x) == 0 || len(y) == 0:
		return unlike
	case x[0].Name != "" && y[0].Name != "":
		return min(u.components(x[0], y[0], word), u.unify(x[1:], y[1:], ""))
	case x[0].Name == "":
		return unifier{u.Pass, u.b, u.a}.unify(y, x, word)
	}

	// Free text that could be the other's word is not a hazard, a value that is listed or in a sample is.
	most := unlike
	for _, value := range u.known(u.a, x[0]) {
		if value != "" && strings.HasPrefix(y[0].Literal, value) {
			most = max(most, u.unify(x[1:], without(y, len(value)), word+value))
		}
	}
	return most
}

// without returns parts without the first bytes of the literal with which they begin. It changes none of them.
func without(parts []keys.Part, n int) []keys.Part {
	rest := parts[0].Literal[n:]
	if rest == "" {
		return parts[1:]
	}
	return append([]keys.Part{{Literal: rest}}, parts[1:]...)
}

// known returns the texts of a component that the model lists, or those of its samples.
func (u unifier) known(e *model.Entity, p keys.Part) (all []string) {
	values := p.Type.Values
	if f := e.Field(p.Name); f != nil && len(f.Values) > 0 {
		values = f.Values
	}
	if len(values) == 0 {
		for _, w := range u.Written(e, p.Name) {
			values = append(values, w.Text)
		}
	}
	for _, value := range values {
		if part, err := p.Type.Encode(value); err == nil {
			all = append(all, part)
		}
	}
	return all
}

// components returns how alike two components are. Text can be a day or a number if one of its values is, or if it
// has no values to look at; it is unlikely to be equal to a moment or an id.
func (u unifier) components(x, y keys.Part, word string) likeness {
	freeX, freeY := rule.Textual(x.Type), rule.Textual(y.Type)
	listed := func(e *model.Entity, p keys.Part) bool {
		f := e.Field(p.Name)
		return f != nil && len(f.Values) > 0 || len(p.Type.Values) > 0
	}
	v, w := u.known(u.a, x), u.known(u.b, y)
	shared := slices.ContainsFunc(v, func(value string) bool { return slices.Contains(w, value) })
	coarse := rule.Numeric(x.Type) || model.Moment(x.Type) && rule.Precision(x.Type) == 0

	switch {
	case listed(u.a, x) && listed(u.b, y) && !shared:
		return unlike
	case x.Name == y.Name && (freeX || freeY || x.Type.String() == y.Type.String()):
		return equal
	case freeX && !freeY:
		return unifier{u.Pass, u.b, u.a}.components(y, x, word)
	case !freeX && freeY:
		fits := slices.ContainsFunc(w, func(text string) bool { _, err := x.Type.Decode(text); return err == nil })
		switch {
		case fits && coarse:
			return byWords
		case fits, coarse && len(w) == 0:
			return byID
		}
		return unlike
	case !freeX && x.Type.String() != y.Type.String():
		return unlike
	case strings.ContainsFunc(word, unicode.IsLetter) && (!model.Moment(x.Type) || coarse):
		return byWords
	}
	return byID
}

// reportAlike reports an entity whose keys are like those of another.
func reportAlike(p *rule.Pass, first, second *model.Entity, names []string, how likeness) {
	v := p.TableView(second.Table)
	f := v.Finding("the keys of %s look alike: an item of one replaces an item of the other with the same id", names)
	f.Severity = map[likeness]model.Severity{byID: model.Note, byWords: model.Warning, equal: model.Error}[how]
	f.Keys = append(v.Example(first), v.Example(second)...)
	if how == equal {
		key := v.Example(first)[0]
		f.Message = rule.Sentence("the keys of %s are equal: an item of one replaces the item of the other", names)
		f.Keys = []string{key + " (" + first.Name + ")", key + " (" + second.Name + ")"}
	}
	t := second.Attribute(v.Keys[len(v.Keys)-1].Name)
	f.Entity, f.Pos = second.Name, t.Pos
	f.Advise("begin %s with the entity name, such as %s#", t.Name, strings.ToUpper(second.Name))
	p.Report(f)
}
