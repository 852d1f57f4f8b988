package mask

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/sortkey/sortkey/keys"
)

// A method makes stand-ins.
type method string

const (
	hash   method = "hash"   // 16 hexadecimal digits
	shape  method = "shape"  // digits for digits, letters for letters
	fake   method = "fake"   // something that looks real
	redact method = "redact" // the same for all values
	drop   method = "drop"   // nothing
	keep   method = "keep"   // the value itself
)

var methods = []string{string(hash), string(shape), string(fake), string(redact), string(drop), string(keep)}

// A mint makes the stand-ins of one seed.
type mint struct{ key []byte }

// digest returns bytes that the seed and the texts determine.
func (m mint) digest(texts ...string) []byte {
	h := hmac.New(sha256.New, m.key)
	for _, s := range texts {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(s)))
		h.Write(n[:])
		h.Write([]byte(s))
	}
	return h.Sum(nil)
}

// text returns the stand-in of a text. Hash and shape have different ones for different texts: those of
// shape for sure, those of hash but for one in 2^64.
func (m mint) text(how method, of, text string) string {
	switch how {
	case hash:
		return hex.EncodeToString(m.digest(string(hash), text)[:8])
	case shape:
		return m.shaped(text, characters)
	case fake:
		return m.fake(of, text)
	case redact:
		return "redacted"
	}
	return text
}

// value returns the stand-in of a value of a type, in text form: one that the type accepts.
func (m mint) value(how method, of string, t keys.Type, text string) (string, error) {
	in := text
	switch {
	case how == keep:
		return text, nil
	case how == redact:
		in = "0"
		if t.Name == "" || t.Name == "string" || t.Name == "path" {
			return m.text(redact, of, text), nil
		}
	case t.Name == "" || t.Name == "string" && t.Width == 0 || t.Name == "path":
		return m.text(how, of, text), nil
	case t.Name == "uuid" || t.Name == "hex":
		in = m.shaped(strings.ToLower(text), hexadecimal)
	case t.Name == "ulid" && len(text) == 26: // the time in it stays
		in = text[:10] + m.shaped(text[10:], crockford)
	case t.Name == "int" || t.Name == "signed" || t.Name == "decimal" || t.Name == "number":
		in = m.number(text)
	case t.Name == "string":
		in = m.shaped(text, characters)
	default:
		return "", fmt.Errorf("a value of type %s has no stand-in", t)
	}

	if _, err := t.Encode(in); err != nil {
		return "", fmt.Errorf("a value of type %s has no stand-in: %w", t, err)
	}
	return in, nil
}

// number returns a number with as many digits and the same sign and exponent. Different numbers have
// different stand-ins.
func (m mint) number(text string) string {
	at := strings.IndexAny(text, "123456789")
	if at < 0 {
		return text // zero
	}
	end := strings.IndexAny(text, "eE")
	if end < 0 {
		end = len(text)
	}

	// The last digit of a fraction stays, as a zero there would make the number shorter.
	last := end
	if strings.Contains(text[:end], ".") {
		last--
	}
	if last <= at {
		return text
	}

	first := true
	return text[:at] + m.shaped(text[at:last], func(r rune) (class, bool) {
		c, ok := characters(r)
		if ok && first {
			first = false
			c.low, c.radix = '1', 9
			return c, true
		}
		return c, ok
	}) + text[last:]
}
