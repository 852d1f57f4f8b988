package tabledef

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// A typed is the type of a variable, as far as it matters: the defaults of its optional
// members.
type typed struct {
	elem     *typed            // of a list, a set or a map
	members  map[string]*typed // of an object
	optional bool
	value    any // the default of an optional member
	text     bool
	number   bool
	boolean  bool
}

// typeOf evaluates the type of a variable.
func (s *scope) typeOf(e expression) *typed {
	e = trim(e)
	if s.depth++; s.depth > maxDepth || len(e) == 0 {
		s.depth--
		return &typed{}
	}
	defer func() { s.depth-- }()
	if len(e) < 3 || e[1].text != "(" {
		name := strings.Trim(e[0].text, `"`)
		return &typed{text: name == "string", number: name == "number", boolean: name == "bool"}
	}
	inner := trim(e[2 : len(e)-1])
	switch e[0].text {
	case "list", "set", "map":
		return &typed{elem: s.typeOf(inner)}
	case "optional":
		parts := splitAt(inner, 2, ",")
		t := *s.typeOf(parts[0])
		t.optional = true
		if len(parts) > 1 {
			t.value = s.value(trim(parts[1]))
		}
		return &t
	case "object":
		t := &typed{members: map[string]*typed{}}
		if len(inner) < 2 {
			return t
		}
		for _, part := range splitAt(inner[1:len(inner)-1], len(inner), ",", "\n") {
			if pair := splitAt(trim(part), 2, "=", ":"); len(pair) == 2 && len(pair[0]) > 0 {
				t.members[strings.Trim(pair[0][0].text, `"`)] = s.typeOf(pair[1])
			}
		}
		return t
	}
	return &typed{}
}

// apply adds the defaults of optional members to a value.
func (t *typed) apply(v any) any {
	switch v := v.(type) {
	case []any:
		for i, m := range v {
			if t.elem != nil {
				v[i] = t.elem.apply(m)
			}
		}
	case map[string]any:
		for name, m := range v {
			if t.elem != nil {
				v[name] = t.elem.apply(m)
			}
		}
		for name, m := range t.members {
			if have, ok := v[name]; (!ok || have == nil) && m.optional {
				v[name] = m.value
			}
			if v[name] != nil {
				v[name] = m.apply(v[name])
			}
		}
	}
	return v
}

// call evaluates a function.
func (p *evaluator) call(name string, e expression) any {
	fail := unresolved{name: name + "(" + e.String() + ")"}
	list := p.arguments(e)
	switch name {
	case "try", "coalesce", "coalescelist":
		for _, v := range list {
			u, unknown := v.(unresolved)
			empty := name != "try" && (v == nil || v == "" || len(elements(v)) == 0 && isList(v))
			if !(unknown && u.standIn == "") && !empty {
				return v
			}
		}
		return fail
	case "can":
		u, unknown := list[0].(unresolved)
		return len(list) == 1 && !(unknown && u.standIn == "")
	}
	if len(list) == 0 {
		return fail
	}
	if slices.Contains([]string{"lower", "upper", "title", "trimspace", "replace", "substr", "format", "join", "tostring"}, name) {
		return p.text(name, list, fail)
	}
	for _, v := range list {
		if u, unknown := v.(unresolved); unknown && name != "concat" && name != "merge" && name != "lookup" {
			fail.of = append(fail.of, u.of...)
			return fail
		}
	}
	switch v := list[0]; name {
	case "toset", "tolist", "distinct", "compact", "flatten", "sort", "reverse":
		return reshape(name, v, fail)
	case "tomap", "nonsensitive", "sensitive":
		return v
	case "tonumber", "tobool":
		if text, ok := v.(string); ok && name == "tobool" {
			return text == "true"
		}
		return v
	case "length":
		switch v := v.(type) {
		case string:
			return strconv.Itoa(len([]rune(v)))
		case map[string]any:
			return strconv.Itoa(len(v))
		case []any:
			return strconv.Itoa(len(v))
		}
	case "concat":
		out := []any{}
		for _, v := range list {
			if !isList(v) && v != nil {
				return fail
			}
			if out = append(out, elements(v)...); len(out) > maxList {
				return tooLong
			}
		}
		return out
	case "merge":
		out := map[string]any{}
		for _, v := range list {
			m, ok := v.(map[string]any)
			if !ok && v != nil {
				return fail
			}
			if maps.Copy(out, m); len(out) > maxList {
				return tooLong
			}
		}
		return out
	case "keys":
		out := []any{}
		for _, k := range slices.Sorted(maps.Keys(object(v))) {
			out = append(out, k)
		}
		return out
	case "values":
		out := []any{}
		for _, k := range slices.Sorted(maps.Keys(object(v))) {
			out = append(out, object(v)[k])
		}
		return out
	case "lookup":
		if len(list) < 2 {
			return fail
		}
		m, ok := v.(map[string]any)
		if found, has := m[fmt.Sprint(p.settled(list[1]))]; has {
			return found
		}
		if len(list) > 2 && (ok || v == nil) {
			return list[2]
		}
	case "element":
		if at, ok := numberOf(list[len(list)-1]); ok && len(elements(v)) > 0 && at >= 0 {
			return elements(v)[int(at)%len(elements(v))]
		}
	case "contains":
		if len(list) == 2 {
			return slices.ContainsFunc(elements(v), func(m any) bool { return fmt.Sprint(m) == fmt.Sprint(list[1]) })
		}
	case "split":
		if text, ok := list[len(list)-1].(string); ok && len(list) == 2 {
			out := []any{}
			for part := range strings.SplitSeq(text, fmt.Sprint(v)) {
				out = append(out, part)
			}
			return out
		}
	case "zipmap":
		if len(list) == 2 && len(elements(v)) <= len(elements(list[1])) {
			out := map[string]any{}
			for i, k := range elements(v) {
				out[fmt.Sprint(k)] = elements(list[1])[i]
			}
			return out
		}
	case "min", "max":
		best, ok := numberOf(v)
		for _, m := range list[1:] {
			n, is := numberOf(m)
			if ok = ok && is; name == "min" {
				best = min(best, n)
			} else {
				best = max(best, n)
			}
		}
		if ok {
			return numberText(best)
		}
	case "range":
		if n, ok := numberOf(v); ok && len(list) == 1 && n >= 0 && n <= maxRepeated {
			out := []any{}
			for i := range int(n) {
				out = append(out, strconv.Itoa(i))
			}
			return out
		}
	case "startswith", "endswith":
		text, ok := v.(string)
		part, okPart := list[len(list)-1].(string)
		if ok && okPart && name == "startswith" {
			return strings.HasPrefix(text, part)
		}
		return ok && okPart && strings.HasSuffix(text, part)
	case "file":
		if data, err := readRegular(p.beside(fmt.Sprint(v))); err == nil {
			return string(data)
		}
	case "fileexists":
		_, err := readRegular(p.beside(fmt.Sprint(v)))
		return err == nil
	case "jsondecode":
		var out any
		if json.Unmarshal([]byte(fmt.Sprint(v)), &out) == nil {
			return out
		}
	case "yamldecode":
		if out := parseYAML([]byte(fmt.Sprint(v))); out != nil {
			return out
		}
	}
	return fail
}

// text evaluates a function of texts. What stands in for an unknown one is changed like the
// text itself.
func (p *evaluator) text(name string, list []any, fail unresolved) any {
	var parts []any
	for _, v := range list {
		if isList(v) {
			parts = append(parts, elements(v)...)
		} else {
			parts = append(parts, v)
		}
	}
	if name == "join" {
		between, ok := list[0].(string)
		if !ok || slices.ContainsFunc(parts, func(v any) bool { return !isScalar(v) }) {
			return fail
		}
		return join(parts[1:], between)
	}
	for _, v := range list {
		if u, ok := v.(unresolved); ok {
			fail.of = append(fail.of, u.of...)
		}
		if !isScalar(v) {
			return fail
		}
	}
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = fmt.Sprint(standIn(v))
	}
	out, ok := changed(name, texts)
	switch {
	case !ok:
		return fail
	case fail.of == nil:
		return out
	}
	fail.standIn = legalName(out)
	return fail
}

// changed returns the result of a function of texts.
func changed(name string, texts []string) (string, bool) {
	text := texts[0]
	switch {
	case name == "lower":
		return strings.ToLower(text), true
	case name == "upper":
		return strings.ToUpper(text), true
	case name == "title":
		return strings.ToUpper(text[:min(1, len(text))]) + text[min(1, len(text)):], true
	case name == "trimspace":
		return strings.TrimSpace(text), true
	case name == "tostring":
		return text, true
	case name == "replace" && len(texts) == 3 && !strings.HasPrefix(texts[1], "/"):
		if len(text)+strings.Count(text, texts[1])*len(texts[2]) > maxText {
			return "", false
		}
		return strings.ReplaceAll(text, texts[1], texts[2]), true
	case name == "substr" && len(texts) == 3:
		from, errFrom := strconv.Atoi(texts[1])
		n, err := strconv.Atoi(texts[2])
		if err != nil || errFrom != nil || from < 0 || from > len(text) {
			return "", false
		}
		if n < 0 || from+n > len(text) {
			n = len(text) - from
		}
		return text[from : from+n], true
	case name == "format" && !wideVerb(text):
		args := make([]any, len(texts)-1)
		for i, t := range texts[1:] {
			args[i] = t
		}
		for _, verb := range []string{"%d", "%v", "%q"} {
			text = strings.ReplaceAll(text, verb, "%s")
		}
		out := fmt.Sprintf(text, args...)
		return out, !strings.Contains(out, "%!")
	}
	return "", false
}

// wideVerb reports whether a format has a verb whose width or precision makes long texts.
func wideVerb(format string) bool {
	for _, verb := range strings.Split(format, "%")[1:] {
		end := strings.IndexFunc(verb, unicode.IsLetter)
		if end < 0 {
			end = len(verb)
		}
		digits := strings.FieldsFunc(verb[:end], func(r rune) bool { return !unicode.IsDigit(r) })
		if strings.Contains(verb[:end], "*") || slices.ContainsFunc(digits, func(n string) bool { return len(n) > 3 }) {
			return true
		}
	}
	return false
}

func isList(v any) bool {
	_, ok := v.([]any)
	return ok
}

// elements returns the members of a list.
func elements(v any) []any {
	list, _ := v.([]any)
	return list
}

// reshape evaluates a function from one list to another.
func reshape(name string, v any, fail unresolved) any {
	if !isList(v) {
		return fail
	}
	out := []any{}
	switch name {
	case "flatten":
		for _, m := range elements(v) {
			if u, unknown := m.(unresolved); unknown && u.standIn == "" {
				return u // it may be a list
			}
			if isList(m) {
				inner := reshape(name, m, fail)
				if !isList(inner) {
					return inner
				}
				out = append(out, elements(inner)...)
			} else {
				out = append(out, m)
			}
		}
		return out
	case "reverse":
		out = slices.Clone(elements(v))
		slices.Reverse(out)
		return out
	case "tolist":
		return v
	}
	seen := map[string]bool{}
	for _, m := range elements(v) {
		text := fmt.Sprint(m)
		if name != "compact" && seen[text] || name == "compact" && (m == nil || m == "") {
			continue
		}
		seen[text] = true
		out = append(out, m)
	}
	if name == "toset" || name == "sort" {
		slices.SortFunc(out, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	}
	return out
}
