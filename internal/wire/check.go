package wire

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// maxViolations is the maximum number of violations that one error reports, as in the service. Source: dynalite
// test/createTable.js, "more than five empty LocalSecondaryIndexes".
const maxViolations = 10

// A check is a kind of constraint in the service model, such as a minimum or a pattern.
type check uint8

const (
	checkNull check = iota
	checkPattern
	checkEmpty // an empty table name
	checkMin   // length or value
	checkMax
	checkEnum
	checkKeys   // the keys of a map
	checkValues // the lengths of a map's values
)

// A violation says that a value in the input violates a constraint.
type violation struct {
	check  check
	member string // the last name of the path, or "" for a list element
	// path leads to the value in the spelling of the model, such as RequestItems.T.member.Keys. lower is the same
	// path with member names that begin with a lower-case letter.
	path, lower string
	value       string // the value as messages print it, unless it is absent
	text        string // the violated constraint, such as "Member must not be null"
}

// violations collects the violations that Validate finds.
type violations struct {
	op     Op
	path   []segment
	found  []violation
	echoed int // bytes of the texts in found
}

// A segment is one step of a path: a structure member, a list element or a map entry.
type segment struct {
	name  string
	index int  // position of a list element, from 1; otherwise 0
	entry bool // true if name is the key of a map entry
}

func (v *violations) push(name string) { v.path = append(v.path, segment{name: name}) }
func (v *violations) elem(i int)       { v.path = append(v.path, segment{index: i + 1}) }
func (v *violations) key(k string)     { v.path = append(v.path, segment{name: k, entry: true}) }
func (v *violations) pop()             { v.path = v.path[:len(v.path)-1] }

// violationsPool reuses violations, which saves an allocation in every request.
var violationsPool = sync.Pool{New: func() any { return new(violations) }}

// missing reports whether a member is absent. If it is absent but required, missing records the violation.
func (v *violations) missing(member string, absent, required bool) bool {
	if absent && required {
		v.add(checkNull, member, "", textNull)
	}
	return absent
}

// add records a violation of the constraint kind. The violating value is a member, or the element at the current path
// if member is "". add records nothing and returns false if there are already maxViolations.
func (v *violations) add(kind check, member, value, text string) bool {
	if len(v.found) >= maxViolations {
		return false
	}
	if left := max(0, maxEcho-v.echoed); len(value) > left {
		value = strings.ToValidUTF8(value[:left], "") + "..."
	}
	v.echoed += len(value)
	var path, lower []string
	named := func(name string) {
		path, lower = append(path, name), append(lower, strings.ToLower(name[:1])+name[1:])
	}
	for _, s := range v.path {
		switch {
		case s.index > 0:
			s.name = strconv.Itoa(s.index)
		case !s.entry:
			named(s.name)
			continue
		case len(s.name) > MaxARN: // no valid key is this long
			s.name = strings.ToValidUTF8(s.name[:MaxARN], "") + "..."
		}
		path, lower = append(path, s.name, "member"), append(lower, s.name, "member")
	}

	if member != "" {
		named(member)
	}
	v.found = append(v.found, violation{
		check: kind, member: member, path: strings.Join(path, "."), lower: strings.Join(lower, "."),
		value: value, text: text,
	})
	return true
}

// echo sets the value that the message of the last violation prints.
func (v *violations) echo(value []byte) { v.found[len(v.found)-1].value = string(value) }

func atLeastLength(n int64) string {
	return "Member must have length greater than or equal to " + strconv.FormatInt(n, 10)
}

func atMostLength(n int64) string {
	return "Member must have length less than or equal to " + strconv.FormatInt(n, 10)
}

func matching(pattern string) string {
	return "Member must satisfy regular expression pattern: " + pattern
}

// NoTableClass is a table class that is not in the public model. The service rejects it with a special message.
// Source: ack-api-quirks, DDB-TABLE-442.
const NoTableClass = "NONE"

// text checks a string against its traits. The string may be the name or ARN of a table, a value of an enumeration,
// or any other text.
func (v *violations) text(member, s string, t *traits) {
	switch {
	case t.name == "TableArn":
		v.table(member, s, t.min)
		return
	case t.enum != nil:
		if !slices.Contains(t.enum, s) && (t.name != "TableClass" || s != NoTableClass) {
			v.add(checkEnum, member, s, "Member must satisfy enum value set: ["+strings.Join(t.enum, ", ")+"]")
		}
		return
	}

	if s == "" && t.name == "IndexName" && v.op.lifecycle() { // ack-api-quirks, DDB-TABLE-457
		v.add(checkMin, member, s, atLeastLength(t.min))
		v.add(checkPattern, member, s, matching(t.pattern))
		return
	}
	if t.match != nil && !t.match(s) {
		v.add(checkPattern, member, s, matching(t.pattern))
	}
	v.size(member, s, textLength(s), t.min, t.max)
}

// textLength returns the number of UTF-16 code units in s. The service measures strings in these units.
func textLength(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xFFFF && r <= utf8.MaxRune {
			n++
		}
	}
	return n
}

// Limits for the names of tables and indexes, and for ARNs, in characters.
// Source: DG/Constraints.html.
const (
	MinName = 3
	MaxName = 255
	MaxARN  = 1024
)

// ARNPrefix is the beginning of every ARN. Names cannot contain a colon.
const ARNPrefix = "arn:"

const namePattern = "[a-zA-Z0-9_.-]+"

// IsName reports whether s matches namePattern.
func IsName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '.' && c != '-' {
			return false
		}
	}
	return s != ""
}

// ValidName reports whether s can be the name of a table or of an index.
func ValidName(s string) bool { return len(s) >= MinName && len(s) <= MaxName && IsName(s) }

// table checks the name or ARN of a table. An empty name violates the minimum length. In operations on tables it also
// violates the pattern. For an ARN, table checks only the maximum length, and [ParseTable] checks the rest later.
// Sources: conformance s_put_table_*; ack-api-quirks, DDB-TABLE-457.
func (v *violations) table(member, s string, shortest int64) {
	switch {
	case s == "" && v.op.lifecycle():
		v.add(checkEmpty, member, s, atLeastLength(MinName))
		v.add(checkPattern, member, s, matching(namePattern))
		return
	case s == "":
		v.add(checkEmpty, member, s, atLeastLength(shortest))
		return
	case strings.HasPrefix(s, ARNPrefix):
		v.size(member, s, textLength(s), 0, MaxARN)
		return
	}
	if !IsName(s) {
		v.add(checkPattern, member, s, matching(namePattern))
	}
	v.size(member, s, textLength(s), MinName, MaxName)
}

func (v *violations) integer(member string, n int64, t *traits) {
	if n < t.min {
		v.add(
			checkMin, member, strconv.FormatInt(n, 10),
			"Member must have value greater than or equal to "+strconv.FormatInt(t.min, 10),
		)
	} else if n > t.max {
		v.add(
			checkMax, member, strconv.FormatInt(n, 10),
			"Member must have value less than or equal to "+strconv.FormatInt(t.max, 10),
		)
	}
}

// size checks the length n of a value. A hi of 0 means no maximum. If size records a violation, it returns true. For a
// list or map, the caller must then set the printed value with echo.
func (v *violations) size(member, value string, n int, lo, hi int64) bool {
	switch {
	case int64(n) < lo:
		return v.add(checkMin, member, value, atLeastLength(lo))
	case hi > 0 && int64(n) > hi:
		return v.add(checkMax, member, value, atMostLength(hi))
	}
	return false
}

// tableKeys checks the keys of a map whose keys are names or ARNs of tables. Like size, it returns true for a
// violation.
func (v *violations) tableKeys(member string, keys []string) bool {
	for _, k := range keys {
		if strings.HasPrefix(k, ARNPrefix) && len(k) <= MaxARN {
			continue
		}
		if !ValidName(k) {
			return v.add(checkKeys, member, "", "Map keys must satisfy constraint: ["+
				atMostLength(MaxName)+", "+atLeastLength(MinName)+", "+matching(namePattern)+"]")
		}
	}
	return false
}

// mapValue checks the length of a map element that is a list. Like size, it returns true for a violation.
func (v *violations) mapValue(member string, n int, t *traits) bool {
	if int64(n) < t.min || int64(n) > t.max {
		return v.add(checkValues, member, "",
			"Map value must satisfy constraint: ["+atMostLength(t.max)+", "+atLeastLength(t.min)+"]")
	}
	return false
}

// err returns one error for all violations, or nil if there are none.
func (v *violations) err() error {
	if len(v.found) == 0 {
		return nil
	}
	return Validation(v.message())
}

// message returns the text of all violations.
func (v *violations) message() string {
	// If a rule gives a violation a sentence of its own, the service reports nothing else.
	missing := false
	for i := range v.found {
		if r := v.op.rule(&v.found[i]); r != nil && r.form == formSentence {
			return strings.ReplaceAll(r.text, "%s", v.found[i].printed(""))
		}
		missing = missing || v.found[i].check == checkNull
	}
	if !missing {
		// If the newer layer of the service finds a violation, it does not call the older layer. A request that lacks
		// a required member does not reach the newer layer.
		if list := v.generic(); len(list) > 0 {
			return heading(len(list)) + strings.Join(list, "; ")
		}
	}

	// The older layer reports all its violations together.
	enums := slices.ContainsFunc(v.found, func(x violation) bool { return x.check == checkEnum })
	kept := make([]string, 0, len(v.found))
	for i := range v.found {
		x := &v.found[i]
		form := v.form(x)
		switch {
		case form == formOmitted && enums, x.check == checkPattern && !missing && v.shortName(i):
			continue
		case form != formReturns || missing:
			form = formUsual
		}
		kept = append(kept, x.render(form))
	}

	return heading(len(kept)) + strings.Join(kept, "; ")
}

// generic returns the messages of the violations that the newer layer reports. If a violation must be reported alone
// (formFirst, formReturn), generic returns only the first such violation. Otherwise it returns all with formGeneric,
// sorted. An empty table name comes last.
func (v *violations) generic() (list []string) {
	last := ""
	for i := range v.found {
		x := &v.found[i]
		switch form := v.form(x); {
		case form == formFirst || form == formReturn:
			return []string{x.render(form)}
		case form == formGeneric && x.check == checkEmpty:
			last = x.render(form)
		case form == formGeneric:
			list = append(list, x.render(form))
		}
	}
	slices.Sort(list)
	if last != "" {
		list = append(list, last)
	}
	return list
}

func (v *violations) form(x *violation) form {
	if r := v.op.rule(x); r != nil {
		return r.form
	}
	return formUsual
}

// shortName reports whether violation i is the pattern of a table name whose length is wrong too. The next violation
// is then that length. The newer layer reports only the length, except for UpdateItem. Source: dynoxide, seven
// regions, 2026-10-09.
func (v *violations) shortName(i int) bool {
	if !v.op.newer() || v.op == OpUpdateItem || v.op == OpBatchGetItem || i+1 == len(v.found) {
		return false
	}
	return v.found[i].member == "TableName" && v.found[i+1].path == v.found[i].path
}

func heading(n int) string {
	if n == 1 {
		return "1 validation error detected: "
	}
	return strconv.Itoa(n) + " validation errors detected: "
}

// render returns the message of a violation in the wording of form.
func (x *violation) render(form form) string {
	switch form {
	case formGeneric, formFirst:
		return "Value at '" + x.path + "' failed to satisfy constraint: " + x.text
	case formReturn, formReturns:
		// The service itself writes UPDATE_NEW here, and the values in this order.
		return "Failed to satisfy constraint: Member must satisfy enum value set: " +
			"[ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]"
	}
	return "Value " + x.printed("'") + " at '" + x.lower + "' failed to satisfy constraint: " + x.text
}

// printed returns the value as messages show it: with quote on both sides, or as null.
func (x *violation) printed(quote string) string {
	if x.check == checkNull {
		return "null"
	}
	return quote + x.value + quote
}
