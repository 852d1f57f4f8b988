package sortkeytest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sortkey/sortkey/internal/text"
)

// The patterns of FilterCriteria are those of EventBridge. Sources: docs.aws.amazon.com/lambda/latest/
// dg/invocation-eventfiltering.html (which operators Lambda has) and with-ddb-filtering.html,
// eventbridge/latest/userguide/eb-create-pattern-operators.html (their forms), and the documentation
// of github.com/aws/event-ruler (lists in a record, and what is refused).

// The limits of patterns. Sources: invocation-eventfiltering.html, by default five, and API_Filter of
// Lambda; the range of numbers in comparisons is from eb-create-pattern-operators.html.
const (
	mostFilters = 10
	mostPattern = 4096
	mostNumber  = 5e9
)

// A filter is patterns. A record is delivered if it matches one of them.
type filter []pattern

// A pattern is conditions that all must hold.
type pattern []condition

// A condition is what the values at a path are like: one of them meets one of the tests.
type condition struct {
	path   string // names, with a dot between two
	tests  []func(leaf) bool
	absent bool // or there is no value at the path
}

// parseFilters reads the patterns of FilterCriteria, of which a record matches any.
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

// parsePattern reads a pattern.
func parsePattern(source string) (pattern, error) {
	if len(source) > mostPattern {
		return nil, fmt.Errorf("pattern has %d bytes, want at most %d", len(source), mostPattern)
	}
	if _, err := jsontext.AppendFormat(nil, []byte(source)); err != nil { // which also refuses a name twice
		return nil, err
	}
	v, err := decodeJSON([]byte(source))
	if err != nil {
		return nil, err
	}

	fields, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("pattern is %s, want an object", kindOf(v))
	}
	p, err := parseObject(fields, "")
	if err != nil {
		return nil, err
	}
	slices.SortFunc(p, func(a, b condition) int { return strings.Compare(a.path, b.path) })
	for i := 1; i < len(p); i++ {
		if p[i].path == p[i-1].path {
			return nil, fmt.Errorf("%s comes twice: write one list for it", p[i].path)
		}
	}
	return p, nil
}

// decodeJSON decodes JSON with its numbers as they are written.
func decodeJSON(data []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// parseObject reads an object at a path, all of whose members must match.
func parseObject(fields map[string]any, path string) (all pattern, err error) {
	if len(fields) == 0 {
		return nil, placed(path, "the object is empty: name a field")
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		member, err := parseMember(name, fields[name], path)
		if err != nil {
			return nil, err
		}
		all = append(all, member...)
	}
	return all, nil
}

// parseMember reads a member of an object at a path.
func parseMember(name string, v any, path string) (pattern, error) {
	if name == "$or" {
		return nil, placed(path, "$or is not supported: write a pattern in Filters for each alternative")
	}
	inner := strings.TrimPrefix(path+"."+name, ".")
	switch v := v.(type) {
	case map[string]any:
		return parseObject(v, inner)
	case []any:
		c := condition{path: inner}
		if len(v) == 0 {
			return nil, placed(inner, "the list is empty: give a value or an operator")
		}
		for i, e := range v {
			test, err := parseTest(e)
			if err != nil {
				return nil, placed(fmt.Sprintf("%s[%d]", inner, i), "%w", err)
			}
			if test == nil {
				c.absent = true
				continue
			}
			c.tests = append(c.tests, test)
		}
		return pattern{c}, nil
	}

	return nil, placed(inner, "the pattern is %s, want a list of values or operators, or an object", kindOf(v))
}

// placed is the error of a place in a pattern.
func placed(path, format string, args ...any) error {
	if path == "" {
		return fmt.Errorf(format, args...)
	}
	return fmt.Errorf("at %s: "+format, append([]any{path}, args...)...)
}

// parseTest reads an element of a list: a value or an operator. It returns nil for
// {"exists": false}.
func parseTest(v any) (func(leaf) bool, error) {
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
	// Numbers are compared as they are written: 300, 300.0 and 3e2 differ.
	return func(l leaf) bool { return l.value == v }, nil
}

// parseOperator reads an operator with its operand.
func parseOperator(name string, operand any) (func(leaf) bool, error) {
	switch name {
	case "exists":
		exists, ok := operand.(bool)
		switch {
		case !ok:
			return nil, fmt.Errorf("the operand is %s, want true or false", kindOf(operand))
		case !exists:
			return nil, nil
		}
		return func(leaf) bool { return true }, nil
	case "prefix", "suffix", "equals-ignore-case":
		return parseText(name, operand)
	case "anything-but":
		return parseBut(operand)
	case "numeric":
		return parseNumeric(operand)
	case "wildcard", "cidr", "exactly":
		return nil, fmt.Errorf("EventBridge has this operator, but Lambda does not list it for filters: " +
			"use prefix, suffix or a value")
	}
	return nil, fmt.Errorf("unknown operator: %s", text.DidYouMean(name,
		[]string{"exists", "prefix", "suffix", "equals-ignore-case", "anything-but", "numeric"}))
}

// comparisons of texts by the name of the operator.
var comparisons = map[string]func(s, operand string) bool{
	"prefix": strings.HasPrefix, "suffix": strings.HasSuffix, "equals-ignore-case": strings.EqualFold,
}

// parseText reads the operand of an operator for texts.
func parseText(name string, operand any) (func(leaf) bool, error) {
	text, ok := operand.(string)
	if !ok {
		return nil, fmt.Errorf("the operand is %s, want a text", kindOf(operand))
	}
	compare := comparisons[name]
	return func(l leaf) bool {
		s, ok := l.value.(string)
		return ok && compare(s, text)
	}, nil
}

// parseBut reads the operand of anything-but: a text, a number, or a list of either.
func parseBut(operand any) (func(leaf) bool, error) {
	texts, numbers, err := operands(operand)
	if err != nil {
		return nil, err
	}
	return func(l leaf) bool {
		if s, ok := l.value.(string); ok {
			return !slices.Contains(texts, s)
		}
		n, ok := l.number()
		return !ok || !slices.Contains(numbers, n)
	}, nil
}

// operands reads a text or a number, or a list of texts or of numbers.
func operands(v any) (texts []string, numbers []float64, err error) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, e := range list {
		switch e := e.(type) {
		case string:
			texts = append(texts, e)
		case json.Number:
			n, err := operandNumber(e)
			if err != nil {
				return nil, nil, err
			}
			numbers = append(numbers, n)
		default:
			return nil, nil, fmt.Errorf("the operand is %s, want a text, a number, or a list of either", kindOf(e))
		}
	}

	if (len(texts) == 0) == (len(numbers) == 0) {
		return nil, nil, fmt.Errorf("the list has texts and numbers, or nothing: give texts only or numbers only")
	}
	return texts, numbers, nil
}

// operandNumber returns a number to compare with.
func operandNumber(v any) (float64, error) {
	number, ok := v.(json.Number)
	if !ok {
		return 0, fmt.Errorf("the operand is %s, want a number", kindOf(v))
	}
	n, err := strconv.ParseFloat(string(number), 64)
	if err != nil || n < -mostNumber || n > mostNumber {
		return 0, fmt.Errorf("the number %s is outside -5.0e9 to 5.0e9", number)
	}
	return n, nil
}

// parseNumeric reads the operand of numeric: one comparison, or > or >= and then < or <=. It is met by
// numbers in JSON. The numbers of DynamoDB are texts there.
func parseNumeric(operand any) (func(leaf) bool, error) {
	list, ok := operand.([]any)
	if !ok || len(list) != 2 && len(list) != 4 {
		return nil, fmt.Errorf(`the operand is %s, want one comparison or a range, `+
			`such as ["=", 5] or [">", 0, "<=", 5]`, kindOf(operand))
	}
	var bounds []float64
	for pair := range slices.Chunk(list, 2) {
		n, err := operandNumber(pair[1])
		if err != nil {
			return nil, fmt.Errorf("after %v: %w", pair[0], err)
		}
		bounds = append(bounds, n)
	}

	first, _ := list[0].(string)
	compare := numeric[first]
	if compare == nil {
		return nil, fmt.Errorf("%v is not a comparison, want =, <, <=, > or >=", list[0])
	}
	low := bounds[0]
	if len(bounds) == 1 {
		return ofNumber(func(n float64) bool { return compare(n, low) }), nil
	}
	last, _ := list[2].(string)
	if !strings.HasPrefix(first, ">") || !strings.HasPrefix(last, "<") || numeric[last] == nil || low >= bounds[1] {
		return nil, fmt.Errorf("%s is not a range, want > or >= a number and < or <= a larger one", show(list))
	}

	below, high := numeric[last], bounds[1]
	return ofNumber(func(n float64) bool { return compare(n, low) && below(n, high) }), nil
}

// numeric are the comparisons of numbers.
var numeric = map[string]func(n, bound float64) bool{
	"=":  func(n, bound float64) bool { return n == bound },
	"<":  func(n, bound float64) bool { return n < bound },
	"<=": func(n, bound float64) bool { return n <= bound },
	">":  func(n, bound float64) bool { return n > bound },
	">=": func(n, bound float64) bool { return n >= bound },
}

func ofNumber(match func(float64) bool) func(leaf) bool {
	return func(l leaf) bool {
		n, ok := l.number()
		return ok && match(n)
	}
}

// show returns a part of a pattern as JSON.
func show(v any) string {
	shown, _ := text.JSON(v) // what was decoded can be encoded
	return string(shown)
}

// kindOf describes a value that is wrong.
func kindOf(v any) string {
	const most = 40
	if shown := show(v); len(shown) <= most {
		return shown
	}
	switch v.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	}
	return "a long text"
}

// A leaf is a scalar in a record.
type leaf struct {
	value  any // a string, json.Number, bool or nil
	within []element
}

func (l leaf) number() (float64, bool) {
	number, ok := l.value.(json.Number)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseFloat(string(number), 64)
	return n, err == nil
}

// An element is an element of a list in a record. Lists are numbered.
type element struct{ list, index int }

// merge returns the elements of both, and reports whether none is another element of a list in
// the other.
func merge(a, b []element) ([]element, bool) {
	all := slices.Clip(a)
	for _, e := range b {
		i := slices.IndexFunc(a, func(x element) bool { return x.list == e.list })
		switch {
		case i < 0:
			all = append(all, e)
		case a[i] != e:
			return nil, false
		}
	}
	return all, true
}

// A flatRecord is the scalars of a record by path. A list is not a part of a path: what it contains
// is where it is.
type flatRecord struct {
	leaves map[string][]leaf
	lists  int
}

func flatten(record any) flatRecord {
	r := flatRecord{leaves: map[string][]leaf{}}
	r.add("", record, nil)
	return r
}

func (r *flatRecord) add(path string, v any, within []element) {
	switch v := v.(type) {
	case map[string]any:
		for name, e := range v {
			r.add(strings.TrimPrefix(path+"."+name, "."), e, within)
		}
	case []any:
		list := r.lists
		r.lists++
		for i, e := range v {
			switch e.(type) {
			case map[string]any, []any:
				r.add(path, e, append(slices.Clip(within), element{list, i}))
			default:
				r.add(path, e, within)
			}
		}
	default:
		r.leaves[path] = append(r.leaves[path], leaf{v, within})
	}
}

// matches reports whether one of the patterns matches.
func (f filter) matches(r flatRecord) bool {
	return slices.ContainsFunc(f, func(p pattern) bool { return p.matches(r, nil) })
}

// matches reports whether all conditions hold for values that are not in different elements of
// a list, nor of one that within has.
func (p pattern) matches(r flatRecord, within []element) bool {
	if len(p) == 0 {
		return true
	}
	c, there := p[0], false
	for _, l := range r.leaves[c.path] {
		all, ok := merge(within, l.within)
		if !ok {
			continue
		}
		there = true
		if slices.ContainsFunc(c.tests, func(test func(leaf) bool) bool { return test(l) }) && p[1:].matches(r, all) {
			return true
		}
	}
	return c.absent && !there && p[1:].matches(r, within)
}
