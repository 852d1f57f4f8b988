package site

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// searchIndex returns a script that sets the index of all sections, so that it also loads from a file:
//
//	pages     path, title and group of each page
//	sections  page, id and heading of each section
//	words     the words of the texts in order, with a space between two
//	found     for each word the numbers of its sections, each less the one before it, in base 36
//
// Headings are not among the words: the script of the page looks into them itself.
func searchIndex(pages []*page) ([]byte, error) {
	var index struct {
		Pages    [][]string `json:"pages"`
		Sections [][]any    `json:"sections"`
		Words    string     `json:"words"`
		Found    string     `json:"found"`
	}
	found := map[string][]int{}
	for i, p := range pages {
		index.Pages = append(index.Pages, []string{p.path, p.title, p.group})
		for j := range p.sections {
			s := &p.sections[j]
			n := len(index.Sections)
			index.Sections = append(index.Sections, []any{i, s.id, s.heading})
			for word := range words(s.text.String()) {
				found[word] = append(found[word], n)
			}
		}
	}

	all := slices.Sorted(maps.Keys(found))
	var numbers strings.Builder
	for i, word := range all {
		if i > 0 {
			numbers.WriteByte(' ')
		}
		last := 0
		for j, n := range found[word] {
			if j > 0 {
				numbers.WriteByte(',')
			}
			numbers.WriteString(strconv.FormatInt(int64(n-last), 36))
			last = n
		}
	}
	index.Words, index.Found = strings.Join(all, " "), numbers.String()

	var script bytes.Buffer
	script.WriteString("window.sortkeyIndex = ")
	e := json.NewEncoder(&script)
	e.SetEscapeHTML(false)
	err := e.Encode(index)
	return script.Bytes(), err
}

// words returns the words of a text in lower case: what lies between signs, and the parts of a name like BeginsWith.
func words(text string) map[string]bool {
	all := map[string]bool{}
	add := func(word string) {
		if len(word) > 1 && len(word) < 40 {
			all[strings.ToLower(word)] = true
		}
	}
	isSign := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }
	for word := range strings.FieldsFuncSeq(text, isSign) {
		add(word)
		begin := 0
		before := ' '
		for i, r := range word {
			if unicode.IsUpper(r) && unicode.IsLower(before) {
				add(word[begin:i])
				begin = i
			}
			before = r
		}
		if begin > 0 {
			add(word[begin:])
		}
	}
	return all
}
