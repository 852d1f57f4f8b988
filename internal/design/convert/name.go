package convert

import (
	"cmp"
	"strconv"
	"strings"
	"unicode"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

// generic matches names of attributes that do not describe the value.
var generic = text.Pattern(
	`(?i)^((g|l)?si?\d*[_-]?)?(pk|sk|hash|range|partition|sort|key|id)?` +
		`([_-]?(pk|sk|key|hash|range|value|attribute))?[_-]?\d*([_-]?(pk|sk))?$`,
)

// ofValue matches labels that say what the value itself is, such as status. Other labels, such as ORDER, say which
// thing the value identifies.
var ofValue = text.Pattern(
	`(?i)^(|status|state|type|category|country|city|email|date|name|title|year|month|day|region|version|path|role|` +
		`sku|tag|score|key|time|timestamp|.*id)$`,
)

// labelName derives a field name from the label before a component. For ORDER#, it is orderId.
func labelName(p piece) string {
	label, kind := fieldName(title(p.label)), "id"
	if r := []rune(label); label != "" {
		label = string(unicode.ToLower(r[0])) + string(r[1:])
	}
	switch p.typ.Name {
	case "path":
		return "path"
	case "date", "month", "year":
		kind = p.typ.Name
	default:
		if model.Moment(p.typ) {
			kind = "time"
		}
	}
	switch {
	case label == "" && kind != "id":
		return kind
	case ofValue().MatchString(label):
		return label
	}
	return label + title(kind)
}

// shapeName derives the name of an entity from the shapes of its keys. If the sort key has words and a value, the
// name consists of its words. Otherwise, the name is the last word of the partition key.
func shapeName(shapes, table string) string {
	name := ""
	for i, s := range strings.Split(strings.TrimSuffix(shapes, "\x00"), "\x00") {
		var words []string
		for _, word := range strings.Fields(s) {
			if word != "*" {
				words = append(words, title(word))
			}
		}
		switch n := len(words); {
		case n == 0:
		case i == 0:
			name = words[n-1]
		case strings.Contains(s, "*") || name == "":
			name = strings.Join(words, "")
		}
	}
	return cmp.Or(name, table)
}

// title converts a word to an entity name: Order from ORDER.
func title(s string) string {
	var b strings.Builder
	between := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	for _, word := range strings.FieldsFunc(s, between) {
		r := []rune(word)
		rest := string(r[1:])
		if word == strings.ToUpper(word) {
			rest = strings.ToLower(rest)
		}
		b.WriteString(string(unicode.ToUpper(r[0])) + rest)
	}
	return b.String()
}

var notName = text.Pattern(`[^\pL\pN_ .-]+`)

// entityName returns a unique name for an entity.
func (im *importer) entityName(name string) string {
	name = strings.Join(strings.Fields(notName().ReplaceAllString(name, " ")), " ")
	if name == "" || !unicode.IsLetter([]rune(name)[0]) && name[0] != '_' {
		name = "Item" + name
	}
	if r := []rune(name); len(r) > 80 {
		name = strings.TrimSpace(string(r[:80]))
	}
	return numbered(name, func(name string) bool { return im.m.Entity(name) == nil })
}

// numbered returns name if it is free. Otherwise, it appends the lowest number, from 2 on, that makes the name free.
func numbered(name string, free func(string) bool) string {
	unique := name
	for i := 2; !free(unique); i++ {
		unique = name + strconv.Itoa(i)
	}
	return unique
}

var notField = text.Pattern(`^[^\pL_]+|[^\pL\p{Nd}_.-]+`)

// fieldName derives a valid field name from a text. The result may be "".
func fieldName(s string) string {
	words := notField().Split(s, -1)
	name := ""
	for _, w := range words {
		if name != "" && w != "" {
			r := []rune(w)
			w = string(unicode.ToUpper(r[0])) + string(r[1:])
		}
		name += w
	}
	if len(name) > 60 {
		return ""
	}
	return name
}
