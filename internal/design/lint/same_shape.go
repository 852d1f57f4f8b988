package lint

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keys"
)

var sameShape = rule.Rule{
	ID: "same-shape", Title: "Entities whose keys are equal or look alike", Severity: model.Note,
	Help: "If nothing in the key distinguishes two entities, an item of one silently replaces an item of " +
		"the other with the same id, and readers of a row cannot tell which entity it is. It is an error if both " +
		"build the key from the same fields, a warning if the same words come before their ids or days, and a note " +
		"if the ids alone make the difference. A word can be a value of a field, one that the model lists or a " +
		"sample has, and text can be a day or a number if a sample is one, or there is no sample. Two entities may " +
		"be two states of one item: then one has all attributes of the other, their names " +
		"say so (OpenOrder, ClosedOrder), or an about says that one replaces the other or becomes it.",
	Example: []string{`"USER#u1", "META" (a profile)`, `"USER#u1", "META" (the settings of that user)`},
	Cure: "Begin the partition key or the sort key with the entity name: EMPLOYEE#{employee}, or SK: " +
		"SETTINGS.",
	Source: guide + "bp-adjacency-graphs.html",

	Whole: func(p *rule.Pass) {
		var known []keyed
		for _, e := range p.Entities {
			k := keyedOf(e)
			var names []string // of the entities that are most alike
			var first *model.Entity
			most := unlike
			for i := range known {
				o := &known[i]
				alike := likenessOf(p, o, &k)
				if alike > most {
					names, first, most = nil, o.Entity, alike
				}
				if alike == most && most > unlike {
					names = append(names, o.Name)
				}
			}
			if most > unlike {
				reportAlike(p, first, e, append(names, e.Name), most)
			}
			known = append(known, k)
		}
	},
}

// A keyed entity is one with what likenessOf asks of it. It is found once, as each is compared with all others.
type keyed struct {
	*model.Entity
	key        [][]keys.Part // the parts of each attribute of the table's key, nil if it lacks one
	onlyByTime bool
	lastWord   string // of the name
	isState    bool   // a word of the name is of stateWords
	isSame     bool   // the about says that it describes the item of another
}

func keyedOf(e *model.Entity) keyed {
	k := keyed{
		Entity: e, lastWord: lastWord(e.Name), isState: hasWord(e.Name, stateWords...),
		isSame: aboutOneItem().MatchString(e.About),
	}
	for _, a := range e.Table.Keys() {
		t := e.Attribute(a.Name)
		if t == nil {
			k.key = nil
			return k
		}
		k.key = append(k.key, partsOf(t))
	}
	k.onlyByTime = onlyByTime(e)
	return k
}

// A likeness is how alike the keys of two entities are.
type likeness int

const (
	unlike  likeness = iota // no two keys are equal, or the entities describe one item on purpose
	byID                    // keys are equal if ids are
	byWords                 // and words before the ids say that they are of one kind
	equal                   // they are built from the same fields
)

// likenessOf compares the keys of two entities in their table.
func likenessOf(p *rule.Pass, a, b *keyed) likeness {
	if a.Table != b.Table || a.key == nil || b.key == nil {
		return unlike
	}
	most := equal
	u := unifier{p, a.Entity, b.Entity}
	for i := range a.key {
		most = min(most, u.unify(a.key[i], b.key[i], ""))
	}
	switch {
	case most == equal && a.onlyByTime:
		return unlike // their items have equal keys only at one moment
	case most == equal && statesOfOne(a, b):
		return unlike
	case most == byWords && statesOfOne(a, b):
		return byID
	}
	return most
}

// onlyByTime reports whether only points in time distinguish the rows of an entity in a partition.
func onlyByTime(e *model.Entity) bool {
	timed := false
	for _, a := range e.Table.Sort {
		for _, p := range partsOf(e.Attribute(a.Name)) {
			epoch := p.Type.Name == "number" && unitWidth(p.Name, 0) >= secondsWidth
			if p.Name != "" && rule.Precision(p.Type) == 0 && !epoch {
				return false
			}
			timed = timed || p.Name != ""
		}
	}
	return timed
}

// partsOf returns the parts of a key attribute, one literal for a constant.
func partsOf(t *model.Template) []keys.Part {
	if t.Template == nil {
		return []keys.Part{{Literal: string(t.Const.Raw())}}
	}
	return t.Template.Parts()
}

func componentsOf(t *model.Template) []string {
	if t.Template == nil {
		return nil
	}
	return t.Template.Components()
}

// A unifier compares templates of two entities.
type unifier struct {
	*rule.Pass
	a, b *model.Entity
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
		return u.turned().unify(y, x, word)
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

// turned compares the entities the other way round.
func (u unifier) turned() unifier { return unifier{u.Pass, u.b, u.a} }

// known returns the texts of a component that the model lists, or those of its samples.
func (u unifier) known(e *model.Entity, p keys.Part) []string {
	all := listed(e, p)
	if len(all) > 0 {
		return all
	}
	for _, w := range u.Written(e, p.Name) {
		if text, err := p.Type.Encode(w.Text); err == nil {
			all = append(all, text)
		}
	}
	return all
}

// without returns parts without the first bytes of the literal with which they begin. It changes none of them.
func without(parts []keys.Part, n int) []keys.Part {
	rest := parts[0].Literal[n:]
	if rest == "" {
		return parts[1:]
	}
	return append([]keys.Part{{Literal: rest}}, parts[1:]...)
}

// components returns how alike two components are.
func (u unifier) components(x, y keys.Part, word string) likeness {
	free := func(p keys.Part) bool { return rule.Textual(p.Type) }
	if v, w := listed(u.a, x), listed(u.b, y); len(v) > 0 && len(w) > 0 {
		if !slices.ContainsFunc(v, func(value string) bool { return slices.Contains(w, value) }) {
			return unlike
		}
	}
	switch {
	case x.Name == y.Name && (free(x) || free(y) || x.Type.String() == y.Type.String()):
		return equal
	case free(x) && !free(y):
		return u.turned().components(y, x, word)
	case !free(x) && free(y):
		return u.typed(x, y)
	case !free(x) && x.Type.String() != y.Type.String():
		return unlike
	}
	if strings.ContainsFunc(word, unicode.IsLetter) && (!model.Moment(x.Type) || rule.Precision(x.Type) == 0) {
		return byWords
	}
	return byID
}

// typed returns how alike a component of a type is to text. Text can be a day or a number if one of its
// values is, or if it has no values to look at. Without such a value it is unlikely to equal a moment or an id.
func (u unifier) typed(x, y keys.Part) likeness {
	coarse := rule.Numeric(x.Type) || model.Moment(x.Type) && rule.Precision(x.Type) == 0
	values := u.known(u.b, y)
	like := func(text string) bool {
		_, err := x.Type.Decode(text)
		return err == nil
	}
	switch {
	case slices.ContainsFunc(values, like):
		if coarse {
			return byWords
		}
		return byID
	case coarse && len(values) == 0:
		return byID
	}
	return unlike
}

// listed returns the texts of a component whose values the model lists.
func listed(e *model.Entity, p keys.Part) (all []string) {
	values := p.Type.Values
	if f := e.Field(p.Name); f != nil && len(f.Values) > 0 {
		values = f.Values
	}
	for _, value := range values {
		if part, err := p.Type.Encode(value); err == nil {
			all = append(all, part)
		}
	}
	return all
}

// statesOfOne reports whether two entities with equal keys describe one item on purpose: one has all attributes of the
// other, their names are of states of one thing, as OpenOrder and ClosedOrder, or Order and ArchivedOrder, or an about
// says so.
func statesOfOne(a, b *keyed) bool {
	return a.isSame || b.isSame || a.lastWord == b.lastWord && (a.isState || b.isState) ||
		within(a.Entity, b.Entity) != within(b.Entity, a.Entity)
}

// within reports whether b has all attributes of a.
func within(a, b *model.Entity) bool {
	return !slices.ContainsFunc(a.Attributes, func(t *model.Template) bool { return b.Attribute(t.Name) == nil })
}

var aboutOneItem = text.Pattern(`(?i)\b(same (item|key)|replac(es?|ed|ing)|instead of|overwrit\w+|becomes?)\b`)

// stateWords begin the names of entities that are states of an item.
var stateWords = []string{
	"open", "closed", "draft", "published", "archived", "deleted", "active", "inactive", "pending", "done", "new",
	"old", "expired", "cancelled", "canceled", "locked", "confirmed", "finished", "current", "soft", "removed",
}

// reportAlike reports an entity whose keys are like those of another.
func reportAlike(p *rule.Pass, first, second *model.Entity, names []string, how likeness) {
	v := p.TableView(second.Table)
	f := v.Finding("the keys of %s look alike: an item of one replaces an item of the other with the same id", names)
	t, advice := second.Attribute(v.Hash[0].Name), "begin the partition key or the sort key with the entity name"
	switch how {
	case equal:
		f = v.Finding("the keys of %s are equal: an item of one replaces the item of the other", names)
		f.Severity = model.Error
	case byWords:
		f.Severity = model.Warning
	}
	together := !slices.ContainsFunc(v.Hash, func(a model.Attribute) bool {
		x, y := first.Attribute(a.Name), second.Attribute(a.Name)
		return unifier{p, first, second}.unify(partsOf(x), partsOf(y), "") != equal
	})
	if together && len(v.Sort) > 0 {
		t = second.Attribute(v.Sort[0].Name)
	}
	f.Entity, f.Pos, f.Advice = second.Name, t.Pos, advice
	f.Keys = append(v.Example(first), v.Example(second)...)
	if how == equal {
		key := v.Example(first)[0]
		f.Keys = []string{key + " (" + first.Name + ")", key + " (" + second.Name + ")"}
	}

	changed := second
	if strings.HasPrefix(partsOf(t)[0].Literal, strings.ToUpper(second.Name)) {
		changed, t = first, first.Attribute(t.Name) // the second has its name already
	}
	better := strings.ToUpper(changed.Name)
	if len(componentsOf(t)) > 0 {
		better += "#" + t.Template.String()
	}
	what := t.Name
	if changed == first {
		what += " of " + first.Name
	}
	f.Propose(fmt.Sprintf("begin %s with the entity name: %q", what, better),
		rule.WriteTemplate(changed.Name, t.Name, better))
	p.Report(f)
}
