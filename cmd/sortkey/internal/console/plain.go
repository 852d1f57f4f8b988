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

// sumOf returns a hash by which a page can tell whether an item has changed. It is "" for nil.
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

// itemOf decodes an item from plain JSON or DynamoDB JSON. It can distinguish them because a key attribute is neither
// a map nor a list.
func itemOf(src string) (attr.Item, error) {
	it, err := transfer.DecodeItem([]byte(src))
	if err != nil {
		err = bad(`%v; write plain JSON such as {"id": "x", "n": 1}, or DynamoDB JSON such as {"id": {"S": "x"}}`, err)
	}
	return it, err
}

// A difference is a value of an item that a change adds, removes or replaces. Was is "" for an added value, and Is is
// "" for a removed one.
type difference struct{ Path, Was, Is string }

const (
	maxDiffs  = 60  // differences of a preview
	maxDiff   = 120 // characters of a value in one
	diffStart = 24  // characters shown before the first difference of two long texts
)

// differences returns at most most differences between two items, and how many more there are. It compares the values
// in maps, and in lists of the same length, one by one.
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

// common returns the length of the common prefix of two texts, in bytes. The prefix ends between two characters.
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

// excerpt returns the part of a text that begins at the byte from.
func excerpt(s string, from int) string {
	for from > 0 && from < len(s) && !utf8.RuneStart(s[from]) {
		from--
	}
	if from == 0 {
		return clip(s, maxDiff)
	}
	return "…" + clip(s[from:], maxDiff)
}
