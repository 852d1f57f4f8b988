package convert

import (
	"encoding/binary"
	"hash/fnv"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/keys"
)

// mask replaces the letters and digits of samples by others, so that only the shapes and the
// lengths of values remain. Equal values stay equal, so that items still belong together.
// Dates, times, the texts of templates, constants, and values that a template depends on stay.
func (im *importer) mask() {
	m := masker{salt: im.o.Salt, of: map[string]string{}, taken: map[string]bool{}}
	for _, e := range im.m.Entities {
		kept := func(f *model.Field) bool {
			return !maskable(f.Type) || len(f.Values) > 0 || slices.ContainsFunc(e.Attributes, func(t *model.Template) bool {
				return t.When[f.Name] != nil
			})
		}
		for _, s := range e.Samples {
			for _, f := range e.Fields {
				if v, ok := s.Values[f.Name]; ok && !kept(f) {
					s.Values[f.Name] = m.text(v, true)
				}
			}
			s.Attributes = m.item(s.Attributes, func(string) bool { return false })
		}
	}
	for _, r := range im.m.Items {
		r.Item = m.item(r.Item, r.Table.IsKey)
	}
}

// maskable reports whether a type has values that stay valid with other letters and digits.
func maskable(t keys.Type) bool {
	return slices.Contains([]string{"", "string", "path", "uuid", "int", "number"}, t.Name)
}

// A masker knows which texts stand for others, so that different ones stay different.
type masker struct {
	salt  uint64
	of    map[string]string
	taken map[string]bool
}

// item returns an item with other letters and digits. In a key, which may have words that
// are no values, only digits are replaced.
func (m *masker) item(it attr.Item, isKey func(string) bool) attr.Item {
	var b attr.Builder
	for name, v := range it.All() {
		b.AddBytes(name, m.value(v, !isKey(string(name))))
	}
	return b.Item()
}

func (m *masker) value(v attr.Value, letters bool) attr.Value {
	switch v.Kind() {
	case attr.String:
		return attr.NewString(m.text(string(v.Raw()), letters))
	case attr.Number:
		if n, err := attr.NewNumber(m.text(string(v.AppendNumber(nil)), false)); err == nil {
			return n
		}
	case attr.Bool, attr.Null:
	default:
		if letters {
			return attr.NewNull() // only its place remains
		}
	}
	return v
}

// maskTries is how often a text is replaced until it differs from all others.
const maskTries = 100

// text returns the text that stands for another.
func (m *masker) text(s string, letters bool) string {
	if out, ok := m.of[s]; ok {
		return out
	}
	out := ""
	for try := range maskTries {
		if out = masked(s, letters, m.salt+uint64(try)*0x9E3779B97F4A7C15); !m.taken[out] && out != s {
			break
		}
	}
	m.of[s], m.taken[out] = out, true
	return out
}

// masked returns a text with other letters and digits, which depend on the whole text and on
// a salt.
func masked(s string, letters bool, salt uint64) string {
	h := fnv.New64a()
	h.Write(binary.LittleEndian.AppendUint64(nil, salt))
	h.Write([]byte(s))
	x := h.Sum64() | 1
	hex := isHex(s)
	out := []byte(s)
	for i, c := range out {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		n := byte((x >> 32) % 234) // a multiple of 9, 6 and 26
		switch {
		case c >= '1' && c <= '9':
			out[i] = '1' + n%9
		case !letters:
		case hex && c >= 'a' && c <= 'f':
			out[i] = 'a' + n%6
		case c >= 'a' && c <= 'z':
			out[i] = 'a' + n%26
		case c >= 'A' && c <= 'Z':
			out[i] = 'A' + n%26
		case c >= 0x80:
			out[i] = 'x'
		}
	}
	return string(out)
}

// isHex reports whether a text may be a UUID.
func isHex(s string) bool {
	return len(s) == 36 && !slices.ContainsFunc([]byte(s), func(c byte) bool {
		return c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'f')
	})
}
