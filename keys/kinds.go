package keys

import (
	"strconv"
	"strings"
)

// A kind is what the types of one name have in common. Its functions know
// nothing of Desc and get only types that its params accept.
type kind struct {
	name   string
	params params
	// ordered says that byte order is value order, digits that a reversed
	// order exists: the part is made of digits at fixed places.
	ordered, digits bool
	// canonical returns the one text form of the value in text.
	canonical func(t Type, text string) (string, error)
	// encode makes a part of canonical text and decode undoes it. A nil encode
	// is the identity. decode may be lenient: what it returns is encoded again.
	encode func(t Type, text string) (string, error)
	decode func(t Type, part string) (string, error)
	// width is the bytes of every part, 0 when they differ.
	width func(t Type) int
	// compare is the order of values in canonical form; nil is byte order.
	compare func(t Type, a, b string) int
	// prefix makes what all parts begin with of text that the values begin
	// with. It is nil for types whose parts do not begin as their values do.
	prefix func(t Type, text string) (string, error)
	// layout is how the canonical form of a time is written.
	layout string
}

// params are the parameters that a kind takes.
type params int

const (
	noParams params = iota
	oneWidth
	widthAndScale
	valueList
)

var kinds = []*kind{
	{name: "string", ordered: true, canonical: text, prefix: text},
	{name: "path", ordered: true, canonical: text, prefix: text},
	{
		name: "int", params: oneWidth, ordered: true, digits: true, canonical: canonicalInt, encode: encodeInt, decode: decodeInt,
		width: func(t Type) int { return t.Width }, compare: compareNumbers,
	},
	{
		name: "signed", params: oneWidth, ordered: true, digits: true, canonical: canonicalSigned, encode: encodeSigned, decode: decodeSigned,
		width: func(t Type) int { return 1 + t.Width }, compare: compareNumbers,
	},
	{
		name: "decimal", params: widthAndScale, ordered: true, digits: true, canonical: canonicalDecimal, encode: encodeSigned, decode: decodeSigned,
		width: decimalWidth, compare: compareNumbers,
	},
	{name: "number", canonical: canonicalNumber, compare: compareNumbers, prefix: text},
	timeKind("year", "2006"),
	timeKind("month", "2006-01"),
	timeKind("date", "2006-01-02"),
	timeKind("time", secondsLayout),
	timeKind("millis", millisLayout),
	timeKind("micros", "2006-01-02T15:04:05.000000Z"),
	timeKind("nanos", "2006-01-02T15:04:05.000000000Z"),
	epochKind("epoch", epochDigits, secondsLayout),
	epochKind("epochms", epochDigits+3, millisLayout),
	{name: "uuid", ordered: true, canonical: canonicalUUID, prefix: prefixLower, width: func(Type) int { return 36 }},
	{name: "ulid", ordered: true, canonical: canonicalULID, prefix: prefixUpper, width: func(Type) int { return 26 }},
	{name: "ksuid", ordered: true, canonical: canonicalKSUID, prefix: text, width: func(Type) int { return len(maxKSUID) }},
	{name: "hex", params: oneWidth, ordered: true, canonical: canonicalHex, prefix: prefixLower, width: func(t Type) int { return t.Width }},
	{name: "enum", params: valueList, canonical: canonicalEnum, prefix: text, width: enumWidth, compare: compareEnum},
}

var kindOf = func() map[string]*kind {
	m := map[string]*kind{"": kinds[0]}
	for _, k := range kinds {
		m[k.name] = k
	}
	return m
}()

// kind returns the kind of t when there is such a type. Of the values of an
// enum it looks at no more than that there are some; validate looks at all.
func (t Type) kind() (*kind, error) {
	k, ok := kindOf[t.Name]
	if !ok {
		return nil, &Error{Type: t.Name, Msg: "there is no type " + strconv.Quote(t.Name), Advice: "the types are " + strings.Join(TypeNames(), ", ")}
	}
	if msg, advice := k.check(t); msg != "" {
		return nil, &Error{Type: t.String(), Msg: msg, Advice: advice}
	}
	return k, nil
}

// validate is kind for types that somebody has just written.
func (t Type) validate() error {
	_, err := t.kind()
	if err == nil && len(t.Values) > 0 {
		if msg, advice := checkValues(t.Values); msg != "" {
			return &Error{Type: t.String(), Msg: msg, Advice: advice}
		}
	}
	return err
}

// The most digits a number of the service has, and bytes a sort key.
const (
	mostDigits = 38
	mostBytes  = 1024
)

func (k *kind) check(t Type) (msg, advice string) {
	if t.Desc && !k.digits {
		return k.name + " has no reversed order", "only the types that are written in digits of fixed number have one: int, signed, decimal and the times"
	}
	if k.params != valueList && len(t.Values) > 0 || k.params != widthAndScale && t.Scale != 0 ||
		k.params != oneWidth && k.params != widthAndScale && t.Width != 0 {
		return k.name + " does not take these parameters", "write " + k.example()
	}
	most := mostDigits
	if k.name == "hex" {
		most = mostBytes
	}
	switch k.params {
	case oneWidth:
		if t.Width < 1 || t.Width > most {
			return k.name + " needs the number of its digits, from 1 to " + strconv.Itoa(most), "write " + k.example()
		}
	case widthAndScale:
		if t.Width < 1 || t.Scale < 0 || t.Width > most || t.Scale > most || t.Width+t.Scale > most {
			return k.name + " needs the number of its digits before and after the point, together at most " + strconv.Itoa(most), "write " + k.example()
		}
	case valueList:
		if len(t.Values) == 0 {
			return checkValues(nil)
		}
	}
	return "", ""
}

func (k *kind) example() string {
	switch k.params {
	case oneWidth:
		return k.name + "(8)"
	case widthAndScale:
		return k.name + "(8,2)"
	case valueList:
		return k.name + "(NEW,PAID,SHIPPED)"
	}
	return k.name
}

// ParseType reads a type as templates write it: int(8), enum(a,b), time:desc.
// Its errors are an [*Error].
func ParseType(text string) (Type, error) {
	t := Type{}
	head, desc := strings.CutSuffix(text, ":desc")
	t.Desc = desc
	name, list, has := strings.Cut(head, "(")
	t.Name = strings.TrimSpace(name)
	k, ok := kindOf[t.Name]
	if !ok || t.Name == "" {
		return Type{}, &Error{Type: text, Msg: "there is no type " + clip(t.Name), Advice: "the types are " + strings.Join(TypeNames(), ", ")}
	}
	if has {
		inner, closed := strings.CutSuffix(list, ")")
		if !closed {
			return Type{}, &Error{Type: text, Msg: "the parameters of " + t.Name + " are not closed", Advice: "write " + k.example()}
		}
		if err := t.setParams(k, strings.Split(inner, ",")); err != nil {
			err.Type = text
			return Type{}, err
		}
	}
	if err := t.validate(); err != nil {
		return Type{}, err
	}
	return t, nil
}

func (t *Type) setParams(k *kind, list []string) *Error {
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	if k.params == valueList {
		t.Values = list
		return nil
	}
	places := []*int{&t.Width, &t.Scale}
	if k.params == noParams || len(list) > len(places) || k.params == oneWidth && len(list) > 1 {
		return &Error{Msg: t.Name + " does not take these parameters", Advice: "write " + k.example()}
	}
	for i, s := range list {
		n, err := strconv.ParseUint(s, 10, 16)
		if err != nil {
			return &Error{Msg: "the parameter " + clip(s) + " of " + t.Name + " is not a number of digits", Advice: "write " + k.example()}
		}
		*places[i] = int(n)
	}
	return nil
}
