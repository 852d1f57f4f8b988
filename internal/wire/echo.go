package wire

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/attr"
)

// maxEcho is the maximum number of bytes of a request that a message prints. The service prints the whole request.
const maxEcho = 256 << 10

// echoText appends text. If dst would become longer than maxEcho bytes, echoText appends only the start of the text,
// and "...".
func echoText(dst []byte, text string) []byte {
	if left := max(0, maxEcho-len(dst)); len(text) > left {
		return append(append(dst, strings.ToValidUTF8(text[:left], "")...), "..."...)
	}
	return append(dst, text...)
}

// echoList appends n parts with commas between them, in brackets. It ends early once dst has maxEcho bytes.
func echoList(dst []byte, brackets string, n int, part func(dst []byte, i int) []byte) []byte {
	dst = append(dst, brackets[0])
	for i := range n {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		if len(dst) > maxEcho {
			dst = append(dst, "..."...)
			break
		}
		dst = part(dst, i)
	}
	return append(dst, brackets[1])
}

func echoItem(dst []byte, it attr.Item) []byte {
	if it == nil {
		return append(dst, "null"...)
	}
	return echoList(dst, "{}", it.Len(), func(dst []byte, i int) []byte {
		name, v := it.At(i)
		return echoValue(append(echoText(dst, string(name)), '='), v)
	})
}

// echoFields are the fields of an attribute value in the order in which the service prints them. A field has the name
// of its kind, except for six fields that are always null.
var echoFields = []string{
	"s", "n", "b", "iNT", "dECIMAL", "dOUBLE", "sS", "nS", "bS", "iNTSET", "dECIMALSET", "dOUBLESET", "m", "l", "nULL",
	"bOOL",
}

// echoValue prints a value. Source: paritysuite/dynamodb-conformance,
// c_bw_over25; some regions print the object's hash instead.
func echoValue(dst []byte, v attr.Value) []byte {
	if v.Kind() == 0 {
		return append(dst, "null"...)
	}
	dst = append(dst, "AttributeValue("...)
	for i, name := range echoFields {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(append(dst, name...), '=')
		if !strings.EqualFold(name, v.Kind().String()) {
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
	return echoList(dst, "[]", v.Len(), func(dst []byte, i int) []byte {
		switch e := v.Index(i); {
		case v.Kind() == attr.List:
			return echoValue(dst, e)
		case e.Kind() == attr.Number:
			return e.AppendNumber(dst)
		default:
			return echoText(dst, string(e.Raw()))
		}
	})
}

// appendEcho prints a list, a map, a structure or a value inside them.
func appendEcho(dst []byte, x reflect.Value) []byte {
	switch v := x.Interface().(type) {
	case string:
		return echoText(dst, v)
	case int64:
		return appendInteger(dst, v)
	case float64:
		return appendDouble(dst, v)
	case bool:
		return strconv.AppendBool(dst, v)
	case attr.Value:
		return echoValue(dst, v)
	case attr.Item:
		return echoItem(dst, v)
	}
	switch x.Kind() {
	case reflect.Slice:
		return echoList(dst, "[]", x.Len(), func(dst []byte, i int) []byte { return appendEcho(dst, x.Index(i)) })
	case reflect.Map:
		names := sortedNames(x)
		return echoList(dst, "{}", len(names), func(dst []byte, i int) []byte {
			return appendEcho(append(echoText(dst, names[i]), '='), elemOf(x, names[i]))
		})
	}
	return echoStructure(dst, x)
}

// echoStructure prints a structure as the service's Java class does. That class has one field that the model lacks,
// and some classes print their fields in a special order. Source: conformance c_bw_over25.
func echoStructure(dst []byte, x reflect.Value) []byte {
	s := structureOf(x.Type())
	members := s.byName
	if s.typ == reflect.TypeFor[WriteRequest]() {
		members = slices.Clone(members)
		slices.Reverse(members)
	}
	dst = append(append(dst, s.typ.Name()...), '(')
	for i, m := range members {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(dst, strings.ToLower(m.name[:1])...)
		dst = append(append(dst, m.name[1:]...), '=')
		field := x.Field(m.index)
		switch {
		case m.absent(field):
			dst = append(dst, "null"...)
		case field.Kind() == reflect.Pointer:
			dst = appendEcho(dst, field.Elem())
		default:
			dst = appendEcho(dst, field)
		}
	}

	if s.typ == reflect.TypeFor[PutRequest]() {
		dst = append(dst, ", workloadProfileName=null"...)
	}
	return append(dst, ')')
}
