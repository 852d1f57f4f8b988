package item

import "github.com/sortkey/sortkey/attr"

// Key bytes: how values become addresses. The last component of a key is
// written as its payload alone; every component before it is escaped and
// terminated, so that tuples compare element by element and no byte inside a
// value can be taken for a border.

const (
	keyEscape = 0x00 // followed by keyEscaped it is a zero byte of the value,
	keyEnd    = 0x01 // followed by keyEnd it ends the component
	// keyEscaped must be above keyEnd, so that a value that goes on sorts
	// after one that has ended.
	keyEscaped = 0xFF
)

// AppendKey appends v as a component of a tuple, so that bytes.Compare of two
// tuples is the order of their values. v must be an S, N or B.
func AppendKey(dst []byte, v attr.Value) []byte {
	return append(AppendKeyPrefix(dst, v.Raw()), keyEscape, keyEnd)
}

// AppendKeyPrefix appends the component of the payload raw without its end:
// the common start of every component whose payload starts with raw.
func AppendKeyPrefix(dst, raw []byte) []byte {
	for _, c := range raw {
		dst = append(dst, c)
		if c == keyEscape {
			dst = append(dst, keyEscaped)
		}
	}
	return dst
}

// CutKey splits the first component off key, appending its payload to dst. It
// reports false when key does not start with a whole component.
func CutKey(dst, key []byte) (payload, rest []byte, ok bool) {
	for i := 0; i < len(key); i++ {
		c := key[i]
		if c != keyEscape {
			dst = append(dst, c)
			continue
		}
		i++
		if i == len(key) {
			break
		}
		switch key[i] {
		case keyEscaped:
			dst = append(dst, keyEscape)
		case keyEnd:
			return dst, key[i+1:], true
		default:
			return dst, nil, false
		}
	}
	return dst, nil, false
}
