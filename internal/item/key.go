package item

import "github.com/sortkey/sortkey/attr"

// A key is a tuple of values, encoded as bytes. The last component is the bare payload of its value. Every component
// before it is escaped and terminated. So keys compare component by component, and no bytes of a value look like the
// end of a component.

const (
	keyEscape = 0x00 // together with keyEscaped: a zero byte of the value
	keyEnd    = 0x01 // after keyEscape: the end of the component
	// keyEscaped must be greater than keyEnd. Then a value that continues with a zero byte sorts after the same value
	// without it.
	keyEscaped = 0xFF
)

// AppendKey appends v as a component of a tuple. bytes.Compare of two tuples compares their values, component by
// component. v must be an S, N or B.
func AppendKey(dst []byte, v attr.Value) []byte {
	return append(AppendKeyPrefix(dst, v.Raw()), keyEscape, keyEnd)
}

// AppendKeyPrefix appends a component with the payload raw, but without its end. The result is the common prefix of
// all components whose payload begins with raw.
func AppendKeyPrefix(dst, raw []byte) []byte {
	for _, c := range raw {
		dst = append(dst, c)
		if c == keyEscape {
			dst = append(dst, keyEscaped)
		}
	}
	return dst
}

// CutKey cuts the first component off key and appends its payload to dst. It
// returns false if key does not begin with a complete component.
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
