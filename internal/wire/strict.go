package wire

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// This file is about operations that another reader of the service reads:
// SearchVectors. It refuses a member of another JSON type where the others take it
// for absent, and says where. It is the reader of the serde_json library, as its
// texts show. Sources: conformance error-messages/searchVectors; dynoxide's captures
// in eu-west-2 and us-east-1, 2026-10-09 and 23.

// decodeStrictly reads the body of such an operation into the structure that x points to.
func decodeStrictly(body []byte, x any, faults *Faults) error {
	if err := checkStrictly(body, structureOf(reflect.TypeOf(x).Elem()).byName); err != nil {
		return err
	}
	return decodeShape(body, x, faults)
}

// wanted returns the JSON type of a member, and what the service calls it.
func wanted(m *member) (token jsontext.Kind, text string) {
	switch m.shape.kind {
	case kindString:
		return '"', "a string"
	case kindInteger:
		return '0', "i32"
	case kindList:
		return '[', "a sequence"
	}
	return '{', "a map"
}

// checkStrictly refuses a body with a member of another type, at the first, or
// without a required member. A body that is not an object is left to [decodeBody]. What
// is inside a member is not looked at.
func checkStrictly(body []byte, members []*member) error {
	d := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true))
	if d.PeekKind() != '{' {
		return nil
	}
	_, err := d.ReadToken()
	seen := map[string]bool{}
	for err == nil && d.PeekKind() == '"' {
		var name jsontext.Token
		if name, err = d.ReadToken(); err != nil {
			break
		}
		i := slices.IndexFunc(members, func(m *member) bool { return m.name == name.String() })
		if i < 0 {
			err = d.SkipValue()
			continue
		}
		var raw jsontext.Value
		if raw, err = d.ReadValue(); err != nil {
			break
		}
		m := members[i]
		seen[m.name] = true
		if wrong := checkType(m, raw, body, int(d.InputOffset())); wrong != nil {
			return wrong
		}
	}
	if err != nil || d.PeekKind() != '}' {
		return nil
	}

	if _, err := d.ReadToken(); err != nil {
		return nil
	}
	for _, m := range members {
		if m.required && !seen[m.name] {
			return Validation("missing field `" + m.name + "`" + placeIn(body, int(d.InputOffset())))
		}
	}
	return nil
}

// checkType refuses a value of another type. It ends at an offset of the body.
func checkType(m *member, raw jsontext.Value, body []byte, end int) error {
	kind := raw.Kind()
	if kind == 'n' && !m.required {
		return nil
	}
	token, want := wanted(m)
	if kind == token {
		if token != '0' {
			return nil
		}
		n, err := strconv.ParseInt(string(raw), 10, 64)
		if err == nil && n >= math.MinInt32 && n <= math.MaxInt32 {
			return nil
		}
		if _, big := strconv.ParseUint(string(raw), 10, 64); err == nil || big == nil {
			text := "invalid value: integer `%s`, expected %s%s"
			return Validation(fmt.Sprintf(text, raw, want, placeIn(body, end)))
		}
	}

	if f, err := strconv.ParseFloat(string(raw), 64); err != nil && math.IsInf(f, 0) {
		return errMalformed // that reader does not accept it as JSON
	}
	if kind == '{' || kind == '[' {
		end -= len(raw) // the reader does not go into it
	}
	text := fmt.Sprintf("invalid type: %s, expected %s%s", strictText(raw), want, placeIn(body, end))
	return Serialization(text).lower()
}

// strictText describes a value as the service does.
func strictText(raw jsontext.Value) string {
	switch raw.Kind() {
	case 'n':
		return "null"
	case 't', 'f':
		return "boolean `" + string(raw) + "`"
	case '{':
		return "map"
	case '[':
		return "sequence"
	case '"':
		text, _ := jsontext.AppendUnquote(nil, raw)
		return "string " + strconv.Quote(string(text))
	}

	if _, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return "integer `" + string(raw) + "`"
	}
	f, _ := strconv.ParseFloat(string(raw), 64) // ±Inf when out of range
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return "floating point `" + text + "`"
}

// placeIn returns the place of an offset in a body as the service gives it: the
// number of bytes before it in its line.
func placeIn(body []byte, offset int) string {
	before := body[:min(offset, len(body))]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := len(before) - 1 - bytes.LastIndexByte(before, '\n')
	return fmt.Sprintf(" at line %d column %d", line, column)
}
