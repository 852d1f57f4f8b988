package convert

import (
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keys"
)

// A piece is a part of an inferred template: literal text, or a component with
// its part of each key.
type piece struct {
	literal string
	typ     keys.Type
	parts   []string // nil for a literal
	label   string   // the nearest literal word before it, without its delimiter
}

// Delimiters between components. Strong ones only delimit; weak ones also occur
// in dates, names and ids.
const (
	strong = "#|/"
	weak   = ":_.-"
)

var (
	word     = text.Pattern(`^[$@]?\pL[\pL_ -]*$`)
	alphabet = text.Pattern(`^[$@]?\pL+$`)
	upper    = text.Pattern(`^[$@]?\p{Lu}[\p{Lu}_ -]*$`)
	digits   = text.Pattern(`^[0-9]+$`)
	plainInt = text.Pattern(`^(0|-?[1-9][0-9]{0,30})$`)
)

// inferPieces infers the pieces of the keys of one attribute, which must not be
// empty. It does not check that they reproduce the keys: see roundTrips.
func inferPieces(values []string, sort bool) []piece {
	in := inferrer{sort: sort}
	in.split(values, strong+weak, true)
	return in.merged()
}

type inferrer struct {
	sort   bool // the attribute is a sort key
	pieces []piece
}

// split appends the pieces of a column of keys or parts of keys. Last says that
// nothing follows it.
func (in *inferrer) split(column []string, delimiters string, last bool) {
	if typ, ok := typeOf(column, in.sort); ok {
		in.component(column, typ)
		return
	}

	for i, d := range delimiters {
		columns, ok := cut(column, string(d))
		if !ok {
			continue
		}
		if strings.ContainsRune(weak, d) {
			if in.weakly(column, string(d), delimiters[i:], last) {
				return
			}
			continue
		}

		if columns == nil {
			if last && in.head(column, string(d), delimiters[i:]) {
				return
			}
			continue
		}

		for k, c := range columns {
			if k > 0 {
				in.literal(string(d))
			}
			end := last && k == len(columns)-1
			if in.constant(c, end) {
				continue
			}
			in.split(c, delimiters[i+1:], end)
		}
		return
	}

	if in.constant(column, last) {
		return
	}
	typ := keys.Type{Name: "string"}
	if last && slices.ContainsFunc(column, func(v string) bool { return strings.ContainsAny(v, strong) }) {
		typ.Name = "path"
	}
	in.component(column, typ)
}

// cut splits every value at d. It is ok if all values contain d. It returns
// columns if all contain d equally often and no column is empty in only some
// values.
func cut(column []string, d string) (columns [][]string, ok bool) {
	for i, v := range column {
		parts := strings.Split(v, d)
		if len(parts) == 1 {
			return nil, false
		}
		if i == 0 {
			columns = make([][]string, len(parts))
		}
		if len(parts) != len(columns) {
			columns = nil
			ok = true
		}
		for k := range columns {
			columns[k] = append(columns[k], parts[k])
		}
		if ok && len(parts) == 1 {
			return nil, false
		}
	}

	for _, c := range columns {
		if slices.Contains(c, "") && !same(c) {
			return nil, true
		}
	}
	return columns, true
}

// head splits off the common first part of keys of different depth; the rest is
// a path.
func (in *inferrer) head(column []string, d, delimiters string) bool {
	first, rest := make([]string, len(column)), make([]string, len(column))
	for i, v := range column {
		first[i], rest[i], _ = strings.Cut(v, d)
		if first[i] == "" || rest[i] == "" {
			return false
		}
	}
	if _, typed := typeOf(first, in.sort); !typed && !(same(first) && word().MatchString(first[0])) {
		return false
	}
	if !in.constant(first, false) {
		in.split(first, delimiters[1:], false)
	}
	in.literal(d)
	in.split(rest, delimiters, true)
	return true
}

// weakly splits at the first weak delimiter d, which could be part of a value:
// the text before it must be a common word, or both sides must have known
// types.
func (in *inferrer) weakly(column []string, d, delimiters string, last bool) bool {
	first, rest := make([]string, len(column)), make([]string, len(column))
	varied := false
	for i, v := range column {
		first[i], rest[i], _ = strings.Cut(v, d)
		if first[i] == "" || rest[i] == "" {
			return false
		}
		varied = varied || rest[i] != rest[0] || strings.ContainsAny(rest[i], "0123456789")
	}
	if same(first) && alphabet().MatchString(first[0]) && varied && in.front() {
		in.literal(first[0] + d)
		in.split(rest, delimiters, last)
		return true
	}
	a, okA := typeOf(first, in.sort)
	_, okB := typeOf(rest, in.sort)
	if okA && okB && a.Name != "int" && a.Name != "number" {
		in.component(first, a)
		in.literal(d)
		in.split(rest, delimiters, last)
		return true
	}
	return false
}

// front reports whether only words of weak delimiters came before.
func (in *inferrer) front() bool {
	return !slices.ContainsFunc(in.pieces, func(p piece) bool {
		return p.parts != nil || strings.ContainsAny(p.literal, strong)
	})
}

// constant takes a column of equal words as literal text in the position of a
// label: at the front or after a value. At the end of a key, after a label, an
// equal word is a value that happens to be the same in all samples.
func (in *inferrer) constant(column []string, last bool) bool {
	v := column[0]
	if !same(column) {
		return false
	}
	if v == "" {
		return true
	}
	label := in.labelled() == ""
	switch {
	case isState(v) && !(last && len(in.pieces) == 0):
		return false
	case !word().MatchString(v):
		return false
	case label && last && len(in.pieces) == 0:
		// The whole key is one word.
		if !in.sort && !upper().MatchString(v) {
			return false
		}
	case label:
	case last || !upper().MatchString(v):
		return false
	}
	in.literal(v)
	return true
}

// labelled returns the last word of the literal at the end of the pieces, or ""
// after a component or at the front.
func (in *inferrer) labelled() string {
	var text string
	for i := len(in.pieces) - 1; i >= 0 && in.pieces[i].parts == nil; i-- {
		text = in.pieces[i].literal + text
	}
	parts := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(strong+weak, r) })
	if len(parts) == 0 {
		return ""
	}
	return parts[len(parts)-1]
}

func (in *inferrer) literal(text string) {
	in.pieces = append(in.pieces, piece{literal: text})
}

func (in *inferrer) component(column []string, typ keys.Type) {
	label := in.labelled()
	for i := len(in.pieces) - 1; i >= 0 && label == ""; i-- {
		label = in.pieces[i].label
	}
	in.pieces = append(in.pieces, piece{typ: typ, parts: column, label: label})
}

// merged joins adjacent literals.
func (in *inferrer) merged() (all []piece) {
	for _, p := range in.pieces {
		if n := len(all); p.parts == nil && n > 0 && all[n-1].parts == nil {
			all[n-1].literal += p.literal
			continue
		}
		all = append(all, p)
	}
	return slices.DeleteFunc(all, func(p piece) bool { return p.parts == nil && p.literal == "" })
}

func same(column []string) bool {
	for _, v := range column {
		if v != column[0] {
			return false
		}
	}
	return true
}

// candidates are the types that a text alone can identify.
var candidates = []keys.Type{
	{Name: "date"},
	{Name: "time"},
	{Name: "millis"},
	{Name: "micros"},
	{Name: "nanos"},
	{Name: "month"},
	{Name: "uuid"},
	{Name: "ulid"},
}

// typeOf returns the type that all values have, or false if they are just text.
func typeOf(column []string, sort bool) (keys.Type, bool) {
	for _, t := range candidates {
		if all(column, func(v string) bool { return decodes(t, v) }) {
			return t, true
		}
	}
	return number(column, sort)
}

func decodes(t keys.Type, v string) bool {
	_, err := t.Decode(v)
	return err == nil
}

// number returns the type of digits. Numbers of one length are padded if they
// differ or one begins with 0; numbers of different lengths are not, which
// matters in a sort key.
func number(column []string, sort bool) (keys.Type, bool) {
	width := len(column[0])
	padded, several := false, false
	for _, v := range column {
		if !digits().MatchString(v) || len(v) != width {
			if sort && all(column, plainInt().MatchString) {
				return keys.Type{Name: "number"}, true
			}
			return keys.Type{}, false
		}
		padded = padded || v[0] == '0'
		several = several || v != column[0]
	}

	between := func(low, high string) bool {
		return all(column, func(v string) bool { return low <= v && v <= high })
	}
	switch {
	case width == 4 && between("1900", "2099"):
		return keys.Type{Name: "year"}, true
	case width == 10 && between("1000000000", "2999999999"):
		return keys.Type{Name: "epoch"}, true
	case width == 13 && between("1000000000000", "2999999999999"):
		return keys.Type{Name: "epochms"}, true
	case width > 1 && width <= 20 && (padded || several):
		return keys.Type{Name: "int", Width: width}, true
	}
	return keys.Type{}, false
}

func all(column []string, is func(string) bool) bool {
	for _, v := range column {
		if !is(v) {
			return false
		}
	}
	return true
}

var braces = strings.NewReplacer("{", "{{", "}", "}}")

// source returns pieces as a template, with a name for each component.
func source(pieces []piece, names []string) string {
	var b strings.Builder
	for _, p := range pieces {
		if p.parts == nil {
			b.WriteString(braces.Replace(p.literal))
			continue
		}
		b.WriteByte('{')
		b.WriteString(names[0])
		names = names[1:]
		if p.typ.Name != "string" {
			b.WriteString(":" + p.typ.String())
		}
		b.WriteByte('}')
	}
	return b.String()
}

// roundTrips reports whether a template matches the keys and builds the same
// keys from the values.
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
