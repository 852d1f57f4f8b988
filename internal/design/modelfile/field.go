package modelfile

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keys"
)

var uniform = model.Distribution{Name: "uniform"}

func startField(key value, f *model.Field) bool {
	f.Distribution = uniform
	_, err := keys.Parse("{" + f.Name + "}")
	ok := err == nil && !strings.Contains(f.Name, ":")
	if !ok {
		key.fail(
			"names consist of letters, digits, _, - and ., and begin with a letter or _",
			"%s is not a valid field name", clip(f.Name),
		)
	}
	return ok
}

func beforeField(in value, _ *model.Field) bool {
	if in.short && in.node.Kind != yaml.ScalarNode {
		in.entries() // reports the error
		delete(in.members, "type")
	}
	return true
}

func afterField(in value, f *model.Field) bool {
	if n := in.get("values"); n.node != nil && len(f.Values) == 0 {
		n.fail("", "field %s has no values to choose from", f.Name)
	}
	if n := in.get("distinct"); n.node != nil && len(f.Values) > 0 {
		n.fail("keep one of them", "field %s has both values and distinct", f.Name)
	}
	return true
}

// typeCodec is the codec of the type of a field.
var typeCodec = special(
	readType,
	func(f *model.Field) *yaml.Node {
		if f.Type.Name == "" {
			return nil
		}
		return textNode(f.Type.String())
	},
)

func readType(in value, f *model.Field) {
	s, ok := in.called("the type of field " + f.Name).text()
	if !ok {
		return
	}
	t, err := keys.ParseType(s)
	name, _, open := strings.Cut(s, "(")
	switch {
	case err == nil:
		f.Type = t
		in.declared[f] = true
	case open && !strings.Contains(s, ")"):
		in.fail(
			"inside braces, put a type with a comma in quotes",
			"field %s: the type %s has no closing parenthesis", f.Name, clip(s),
		)
	case slices.Contains(keys.TypeNames(), name):
		in.failKey(in.pos(), "field "+f.Name, err)
	default:
		in.known(name, keys.TypeNames(), "field %s: unknown type %s", f.Name)
	}
}

var distributionCodec = special(
	func(in value, d *model.Distribution) {
		if name, skew, ok := in.skewed("unknown distribution %s", "uniform", "sequence"); ok {
			*d = model.Distribution{Name: name, Skew: skew}
		}
	},
	func(d *model.Distribution) *yaml.Node {
		if *d == uniform {
			return nil
		}
		return skewedNode(d.Name, d.Skew)
	},
)

// skewed reads one of the words, or "zipf" and its skew.
func (in value) skewed(unknown string, words ...string) (word string, skew float64, ok bool) {
	if word, ok = in.text(); !ok {
		return "", 0, false
	}
	if skew, ok := in.zipf(word); ok {
		return "zipf", skew, true
	}
	return word, 0, in.known(word, append(words, "zipf(1.2)"), unknown)
}

func skewedNode(word string, skew float64) *yaml.Node {
	switch word {
	case "":
		return nil
	case "zipf":
		word = fmt.Sprintf("zipf(%v)", skew)
	}
	return textNode(word)
}

// zipf returns the skew in a text such as zipf(1.2). The text zipf alone means 1.2. zipf reports false if the text is
// not a zipf distribution.
func (in value) zipf(s string) (skew float64, ok bool) {
	name, number, _ := strings.Cut(s, "(")
	switch {
	case s == "zipf":
		return 1.2, true
	case name != "zipf" || !strings.HasSuffix(number, ")"):
		return 0, false
	}
	skew, err := strconv.ParseFloat(strings.TrimSuffix(number, ")"), 64)
	if err != nil || !(skew > 0 && skew <= 8) {
		in.fail("such as zipf(1.2)", "the skew of a zipf distribution must be above 0 and at most 8")
	}
	return skew, true
}

// span matches a number such as 20, or a range such as 20..200.
var span = text.Pattern(`^([0-9_]+)(?:\s*\.\.\s*([0-9_]+))?$`)

// spanOf returns the ends of a range of numbers up to most. For a single number, both ends are that number. It
// reports false for other text.
func (in value) spanOf(s string, most int) (low, high int, ok bool) {
	m := span().FindStringSubmatch(s)
	if m == nil {
		return 0, 0, false
	}
	low = in.whole(m[1], 0, most)
	if high = low; m[2] != "" {
		high = in.whole(m[2], 0, most)
	}
	return low, high, true
}

// sizeCodec is the codec of a number of bytes, or of a range of them.
var sizeCodec = special(
	func(in value, f *model.Field) {
		s, ok := in.text()
		if !ok {
			return
		}
		errs := len(in.errs)
		if f.MinSize, f.MaxSize, ok = in.spanOf(s, maxSize); !ok {
			in.fail("write bytes, such as 20 or 20..200", "invalid size %[2]s of field %[1]s", f.Name, clip(s))
			return
		}
		if len(in.errs) == errs && f.MaxSize < f.MinSize {
			in.fail("", "the first size of field %s is larger than the second", f.Name)
		}
	},
	func(f *model.Field) *yaml.Node {
		if f.MinSize == 0 && f.MaxSize == 0 {
			return nil
		}
		return textNode(fmt.Sprintf("%d..%d", f.MinSize, f.MaxSize))
	},
)

const maxSize = 400 << 10

// checkFields checks that the values and bounds of fields fit their types.
func (p *parser) checkFields() {
	done := map[*model.Field]bool{}
	lists := [][]*model.Field{p.m.Fields}
	for _, e := range p.m.Entities {
		lists = append(lists, e.Fields)
	}
	for _, f := range slices.Concat(lists...) {
		if !done[f] {
			p.checkField(f)
		}
		done[f] = true
	}
}

func (p *parser) checkField(f *model.Field) {
	if f.Type.Name == "string" && f.Type.Width > 0 {
		f.MinSize, f.MaxSize = f.Type.Width, f.Type.Width
	}
	texts := slices.Clone(f.Values)
	switch f.Type.Name {
	case "int", "signed", "decimal", "number": // the bounds of a time may also be a month or a year
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

// failKey reports an error of package keys.
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

// ownFields returns the fields of an entity that belong neither to the model nor to an ancestor.
func ownFields(m *model.Model, e *model.Entity) (all []*model.Field) {
	for _, f := range e.Fields {
		inherits := func(parent *model.Entity) bool { return slices.Contains(parent.Fields, f) }
		if !slices.Contains(m.Fields, f) && !slices.ContainsFunc(e.Ancestors(), inherits) {
			all = append(all, f)
		}
	}
	return all
}

// fieldsFor returns the fields that an entity may name: those of the entity, inherited ones too, and then the
// model's.
func (p *parser) fieldsFor(e *model.Entity) []*model.Field {
	common := func(f *model.Field) bool { return slices.Contains(p.m.Fields, f) }
	return slices.Concat(slices.DeleteFunc(slices.Clone(e.Fields), common), p.m.Fields)
}

func (p *parser) fieldOf(e *model.Entity, name string) *model.Field {
	for _, f := range p.fieldsFor(e) {
		if f.Name == name {
			return f
		}
	}
	return nil
}
