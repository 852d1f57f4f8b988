package sortkeytest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/text"
)

// A filter reports whether a value in the JSON of a record, or its absence, matches.
// Source: docs.aws.amazon.com/lambda/latest/dg/invocation-eventfiltering.html and
// with-ddb-filtering.html.
type filter func(v any, there bool) bool

// parseFilter reads a pattern of FilterCriteria.
func parseFilter(pattern string) (filter, error) {
	var fields map[string]any
	err := json.Unmarshal([]byte(pattern), &fields)
	if err == nil && len(fields) == 0 {
		err = errors.New("it is empty")
	}
	if err == nil {
		var f filter
		if f, err = objectFilter(fields); err == nil {
			return f, nil
		}
	}
	return nil, fmt.Errorf("filter %s: %w", pattern, err)
}

// objectFilter returns a filter for an object, all of whose fields must match.
func objectFilter(fields map[string]any) (filter, error) {
	rules := make(map[string]filter, len(fields))
	for name, p := range fields {
		var err error
		switch p := p.(type) {
		case map[string]any:
			rules[name], err = objectFilter(p)
		case []any:
			of := valueFilter
			if name == "$or" {
				of = func(p any) (filter, error) {
					alternative, ok := p.(map[string]any)
					if !ok {
						return nil, errors.New("$or is not a list of objects")
					}
					return objectFilter(alternative)
				}
			}
			rules[name], err = anyFilter(p, of)
		default:
			err = fmt.Errorf("%s is neither a list nor an object", name)
		}
		if err != nil {
			return nil, err
		}
	}
	return func(v any, _ bool) bool {
		object, _ := v.(map[string]any)
		for name, rule := range rules {
			field, there := object[name]
			if name == "$or" {
				field, there = object, true
			}
			if !rule(field, there) {
				return false
			}
		}
		return true
	}, nil
}

// anyFilter returns a filter that matches what any of several patterns matches.
func anyFilter[T any](patterns []T, of func(T) (filter, error)) (filter, error) {
	if len(patterns) == 0 {
		return nil, errors.New("a list is empty")
	}
	var rules []filter
	for _, p := range patterns {
		rule, err := of(p)
		if err != nil {
			return nil, err
		}
		rules = append(rules, rule)
	}
	return func(v any, there bool) bool {
		return slices.ContainsFunc(rules, func(rule filter) bool { return rule(v, there) })
	}, nil
}

// valueFilter returns a filter for an element of a list in a pattern: a value or an
// operator. A list in the record matches if one of its elements does.
func valueFilter(pattern any) (filter, error) {
	operator, ok := pattern.(map[string]any)
	if !ok {
		return elements(func(v any) bool { return v == pattern }), nil
	}
	if len(operator) == 1 {
		for name, arg := range operator {
			s, isText := arg.(string)
			want, isBool := arg.(bool)
			list, isList := arg.([]any)
			switch {
			case name == "exists" && isBool:
				return func(v any, there bool) bool { // of leaves
					_, object := v.(map[string]any)
					return want == (there && !object)
				}, nil
			case name == "prefix" && isText:
				return ofText(strings.HasPrefix, s), nil
			case name == "suffix" && isText:
				return ofText(strings.HasSuffix, s), nil
			case name == "equals-ignore-case" && isText:
				return ofText(strings.EqualFold, s), nil
			case name == "anything-but" && (isText || isList):
				if isText {
					list = []any{s}
				}
				return elements(func(v any) bool { return !slices.Contains(list, v) }), nil
			case name == "numeric" && isList:
				return numericFilter(list)
			}
		}
	}
	shown, _ := text.JSON(pattern)
	return nil, fmt.Errorf("%s is not an operator, or has the wrong argument", shown)
}

// elements returns a filter for a value that is there, or for any element of a list.
func elements(match func(any) bool) filter {
	return func(v any, there bool) bool {
		if list, ok := v.([]any); ok {
			return slices.ContainsFunc(list, match)
		}
		return there && match(v)
	}
}

// ofText is elements for strings; match compares each with arg.
func ofText(match func(s, arg string) bool, arg string) filter {
	return elements(func(v any) bool {
		s, ok := v.(string)
		return ok && match(s, arg)
	})
}

// numericFilter returns the filter for ["=", 5] or [">", 0, "<=", 5]. It matches JSON
// numbers, not DynamoDB's numbers, which are strings in JSON.
func numericFilter(list []any) (filter, error) {
	var bounds []func(float64) bool
	for pair := range slices.Chunk(list, 2) {
		if len(pair) < 2 {
			return nil, errors.New("numeric has an operator without a number")
		}
		bound, ok := pair[1].(float64)
		if !ok {
			return nil, fmt.Errorf("%v in numeric is not a number", pair[1])
		}
		compare := map[any]func(float64) bool{
			"=":  func(f float64) bool { return f == bound },
			"<":  func(f float64) bool { return f < bound },
			"<=": func(f float64) bool { return f <= bound },
			">":  func(f float64) bool { return f > bound },
			">=": func(f float64) bool { return f >= bound },
		}[pair[0]]
		if compare == nil {
			return nil, fmt.Errorf("%v in numeric is not a comparison", pair[0])
		}
		bounds = append(bounds, compare)
	}
	return elements(func(v any) bool {
		f, ok := v.(float64)
		return ok && !slices.ContainsFunc(bounds, func(holds func(float64) bool) bool { return !holds(f) })
	}), nil
}
