package gen

import (
	"go/token"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// exported converts words to a Go name: OrdersOfACustomer for "orders of a
// customer", CustomerID for customerId. A name that does not begin with an
// upper-case letter gets the prefix.
func exported(s, prefix string) string {
	var b strings.Builder
	for _, word := range wordsOf(s) {
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

// unexported is like [exported] for variables: customerID, pk.
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

// lowerWords converts words to a name such as orders_of_a_customer or customer_id.
func lowerWords(s string) string {
	var words []string
	for _, word := range wordsOf(s) {
		words = append(words, humps(word)...)
	}
	name := strings.ToLower(strings.Join(words, "_"))
	if name == "" || unicode.IsDigit([]rune(name)[0]) {
		return strings.TrimSuffix("n_"+name, "_")
	}
	return name
}

// wordsOf returns the words of a text, which have letters and digits. An apostrophe does not end one.
func wordsOf(s string) []string {
	s = strings.NewReplacer("'", "", "’", "").Replace(s)
	return strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// humps splits a word such as customerId at its upper-case letters.
func humps(word string) (all []string) {
	runes := []rune(word)
	start := 0
	for i := 1; i < len(runes); i++ {
		if unicode.IsUpper(runes[i]) && unicode.IsLower(runes[i-1]) {
			all = append(all, string(runes[start:i]))
			start = i
		}
	}
	return append(all, string(runes[start:]))
}

// A scope hands out unique names.
type scope struct {
	outer *scope
	taken map[string]bool
	words []string // reserved ones, instead of those of Go
}

// predeclared are names that generated code uses and must not shadow.
var predeclared = []string{
	"keys", "aws", "dynamodb", "types", "time", "fmt", "strings", "context", "iter", "ctx", "client",
	"string", "int64", "error", "nil", "true", "false", "map", "byte", "err", "in", "k", "key", "item", "text", "from",
	"to", "max", "len",
}

func newScope(outer *scope) *scope { return &scope{outer: outer, taken: map[string]bool{}} }

func (s *scope) has(name string) bool {
	for ; s != nil; s = s.outer {
		if s.taken[name] {
			return true
		}
		if s.words != nil && s.outer == nil {
			return slices.Contains(s.words, name)
		}
	}
	return token.IsKeyword(name) || slices.Contains(predeclared, name)
}

// add reserves name, or name with suffix and then a number if it is taken.
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

// parameters returns a list of parameters, grouped by type.
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
