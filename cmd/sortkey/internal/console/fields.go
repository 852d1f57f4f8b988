package console

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/transfer"
	"github.com/sortkey/sortkey/internal/item"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/text"
)

// A field is an attribute in the form of an item. Type is the name of its type or [anyType]; Value is a text as it is,
// a number, true or false, base64, or the JSON of a set, a list or a map.
type field struct {
	Name  string `json:"name"`
	Shown string `json:"shown,omitempty"` // the name as people see it, if it cannot be typed
	Type  string `json:"type"`
	Value string `json:"value"`
	Key   bool   `json:"key,omitempty"` // in the key of the table
}

// anyType is the type of a field whose value is DynamoDB JSON, which can say every value.
const anyType = "JSON"

// maxFields is the number of attributes that a form shows.
const maxFields = 200

// fieldsOf returns the fields of an item: those of its key, then the others by name. Reading them gives the same item.
func fieldsOf(t *keyschema.Table, it attr.Item) ([]field, error) {
	if it.Len() > maxFields {
		return nil, bad("the form shows at most %d attributes, and the item has %s: edit its JSON", maxFields,
			text.Thousands(it.Len()))
	}
	all, keys := []field{}, t.Key.Attributes()
	for name, v := range it.All() {
		f := fieldOf(string(name), v)
		f.Key = hasAttribute(keys, f.Name)
		all = append(all, f)
	}
	place := func(f field) int {
		for i, a := range keys {
			if a.Name == f.Name {
				return i
			}
		}
		return len(keys)
	}
	slices.SortFunc(all, func(a, b field) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), text.CompareNatural(a.Name, b.Name), cmp.Compare(a.Name, b.Name))
	})
	return all, nil
}

// fieldOf returns a value as a field that reads as the same value: as DynamoDB JSON if its own type cannot.
func fieldOf(name string, v attr.Value) field {
	f := field{Name: name, Type: v.Kind().String()}
	if shown := text.Visible(name); shown != name {
		f.Shown = shown
	}
	switch v.Kind() {
	case attr.String:
		f.Value = string(v.Raw())
		if text.VisibleLines(f.Value) != f.Value { // a browser changes line ends, and people do not see the rest
			f.Type = anyType
		}
	case attr.Number:
		f.Value = string(v.AppendNumber(nil))
	case attr.Binary:
		f.Value = base64.StdEncoding.EncodeToString(v.Raw())
	case attr.Bool:
		f.Value = text.Literal(v)
	case attr.Null:
	default:
		f.Value = jsonText(item.AppendPlain(nil, one(v)), !v.Kind().IsSet())
	}
	if again, err := f.value(); err != nil || again.Kind() != v.Kind() || !attr.Equal(again, v) {
		f.Type = anyType
	}
	if f.Type == anyType {
		f.Value = jsonText(one(v).AppendJSON(nil), true)
	}
	return f
}

// one returns an item of one value, whose name is member.
func one(v attr.Value) attr.Item {
	var b attr.Builder
	b.Add(member, v)
	return b.Item()
}

const member = "v"

// jsonText returns the value of the only member of an object, as people read it.
func jsonText(object []byte, indented bool) string {
	var in map[string]json.RawMessage
	if json.Unmarshal(object, &in) != nil {
		return ""
	}
	raw := in[member]
	var b bytes.Buffer
	if indented && json.Indent(&b, raw, "", "  ") == nil {
		raw = b.Bytes()
	}
	return text.VisibleJSON(string(raw))
}

// value reads a field.
func (f *field) value() (v attr.Value, err error) {
	typed := strings.TrimSpace(f.Value)
	switch f.Type {
	case "S":
		return attr.NewString(f.Value), nil
	case "N":
		if v, err = attr.NewNumber(typed); err != nil {
			return v, bad("%s is not a number that can be stored: %v", clip(text.Quote(typed), maxValue), err)
		}
		return v, nil
	case "B":
		raw, err := base64.StdEncoding.DecodeString(typed)
		if err != nil {
			return v, bad("%s is not base64: %v", clip(text.Quote(typed), maxValue), err)
		}
		return attr.NewBinary(raw), nil
	case "BOOL":
		if typed != "true" && typed != "false" {
			return v, bad("%s is not true or false", clip(text.Quote(typed), maxValue))
		}
		return attr.NewBool(typed == "true"), nil
	case "NULL":
		return attr.NewNull(), nil
	}

	kind, known := attr.ParseKind(f.Type)
	if !json.Valid([]byte(typed)) || !known && f.Type != anyType {
		return v, bad("%s is not JSON", clip(text.Quote(typed), maxValue))
	}
	object := []byte(`{"` + member + `":` + typed + `}`)
	if f.Type == anyType {
		return anyValue(typed)
	}
	it, err := transfer.DecodePlainItem(object)
	if err != nil { // with the place in the value, not in the object
		in := strings.NewReplacer(` within "/`+member+`"`, "", ` within "/`+member+`/`, ` within "/`)
		return v, bad("%s", in.Replace(strings.TrimPrefix(err.Error(), member+": ")))
	}
	v = it.Get(member)
	if kind.IsSet() {
		return setOf(kind, v)
	}
	if v.Kind() != kind {
		return v, bad("%s is not a %s", clip(text.Quote(typed), maxValue), map[attr.Kind]string{
			attr.List: "list, such as [1, 2]", attr.Map: `map, such as {"a": 1}`,
		}[kind])
	}
	return v, nil
}

// anyValue reads DynamoDB JSON.
func anyValue(typed string) (v attr.Value, err error) {
	var members map[string]json.RawMessage
	_ = json.Unmarshal([]byte(typed), &members)
	if v, _, err = transfer.CutValue(typed); err != nil {
		return v, bad("%v", err)
	}
	if _, ok := members[v.Kind().String()]; !ok || len(members) != 1 { // it was read as plain JSON
		return v, bad(`%s is not DynamoDB JSON, such as {"S": "x"}`, clip(text.Quote(typed), maxValue))
	}
	return v, nil
}

// setOf returns the set of the elements of a list.
func setOf(kind attr.Kind, list attr.Value) (v attr.Value, err error) {
	example := map[attr.Kind]string{
		attr.StringSet: `["a", "b"]`, attr.NumberSet: "[1, 2]", attr.BinarySet: `["AP8="]`,
	}[kind]
	if list.Kind() != attr.List {
		return v, bad("a set is written as its elements, such as %s", example)
	}
	elems := make([]attr.Value, list.Len())
	for i := range elems {
		elems[i] = list.Index(i)
		if kind == attr.BinarySet {
			elems[i] = typedLike(elems[i], attr.NewBinary(nil))
		}
	}
	if v, err = attr.NewSet(kind, elems...); err != nil {
		return v, bad("%v; write its elements, such as %s", err, example)
	}
	return v, nil
}

// itemOfFields reads an item.
func itemOfFields(fields []field) (attr.Item, error) {
	var b attr.Builder
	seen := map[string]bool{}
	for _, f := range fields {
		name := clip(text.Name(f.Name), maxValue)
		switch {
		case f.Name == "":
			return nil, bad("an attribute has no name: give it one, or remove it")
		case seen[f.Name]:
			return nil, bad("the attribute %s is there twice: rename or remove one", name)
		}
		seen[f.Name] = true
		v, err := f.value()
		if err != nil {
			return nil, bad("%s: %v", name, err)
		}
		b.Add(f.Name, v)
	}
	return b.Item(), nil
}
