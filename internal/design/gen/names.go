package gen

import (
	"go/token"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// exported converts words to an exported Go name: "orders of a customer" to OrdersOfACustomer, customerId to
// CustomerID. If the name would not begin with an upper-case letter, exported puts prefix before it.
func exported(s, prefix string) string {
	var b strings.Builder
	for _, word := range wordsOf(s) {
		word = capital(word)
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

// unexported converts words to a name of a Go variable: customerId to customerID, PK to pk.
func unexported(s, prefix string) string {
	name := exported(s, capital(prefix))
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

// camelWords converts words to a name such as ordersOfACustomer or customerId.
func camelWords(s string) string {
	var b strings.Builder
	for i, word := range strings.Split(lowerWords(s), "_") {
		if i > 0 {
			word = capital(word)
		}
		b.WriteString(word)
	}
	return b.String()
}

// wordsOf splits text into words of letters and digits. An apostrophe does not end a word.
func wordsOf(s string) []string {
	s = strings.NewReplacer("'", "", "’", "").Replace(s)
	return strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// humps splits a word such as customerId before its upper-case letters.
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

// A scope is a scope of generated code, with the names that the code uses in it. A name in the outer scope counts as
// used too.
type scope struct {
	l     *language
	outer *scope
	taken []string
}

func (s *scope) has(name string) bool {
	return slices.Contains(s.taken, name) || slices.Contains(s.l.words, name) || s.outer != nil && s.outer.has(name)
}

// add returns an unused name for words and adds it to the scope. If the plain name is taken, add appends the suffix
// for the kind of name. If the name with the suffix is taken too, add also appends a number.
func (s *scope) add(kind nameKind, words string) string {
	name := s.l.name[kind](words)
	free := name
	for i := 1; s.has(free); i++ {
		if free = name + s.l.suffix[kind]; i > 1 {
			free += strconv.Itoa(i)
		}
	}
	s.taken = append(s.taken, free)
	return free
}
