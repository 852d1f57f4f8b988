package convert

import (
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keys"
)

// A piece is a part of an inferred template: literal text, or a component. For a component, parts has the text that
// it matches in each key.
type piece struct {
	literal string
	typ     keys.Type
	parts   []string // the part of each key; nil for a literal
	label   string   // the nearest label before it
}

// Delimiters between components. The characters in strong always separate components. Those in weak also occur in
// dates, names and ids.
const (
	strong = "#|/"
	weak   = ":_.-"
)

var (
	word     = text.Pattern(`^[$@]?\pL[\pL_ -]*$`)
	alphabet = text.Pattern(`^[$@]?\pL+$`)
	upper    = text.Pattern(`^[$@]?\p{Lu}[\p{Lu}_ -]*$`)
	digit    = text.Pattern(`[0-9]`)
	digits   = text.Pattern(`^[0-9]+$`)
	plainInt = text.Pattern(`^(0|-?[1-9][0-9]{0,30})$`)
)

// inferPieces infers the pieces of a template from values, the keys of one attribute. values must not be empty.
//
// It splits the keys at the first strong delimiter that all of them have. A word is a label if all keys have it at
// the same place, and this place is the first or comes after a value. Everything else is a component. In keys without
// a strong delimiter, a label may come before a weak one. The pieces may not reproduce the keys; roundTrips checks
// that.
func inferPieces(values []string, sort bool) (all []piece) {
	if _, typed := typeOf(values, sort); typed {
		return component(nil, values, "", sort)
	}
	columns, delimiter := split(values)
	if columns == nil {
		label, rest := weakLabel(values)
		return component(literal(nil, label), rest, strings.TrimRight(label, weak), sort)
	}

	label, labelled := "", false
	for i, column := range columns {
		if i > 0 {
			all = literal(all, delimiter)
		}
		first := column[0]
		isWord := same(column) && word().MatchString(first)
		if len(columns) == 1 {
			isWord = isWord && (sort || upper().MatchString(first))
		}
		switch {
		case same(column) && first == "":
		case isWord && !labelled:
			all, label, labelled = literal(all, first), first, true
		default:
			all, labelled = component(all, column, label, sort), false
		}
	}
	return all
}

// split splits keys into columns, at the first strong delimiter that all of them contain. There are as many columns
// as the key with the fewest parts has parts. In the other keys, the last column has all further parts. If all keys
// are the same word, this word is the only column. split returns nil if no delimiter is in all keys, or if a column
// is empty in some keys but not in others.
func split(values []string) (columns [][]string, delimiter string) {
	if same(values) && word().MatchString(values[0]) {
		return [][]string{values}, ""
	}
	for _, d := range strong {
		delimiter = string(d)
		n := strings.Count(values[0], delimiter)
		for _, v := range values {
			n = min(n, strings.Count(v, delimiter))
		}
		if n == 0 {
			continue
		}
		columns = make([][]string, n+1)
		for _, v := range values {
			for i, part := range strings.SplitN(v, delimiter, n+1) {
				columns[i] = append(columns[i], part)
			}
		}
		if slices.ContainsFunc(columns, func(c []string) bool { return slices.Contains(c, "") && !same(c) }) {
			return nil, ""
		}
		return columns, delimiter
	}
	return nil, ""
}

// weakLabel returns the word and the weak delimiter with which all keys begin, and the rest of each key. If the rests
// are all equal and have no digit, weakLabel returns no label, because the word may be part of a name.
func weakLabel(values []string) (label string, rest []string) {
	for _, d := range weak {
		head, _, ok := strings.Cut(values[0], string(d))
		label, rest = head+string(d), nil
		for _, v := range values {
			after, found := strings.CutPrefix(v, label)
			ok = ok && found && after != ""
			rest = append(rest, after)
		}
		if ok && alphabet().MatchString(head) && (!same(rest) || digit().MatchString(rest[0])) {
			return label, rest
		}
	}
	return "", values
}

// literal appends literal text to pieces. If the last piece is a literal, literal appends the text to this piece.
func literal(all []piece, text string) []piece {
	if n := len(all); n > 0 && all[n-1].parts == nil {
		all[n-1].literal += text
		return all
	}
	if text == "" {
		return all
	}
	return append(all, piece{literal: text})
}

// component appends a component to pieces.
func component(all []piece, column []string, label string, sort bool) []piece {
	typ, typed := typeOf(column, sort)
	if !typed && slices.ContainsFunc(column, func(v string) bool { return strings.ContainsAny(v, strong) }) {
		typ.Name = "path"
	}
	return append(all, piece{typ: typ, parts: column, label: label})
}

func same(column []string) bool {
	return all(column, func(v string) bool { return v == column[0] })
}

// candidates are the types that typeOf recognizes by the form of a value. If low and high are set, a value must also
// be between them. Otherwise, every integer of four digits would be a year.
var candidates = []struct{ typ, low, high string }{
	{typ: "date"}, {typ: "time"}, {typ: "millis"}, {typ: "micros"}, {typ: "nanos"}, {typ: "month"},
	{typ: "uuid"}, {typ: "ulid"},
	{"year", "1900", "2099"}, {"epoch", "1000000000", "2999999999"}, {"epochms", "1000000000000", "2999999999999"},
}

// typeOf returns the type that fits all values. If no type does, it returns string and false. Digits of equal length
// are a padded int if they differ or begin with 0. Integers of different lengths are an unpadded number, but only in
// a sort key, where their order matters.
func typeOf(column []string, sort bool) (keys.Type, bool) {
	for _, c := range candidates {
		t := keys.Type{Name: c.typ}
		if all(column, func(v string) bool { return decodes(t, v) && (c.low == "" || c.low <= v && v <= c.high) }) {
			return t, true
		}
	}
	width := len(column[0])
	switch {
	case all(column, func(v string) bool { return len(v) == width && digits().MatchString(v) }):
		if width > 1 && width <= 20 && (column[0][0] == '0' || !same(column)) {
			return keys.Type{Name: "int", Width: width}, true
		}
	case sort && all(column, plainInt().MatchString):
		return keys.Type{Name: "number"}, true
	}
	return keys.Type{Name: "string"}, false
}

func decodes(t keys.Type, v string) bool {
	_, err := t.Decode(v)
	return err == nil
}

func all(column []string, is func(string) bool) bool {
	return !slices.ContainsFunc(column, func(v string) bool { return !is(v) })
}

var braces = strings.NewReplacer("{", "{{", "}", "}}")

// source returns the template with the pieces, with a name for each component.
func source(pieces []piece, names []string) string {
	var b strings.Builder
	for _, p := range pieces {
		if p.parts == nil {
			b.WriteString(braces.Replace(p.literal))
			continue
		}
		typ := ""
		if p.typ.Name != "string" {
			typ = ":" + p.typ.String()
		}
		b.WriteString("{" + names[0] + typ + "}")
		names = names[1:]
	}
	return b.String()
}

// roundTrips reports whether a template matches every value, and builds the same value from the components that it
// has matched.
func roundTrips(t *keys.Template, values []string) bool {
	return all(values, func(v string) bool {
		found, ok := t.Match(v)
		if !ok {
			return false
		}
		again, err := t.Build(found)
		return err == nil && again == v
	})
}
