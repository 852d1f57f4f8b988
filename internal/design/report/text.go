package report

import (
	"math"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design"
	"github.com/sortkey/sortkey/internal/markup"
	"github.com/sortkey/sortkey/internal/text"
)

// short cuts the middle out of a text that has more than n characters: both
// ends of a key tell more than its middle.
func short(s string, n int) string {
	s = markup.Visible(s)
	r := []rune(s)
	if len(r) <= n || n < 3 {
		return s
	}
	tail := (n - 1) / 2
	return string(r[:n-1-tail]) + "…" + string(r[len(r)-tail:])
}

// width is how many characters a text has when shown.
func width(s string) int { return len([]rune(markup.Visible(s))) }

// wrap breaks a text into lines of at most n characters, the last of at most
// lines of them cut.
func wrap(s string, n, lines int) []string {
	var out []string
	line := ""
	flush := func() {
		if line != "" {
			out = append(out, line)
			line = ""
		}
	}
	for w := range strings.FieldsSeq(markup.Visible(s)) {
		w = short(w, n)
		if line != "" && width(line)+1+width(w) > n {
			flush()
		}
		if line != "" {
			line += " "
		}
		line += w
	}
	flush()
	if len(out) > lines {
		last := []rune(out[lines-1])
		out = append(out[:lines-1], strings.TrimRight(string(last[:min(len(last), n-1)]), " ,")+"…")
	}
	return out
}

// plain writes a key value as a person says it, without quotes.
func plain(v attr.Value) string {
	shown := text.Literal(v)
	if v.Kind() == attr.String {
		if s, err := strconv.Unquote(shown); err == nil && markup.Visible(s) == s {
			return s
		}
		return strings.TrimSuffix(strings.TrimPrefix(shown, `"`), `"`)
	}
	return shown
}

// values writes the values that an item has of key attributes.
func values(it attr.Item, keys []design.Attribute) string {
	parts := make([]string, 0, len(keys))
	for _, a := range keys {
		if v := it.Get(a.Name); !v.IsZero() {
			parts = append(parts, plain(v))
		}
	}
	return strings.Join(parts, " · ")
}

// count writes a number and its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return thousands(n) + " " + noun + "s"
}

func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// figure writes a quantity with three places that count.
func figure(f float64) string {
	if f >= 1000 {
		return thousands(int(math.Round(f)))
	}
	v, err := strconv.ParseFloat(strconv.FormatFloat(f, 'g', 3, 64), 64)
	if err != nil {
		v = f
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// size writes bytes.
func size(f float64) string {
	for _, u := range []struct {
		name string
		size float64
	}{{"TB", 1 << 40}, {"GB", 1 << 30}, {"MB", 1 << 20}, {"KB", 1 << 10}} {
		if f >= u.size {
			return figure(f/u.size) + " " + u.name
		}
	}
	return count(int(math.Round(f)), "byte")
}

func percent(share float64) string {
	if share > 0 && share < 0.001 {
		return "less than 0.1%"
	}
	return strconv.FormatFloat(math.Round(1000*share)/10, 'f', -1, 64) + "%"
}

// list writes some words as a sentence does.
func list(words []string) string {
	switch len(words) {
	case 0:
		return ""
	case 1:
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
