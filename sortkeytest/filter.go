package sortkeytest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sortkey/sortkey/internal/text"
)

// The patterns of FilterCriteria are those of EventBridge. Sources: docs.aws.amazon.com/lambda/latest/
// dg/invocation-eventfiltering.html (the operators that Lambda supports) and with-ddb-filtering.html, and
// eventbridge/latest/userguide/eb-create-pattern-operators.html (the syntax of operators).

// Limits of patterns. Sources: invocation-eventfiltering.html (by default five filters) and API_Filter of Lambda.
const (
	mostFilters = 10
	mostPattern = 4096
)

// A filter is a list of patterns. A record is delivered if it matches one of them.
type filter []pattern

// A pattern matches a part of a record. A pattern with fields matches an object if the object's fields match them. A
// pattern with tests matches a scalar that passes at least one test.
type pattern struct {
	fields map[string]pattern // nil for a list of tests
	tests  []func(scalar any) bool
	absent bool // a missing scalar matches too
}

// parseFilters parses the patterns of FilterCriteria.
func parseFilters(patterns []string) (all filter, err error) {
	if len(patterns) > mostFilters {
		return nil, fmt.Errorf("there are %d Filters, want at most %d", len(patterns), mostFilters)
	}
	for _, source := range patterns {
		p, err := parsePattern(source)
		if err != nil {
			return nil, fmt.Errorf("filter %s: %w", shorten([]byte(source)), err)
		}
		all = append(all, p)
	}
	return all, nil
}

// parsePattern parses the JSON of a pattern.
func parsePattern(source string) (p pattern, err error) {
	if len(source) > mostPattern {
		return p, fmt.Errorf("pattern has %d bytes, want at most %d", len(source), mostPattern)
	}
	// AppendFormat also returns an error if an object has a name twice.
	if _, err := jsontext.AppendFormat(nil, []byte(source)); err != nil {
		return p, err
	}
	v, err := decodeJSON([]byte(source))
	if err != nil {
		return p, err
	}
	if _, ok := v.(map[string]any); !ok {
		return p, fmt.Errorf("pattern is %s, want an object", kindOf(v))
	}
	return parseAt("", v)
}

// decodeJSON decodes JSON. It keeps the text of numbers, as [json.Number].
func decodeJSON(data []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// parseAt parses the part of a pattern at a path. It is an object, or a list of values and operators.
func parseAt(path string, v any) (p pattern, err error) {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			return p, placed(path, "the object is empty: name a field")
		}
		p.fields = map[string]pattern{}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if name == "$or" {
				return p, placed(path, "$or is not supported: write a pattern in Filters for each alternative")
			}
			if p.fields[name], err = parseAt(strings.TrimPrefix(path+"."+name, "."), v[name]); err != nil {
				return p, err
			}
		}
		return p, nil
	case []any:
		if len(v) == 0 {
			return p, placed(path, "the list is empty: give a value or an operator")
		}
		for i, e := range v {
			test, err := parseTest(e)
			if err != nil {
				return p, placed(fmt.Sprintf("%s[%d]", path, i), "%w", err)
			}
			if test == nil {
				p.absent = true
				continue
			}
			p.tests = append(p.tests, test)
		}
		return p, nil
	}
	return p, placed(path, "the pattern is %s, want a list of values or operators, or an object", kindOf(v))
}

// placed returns an error that names the path of the wrong part of the pattern.
func placed(path, format string, args ...any) error {
	if path == "" {
		return fmt.Errorf(format, args...)
	}
	return fmt.Errorf("at %s: "+format, append([]any{path}, args...)...)
}

// parseTest parses an element of a list, which is a value or an operator, and returns its test. The test is nil for
// {"exists": false}.
func parseTest(v any) (func(any) bool, error) {
	switch v := v.(type) {
	case []any:
		return nil, fmt.Errorf("the pattern is a list in a list, want a value or an operator")
	case map[string]any:
		if len(v) != 1 {
			return nil, fmt.Errorf("the operator has %s, want one", text.Count(len(v), "member"))
		}
		for name, operand := range v {
			test, err := parseOperator(name, operand)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			return test, nil
		}
	}
	// Compare the text of numbers: 300, 300.0 and 3e2 differ.
	return func(scalar any) bool { return scalar == v }, nil
}

// comparisons are the operators that take a string.
var comparisons = map[string]func(s, operand string) bool{
	"prefix": strings.HasPrefix, "suffix": strings.HasSuffix, "equals-ignore-case": strings.EqualFold,
}

// parseOperator parses an operator and its operand.
func parseOperator(name string, operand any) (func(any) bool, error) {
	switch name {
	case "exists":
		exists, ok := operand.(bool)
		switch {
		case !ok:
			return nil, fmt.Errorf("the operand is %s, want true or false", kindOf(operand))
		case !exists:
			return nil, nil
		}
		return func(any) bool { return true }, nil
	case "anything-but":
		others, ok := operand.([]any)
		if !ok {
			others = []any{operand}
		}
		for _, e := range others {
			if _, ok := e.(string); !ok {
				return nil, fmt.Errorf("the operand is %s, want a text or a list of texts", kindOf(operand))
			}
		}
		return func(scalar any) bool { return !slices.Contains(others, scalar) }, nil
	case "numeric":
		return nil, fmt.Errorf("numbers in items are texts in a record, which numeric does not match: use a value")
	}

	compare := comparisons[name]
	if compare == nil {
		return nil, fmt.Errorf("unknown operator: %s", text.DidYouMean(name,
			[]string{"exists", "prefix", "suffix", "equals-ignore-case", "anything-but"}))
	}
	want, ok := operand.(string)
	if !ok {
		return nil, fmt.Errorf("the operand is %s, want a text", kindOf(operand))
	}
	return func(scalar any) bool {
		s, ok := scalar.(string)
		return ok && compare(s, want)
	}, nil
}

// kindOf describes an invalid value of a pattern, for messages.
func kindOf(v any) string {
	const most = 40
	shown, _ := text.JSON(v) // cannot fail, as v comes from JSON
	if len(shown) <= most {
		return string(shown)
	}
	switch v.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	}
	return "a long text"
}

// matches reports whether one of the patterns matches a record.
func (f filter) matches(record any) bool {
	return slices.ContainsFunc(f, func(p pattern) bool { return p.matches([]any{record}) })
}

// matches reports whether at least one of the values matches. If the value in a record is a list, the caller passes
// its elements. An object must match as a whole: matching fields of different objects in a list do not count
// together.
func (p pattern) matches(values []any) bool {
	if p.fields == nil {
		there := false
		for _, v := range values {
			if _, isObject := v.(map[string]any); isObject {
				continue
			}
			there = true
			if slices.ContainsFunc(p.tests, func(test func(any) bool) bool { return test(v) }) {
				return true
			}
		}
		return p.absent && !there
	}

	if len(values) == 0 {
		values = []any{nil} // if there is no object, treat every field as absent
	}
	return slices.ContainsFunc(values, func(v any) bool {
		object, _ := v.(map[string]any)
		for name, field := range p.fields {
			var inner []any
			if v, ok := object[name]; ok {
				inner = elements(v)
			}
			if !field.matches(inner) {
				return false
			}
		}
		return true
	})
}

// elements returns a value in a list. If the value is a list itself, elements returns its elements, and those of
// lists inside it.
func elements(v any) (all []any) {
	list, ok := v.([]any)
	if !ok {
		return []any{v}
	}
	for _, e := range list {
		all = append(all, elements(e)...)
	}
	return all
}
