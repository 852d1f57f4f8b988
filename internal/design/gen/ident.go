package gen

import (
	"go/token"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// exported makes a Go name of words: "orders of a customer" is
// OrdersOfACustomer and customerId is CustomerID. What does not begin with a
// letter that has an upper case gets prefix.
func exported(s, prefix string) string {
	var b strings.Builder
	s = strings.NewReplacer("'", "", "’", "").Replace(s)
	for _, word := range strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		r, size := utf8.DecodeRuneInString(word)
		word = string(unicode.ToUpper(r)) + word[size:]
		if rest, ok := strings.CutSuffix(word, "Id"); ok {
			word = rest + "ID"
		}
		b.WriteString(word)
	}
	name := b.String()
	if !token.IsExported(name) {
		return prefix + name
	}
	return name
}

// unexported is [exported] for variables: customerID, pk.
func unexported(s, prefix string) string {
	name := exported(s, exported(prefix, "X"))
	upper := 0
	for i, r := range name {
		if !unicode.IsUpper(r) && !unicode.IsDigit(r) {
			break
		}
		upper = i + utf8.RuneLen(r)
	}
	switch {
	case upper == len(name):
		return strings.ToLower(name)
	case upper > 1 && strings.HasPrefix(name, "ID"):
		return "id" + name[2:]
	}
	r, size := utf8.DecodeRuneInString(name)
	return string(unicode.ToLower(r)) + name[size:]
}

// scope gives out names, each once.
type scope struct {
	outer *scope
	taken map[string]bool
}

// predeclared are names that generated code uses and must not hide.
var predeclared = []string{
	"keys", "aws", "dynamodb", "types", "time", "fmt", "strings",
	"string", "int64", "error", "nil", "true", "false", "map", "byte", "err", "in", "k", "key", "item", "text", "from", "to", "max", "len",
}

func newScope(outer *scope) *scope { return &scope{outer: outer, taken: map[string]bool{}} }

func (s *scope) has(name string) bool {
	for ; s != nil; s = s.outer {
		if s.taken[name] {
			return true
		}
	}
	return token.IsKeyword(name) || slices.Contains(predeclared, name)
}

// add takes name, or name with suffix and then a number when it is taken.
func (s *scope) add(name, suffix string) string {
	free := name
	for i := 1; s.has(free); i++ {
		free = name + suffix
		if i > 1 {
			free += strconv.Itoa(i)
		}
	}
	s.taken[free] = true
	return free
}

// parameters writes a list of parameters, those of one type together.
func parameters(names, types []string) string {
	var b strings.Builder
	for i, name := range names {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(name)
		if i+1 == len(names) || types[i+1] != types[i] {
			b.WriteString(" " + types[i])
		}
	}
	return b.String()
}
