package wire

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"github.com/sortkey/sortkey/internal/item/token"
)

// This file is for SearchVectors. The service reads the requests of this operation with another JSON reader, which
// must be serde_json according to the messages. Other operations treat some members of the wrong JSON type as absent.
// This reader rejects them, and reports their position in the body. Sources: conformance
// error-messages/searchVectors; dynoxide's captures in eu-west-2 and us-east-1, 2026-10-09 and 23.

// wanted returns the JSON type that a member must have, and its name in messages.
func wanted(m *member) (kind byte, text string) {
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

// checkStrictly returns an error for the first member of the wrong JSON type, or for a missing required member. It
// does not look inside members. If the body is not an object, it returns nil, as [decode] returns the error for that.
func checkStrictly(body []byte, members []*member) error {
	var r token.Reader
	r.Reset(body)
	if r.Peek() != '{' || r.Open() != nil {
		return nil
	}
	seen := map[string]bool{}
	for {
		name, more, err := r.Name()
		if err != nil {
			return nil
		}
		if !more {
			break
		}
		m := memberNamed(members, r.Text(name))
		raw, err := r.Value()
		if err != nil {
			return nil
		}
		if m == nil {
			continue
		}
		seen[m.name] = true
		if wrong := checkType(m, &r, raw, body); wrong != nil {
			return wrong
		}
	}

	for _, m := range members {
		if m.required && !seen[m.name] {
			return Validation("missing field `" + m.name + "`" + placeIn(body, r.Offset()))
		}
	}
	return nil
}

// checkType returns an error if the value that r has just read from the body has the wrong type for m.
func checkType(m *member, r *token.Reader, raw, body []byte) error {
	kind, end := token.Kind(raw), r.Offset()
	if kind == 'n' && !m.required {
		return nil
	}
	wanted, want := wanted(m)
	if kind == wanted {
		if wanted != '0' {
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
		return errMalformed // serde_json does not accept this number
	}
	if kind == '{' || kind == '[' {
		end -= len(raw) // the message has the position where the value begins
	}
	text := fmt.Sprintf("invalid type: %s, expected %s%s", strictText(r, raw), want, placeIn(body, end))
	return Serialization(text).lower()
}

// strictText describes the value that r has just read, in the words of the service's message.
func strictText(r *token.Reader, raw []byte) string {
	switch raw[0] {
	case 'n':
		return "null"
	case 't', 'f':
		return "boolean `" + string(raw) + "`"
	case '{':
		return "map"
	case '[':
		return "sequence"
	case '"':
		return "string " + strconv.Quote(string(r.Text(raw)))
	}

	if _, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return "integer `" + string(raw) + "`"
	}
	f, _ := strconv.ParseFloat(string(raw), 64) // ±Inf when out of range
	return "floating point `" + string(appendDouble(nil, f)) + "`"
}

// placeIn describes an offset in a body in the words of the service's message: the line, counted from 1, and the
// number of bytes before the offset in that line.
func placeIn(body []byte, offset int) string {
	before := body[:min(offset, len(body))]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := len(before) - 1 - bytes.LastIndexByte(before, '\n')
	return fmt.Sprintf(" at line %d column %d", line, column)
}
