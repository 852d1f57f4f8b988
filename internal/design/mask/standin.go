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
	hash   method = "hash"   // 16 hexadecimal digits for text, 8 bytes for binary values
	shape  method = "shape"  // other digits for digits, other letters for letters
	fake   method = "fake"   // a realistic value
	redact method = "redact" // the same stand-in for all values
	drop   method = "drop"   // removes the value
	keep   method = "keep"   // the value itself
)

var methods = []string{string(hash), string(shape), string(fake), string(redact), string(drop), string(keep)}

// hashBytes is the number of bytes in a stand-in of the method hash. Text gets them as hexadecimal digits.
const hashBytes = 8

// A mint makes the stand-ins that belong to a seed.
type mint struct{ key []byte }

// digest returns an HMAC of the texts under the seed.
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

// text returns the stand-in of a text. The methods hash and shape give different texts different stand-ins, except
// with a probability of 2^-64. For texts of up to mostPermuted characters, shape always does.
func (m mint) text(how method, of, text string) string {
	switch how {
	case hash:
		return hex.EncodeToString(m.digest(string(hash), text)[:hashBytes])
	case shape:
		return m.shaped(text, characters)
	case fake:
		return m.fake(of, text)
	case redact:
		return "redacted"
	}
	return text
}

// maxWalk limits how often the method value replaces a number before it gives up finding one that fits the type.
const maxWalk = 1000

// value returns the stand-in of a value, in text form. The stand-in is a valid value of type t.
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
	case t.Name == "ulid" && len(text) == 26: // keep the time in the id
		in = text[:10] + m.shaped(text[10:], crockford)
	case t.Name == "int" || t.Name == "signed" || t.Name == "decimal" || t.Name == "number":
		// Cycle walking: replace the stand-in until it fits the type.
		in = m.number(text)
		for range maxWalk {
			if _, err := t.Encode(in); err == nil {
				break
			}
			in = m.number(in)
		}
		if in == text {
			return "", fmt.Errorf("type %s has no other value with as many digits", t)
		}
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

// maxDigits is the largest number of digits of a DynamoDB number, without leading and trailing zeros.
const maxDigits = 38

// number returns a number with the same sign, the same exponent and as many digits. Different numbers have different
// stand-ins. A number of up to 16 digits always changes, except for a zero with a sign or an exponent.
func (m mint) number(text string) string {
	end := strings.IndexAny(text, "eE")
	if end < 0 {
		end = len(text)
	}
	fraction := strings.Contains(text[:end], ".")
	last := end
	if fraction { // drop zeros at the end: 1.50 equals 1.5
		last = len(strings.TrimRight(text[:end], "0"))
		fraction = text[last-1] != '.'
		if !fraction {
			last--
		}
	}

	// There is no other integer of the same shape as 0, so permute 0 together with the other integers of one digit.
	at := strings.IndexAny(text[:last], "123456789")
	digit := !fraction && end == len(text) && !strings.HasPrefix(text, "-") && (at < 0 || at == last-1)
	switch {
	case digit && last > 0:
		return text[:last-1] + m.shaped(text[last-1:last], characters) + text[last:]
	case at < 0:
		return text
	}

	// Permute only the digits that can be significant. All digits after them are zeros, which do not change.
	stop := min(last, at+maxDigits)
	if dot := strings.IndexByte(text[at:last], '.'); dot >= 0 {
		stop = last
	}
	nonzero := map[int]bool{0: true}
	if fraction { // a final zero would shorten the number
		nonzero[stop-at-1] = true
	}
	i := -1
	return text[:at] + m.shaped(text[at:stop], func(r rune) (class, bool) {
		i++
		c, ok := characters(r)
		if ok && nonzero[i] {
			c.low, c.radix = '1', 9
		}
		return c, ok
	}) + text[stop:]
}
