package console

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/transfer"
	"github.com/sortkey/sortkey/internal/item"
	"github.com/sortkey/sortkey/internal/text"
)

// sumOf returns a hash of an item, with which the server detects that somebody has changed the item. For nil it
// returns "".
func sumOf(it attr.Item) string {
	if it == nil {
		return ""
	}
	sum := sha256.Sum256(it) // equal items have the same bytes
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// jsonOf returns the JSON of an item for a page.
func jsonOf(it attr.Item, plain, indented bool) string {
	raw := it.AppendJSON(nil)
	if plain {
		raw = item.AppendPlain(nil, it)
	}
	if indented {
		var b bytes.Buffer
		if json.Indent(&b, raw, "", "  ") == nil {
			raw = b.Bytes()
		}
	}
	return text.VisibleJSON(string(raw))
}

// isPlain reports whether plain JSON can represent an item without loss.
func isPlain(it attr.Item) bool {
	again, err := itemOf(jsonOf(it, true, false))
	return err == nil && again.Equal(it)
}

// itemOf decodes an item from plain JSON or DynamoDB JSON. DynamoDB JSON has an object for each value. In plain JSON
// a key attribute is never an object, so itemOf can distinguish the two.
func itemOf(src string) (attr.Item, error) {
	it, err := transfer.DecodeItem([]byte(src))
	if err != nil {
		err = bad(`%v; write plain JSON such as {"id": "x", "n": 1}, or DynamoDB JSON such as {"id": {"S": "x"}}`, err)
	}
	return it, err
}

// A difference is a value in an item that a change adds, removes or replaces. If the change adds the value, Was is
// "". If it removes the value, Is is "".
type difference struct{ Path, Was, Is string }

const (
	maxDiffs  = 60  // differences of a preview
	maxDiff   = 120 // characters of a value in one
	diffStart = 24  // characters shown before the first difference of two long texts
)

// differences returns the differences between two items, at most most of them, and how many more there are. For maps,
// and for lists of the same length, it returns the differences between their elements.
func differences(was, is attr.Item, most int) (all []difference, more int) {
	add := func(d difference) {
		if len(all) == most {
			more++
			return
		}
		d.Path = clip(text.Visible(d.Path), maxKey)
		all = append(all, d)
	}
	var compare func(path string, old, made attr.Value)
	maps := func(path string, was, is attr.Item) {
		for _, name := range names(was, is) {
			compare(path+text.Name(name), was.Get(name), is.Get(name))
		}
	}
	compare = func(path string, old, made attr.Value) {
		switch {
		case attr.Equal(old, made):
		case old.Kind() == attr.Map && made.Kind() == attr.Map:
			maps(path+".", old.Map(), made.Map())
		case old.Kind() == attr.List && made.Kind() == attr.List && old.Len() == made.Len():
			for i := range old.Len() {
				compare(path+"["+strconv.Itoa(i)+"]", old.Index(i), made.Index(i))
			}
		default:
			x, y := text.Literal(old), text.Literal(made)
			if old.Kind() != made.Kind() && !old.IsZero() && !made.IsZero() {
				x, y = x+" ("+old.Kind().String()+")", y+" ("+made.Kind().String()+")"
			}
			from := 0
			if len(x) > maxDiff && len(y) > maxDiff {
				from = max(common(x, y)-diffStart, 0)
			}
			add(difference{path, excerpt(x, from), excerpt(y, from)})
		}
	}
	maps("", was, is)
	return all, more
}

// common returns the length in bytes of the longest common prefix of two texts that does not end within a character.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && n < len(a) && !utf8.RuneStart(a[n]) {
		n--
	}
	return n
}

// excerpt returns at most maxDiff characters of a text, from the character at the byte from. If it omits the
// beginning, it adds an ellipsis.
func excerpt(s string, from int) string {
	for from > 0 && from < len(s) && !utf8.RuneStart(s[from]) {
		from--
	}
	if from == 0 {
		return clip(s, maxDiff)
	}
	return "…" + clip(s[from:], maxDiff)
}
