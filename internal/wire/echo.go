package wire

import (
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/attr"
)

// maxEcho limits the size, in bytes, of a request printed in a message; the
// rest is omitted. The service prints all of it.
const maxEcho = 256 << 10

// echoText appends text, or what there is room for.
func echoText(dst []byte, text string) []byte {
	if room := max(0, maxEcho-len(dst)); len(text) > room {
		return append(append(dst, strings.ToValidUTF8(text[:room], "")...), "..."...)
	}
	return append(dst, text...)
}

func echoItem(dst []byte, it attr.Item) []byte {
	if it == nil {
		return append(dst, "null"...)
	}
	dst = append(dst, '{')
	for i := range it.Len() {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		if len(dst) > maxEcho {
			dst = append(dst, "..."...)
			break
		}
		name, v := it.At(i)
		dst = append(echoText(dst, string(name)), '=')
		dst = echoValue(dst, v)
	}
	return append(dst, '}')
}

// echoFields are the fields of an attribute value as the service prints them,
// each with its kind.
var echoFields = [...]struct {
	name string
	kind attr.Kind
}{
	{"s", attr.String},
	{"n", attr.Number},
	{"b", attr.Binary},
	{"iNT", 0},
	{"dECIMAL", 0},
	{"dOUBLE", 0},
	{"sS", attr.StringSet},
	{"nS", attr.NumberSet},
	{"bS", attr.BinarySet},
	{"iNTSET", 0},
	{"dECIMALSET", 0},
	{"dOUBLESET", 0},
	{"m", attr.Map},
	{"l", attr.List},
	{"nULL", attr.Null},
	{"bOOL", attr.Bool},
}

// echoValue prints a value. Source: paritysuite/dynamodb-conformance,
// c_bw_over25; some regions print the object's hash instead.
func echoValue(dst []byte, v attr.Value) []byte {
	if v.Kind() == 0 {
		return append(dst, "null"...)
	}
	dst = append(dst, "AttributeValue("...)
	for i, f := range echoFields {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(append(dst, f.name...), '=')
		if f.kind == 0 || f.kind != v.Kind() {
			dst = append(dst, "null"...)
			continue
		}
		switch v.Kind() {
		case attr.String:
			dst = echoText(dst, string(v.Raw()))
		case attr.Number:
			dst = v.AppendNumber(dst)
		case attr.Binary:
			dst = append(dst, "java.nio.HeapByteBuffer[pos=0 lim="...)
			dst = strconv.AppendInt(dst, int64(len(v.Raw())), 10)
			dst = append(dst, " cap="...)
			dst = strconv.AppendInt(dst, int64(len(v.Raw())), 10)
			dst = append(dst, ']')
		case attr.Bool:
			dst = strconv.AppendBool(dst, v.Bool())
		case attr.Null:
			dst = append(dst, "true"...)
		case attr.Map:
			dst = echoItem(dst, v.Map())
		default:
			dst = echoElems(dst, v)
		}
	}
	return append(dst, ')')
}

func echoElems(dst []byte, v attr.Value) []byte {
	dst = append(dst, '[')
	for i := range v.Len() {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		if len(dst) > maxEcho {
			dst = append(dst, "..."...)
			break
		}
		switch e := v.Index(i); {
		case v.Kind() == attr.List:
			dst = echoValue(dst, e)
		case e.Kind() == attr.Number:
			dst = e.AppendNumber(dst)
		default:
			dst = echoText(dst, string(e.Raw()))
		}
	}
	return append(dst, ']')
}

func echoString(dst []byte, s string) []byte { return echoText(dst, s) }

// echoScalar prints a member with its label.
func echoScalar[T any](dst []byte, label string, p *T, value func([]byte, T) []byte) []byte {
	if p == nil {
		return append(append(dst, label...), "null"...)
	}
	return value(append(dst, label...), *p)
}

// echoMember prints a member that is a list or a map with its label.
func echoMember[T any](dst []byte, label string, v T, present bool, value func([]byte, T) []byte) []byte {
	dst = append(dst, label...)
	if !present {
		return append(dst, "null"...)
	}
	return value(dst, v)
}

func echoStruct[T any, P interface {
	*T
	appendEcho(dst []byte) []byte
}](dst []byte, v T) []byte {
	return P(&v).appendEcho(dst)
}

func echoList[T any](dst []byte, l []T, value func([]byte, T) []byte) []byte {
	dst = append(dst, '[')
	for i := range l {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		if len(dst) > maxEcho {
			dst = append(dst, "..."...)
			break
		}
		dst = value(dst, l[i])
	}
	return append(dst, ']')
}

func echoMap[T any](dst []byte, m map[string]T, value func([]byte, T) []byte) []byte {
	dst = append(dst, '{')
	for i, k := range sortedKeys(m) {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		if len(dst) > maxEcho {
			dst = append(dst, "..."...)
			break
		}
		dst = value(append(echoText(dst, k), '='), m[k])
	}
	return append(dst, '}')
}
