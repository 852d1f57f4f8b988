package wire

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// otherSyntax has the Go syntax for patterns of the model that Go writes differently.
var otherSyntax = map[string]string{
	`\p{Print}+`: `[\x20-\x{10FFFF}]+`,
	`[\u0020-\uD7FF\uE000-\uFFFD\uD800\uDC00-\uDBFF\uDFFF\r\n\t]*`: `[\x20-\x{D7FF}\x{E000}-\x{FFFD}` +
		`\x{10000}-\x{10FFFF}\r\n\t]*`,
}

// TestPatterns checks that every pattern of the model has a function, and that it agrees with package regexp on
// matching texts and similar ones.
func TestPatterns(t *testing.T) {
	pieces := strings.Split("a|z|Z|0|9|f|g|_|.|-|,|;|:| "+
		"|$|~|\x7f|\"|\t|\r|\n|\x00|\x1f|\\|é|\u2028|\ufffd|\ufffe|\uffff|😀|\xff", "|")
	pieces = append(pieces, "|", "012345", "012345678901", "0123456789abcdef")
	used := map[string]bool{}
	for _, tr := range modelTraits {
		if tr.pattern == "" || used[tr.pattern] {
			continue
		}
		used[tr.pattern] = true
		match := patterns[tr.pattern]
		if match == nil {
			t.Errorf("patterns has no function for %q of %s", tr.pattern, tr.name)
			continue
		}
		source := tr.pattern
		if other := otherSyntax[source]; other != "" {
			source = other
		}
		want, accepted := regexp.MustCompile("^(?:"+source+")$"), 0
		check := func(s string) {
			if want.MatchString(s) != match(s) {
				t.Errorf("%q: pattern %q says %v", s, tr.pattern, want.MatchString(s))
			} else if match(s) {
				accepted++
			}
		}
		check("")
		for _, a := range pieces {
			check(a)
			for _, b := range pieces {
				check(a + b)
			}
		}
		for range 5000 {
			var b strings.Builder
			for range rand.IntN(6) {
				b.WriteString(pieces[rand.IntN(len(pieces))])
			}
			check(b.String())
		}
		if accepted == 0 {
			t.Errorf("no text matches %q", tr.pattern)
		}
	}
	if len(used) != len(patterns) {
		t.Errorf("patterns has %d functions for %d patterns", len(patterns), len(used))
	}
}
