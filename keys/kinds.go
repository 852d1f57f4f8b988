package keys

import (
	"strconv"
	"strings"
)

// A kind defines all types with one name: the kind int defines int(5) and int(8). Its functions ignore Desc. Callers
// pass them only types that check accepts.
type kind struct {
	name   string
	params params
	// ordered says that the byte order of parts is the order of values. digits says that parts have digits at fixed
	// places, so Desc can reverse the type.
	ordered, digits bool
	// canonical returns the canonical form of text.
	canonical func(t Type, text string) (string, error)
	// encode converts canonical text to a part, and decode converts a part to text. If encode is nil, the part is the
	// canonical text. decode may accept parts that encode never returns: Type.Decode encodes its result again and
	// refuses it if the part differs.
	encode func(t Type, text string) (string, error)
	decode func(t Type, part string) (string, error)
	// width returns the number of bytes of every part, or 0 if parts differ in length.
	width func(t Type) int
	// compare compares values in canonical form; nil means byte order.
	compare func(t Type, a, b string) int
	// prefix converts the beginning of a value to the bytes that the parts of all values with this beginning begin
	// with. It is nil for types whose parts have no such bytes.
	prefix func(t Type, text string) (string, error)
	// layout is the time layout of the canonical form.
	layout string
}

// params says which parameters a kind takes.
type params int

const (
	noParams params = iota
	oneWidth
	optionalWidth
	widthAndScale
	valueList
)

var kinds = []*kind{
	{
		name: "string", params: optionalWidth, ordered: true, canonical: fixedText, prefix: text,
		width: func(t Type) int { return t.Width },
	},
	{name: "path", ordered: true, canonical: text, prefix: text},
	{
		name: "int", params: oneWidth, ordered: true, digits: true, canonical: canonicalInt, encode: encodeInt,
		decode: decodeInt,
		width:  func(t Type) int { return t.Width }, compare: compareNumbers,
	},
	{
		name: "signed", params: oneWidth, ordered: true, digits: true, canonical: canonicalSigned, encode: encodeSigned,
		decode: decodeSigned,
		width:  func(t Type) int { return 1 + t.Width }, compare: compareNumbers,
	},
	{
		name: "decimal", params: widthAndScale, ordered: true, digits: true, canonical: canonicalDecimal,
		encode: encodeSigned, decode: decodeSigned,
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
	{
		name: "ksuid", ordered: true, canonical: canonicalKSUID, prefix: text,
		width: func(Type) int { return len(maxKSUID) },
	},
	{
		name: "hex", params: oneWidth, ordered: true, canonical: canonicalHex, prefix: prefixLower,
		width: func(t Type) int { return t.Width },
	},
	{name: "enum", params: valueList, canonical: canonicalEnum, prefix: text, width: enumWidth, compare: compareEnum},
}

var kindOf = func() map[string]*kind {
	m := map[string]*kind{"": kinds[0]}
	for _, k := range kinds {
		m[k.name] = k
	}
	return m
}()

// kind returns the kind of t, or an error if t has an unknown name or wrong parameters. Of an enum, it checks only
// that there are values; [Type.validate] checks the values themselves.
func (t Type) kind() (*kind, error) {
	k, ok := kindOf[t.Name]
	if !ok {
		return nil, &Error{
			Type: t.Name, Msg: "there is no type " + strconv.Quote(t.Name),
			Advice: "the types are " + strings.Join(TypeNames(), ", "),
		}
	}
	if msg, advice := k.check(t); msg != "" {
		return nil, &Error{Type: t.String(), Msg: msg, Advice: advice}
	}
	return k, nil
}

// validate checks a type that a caller has built: as [Type.kind] does, and also the values of an enum. ParseType has
// checked these already.
func (t Type) validate() error {
	_, err := t.kind()
	if err == nil && len(t.Values) > 0 {
		if msg, advice := checkValues(t.Values); msg != "" {
			return &Error{Type: t.String(), Msg: msg, Advice: advice}
		}
	}
	return err
}

// maxDigits is the most digits of a number, and maxBytes the most bytes of a sort key, in DynamoDB.
const (
	maxDigits = 38
	maxBytes  = 1024
)

func (k *kind) check(t Type) (msg, advice string) {
	if t.Desc && !k.digits {
		return k.name + " cannot be reversed", "only int, signed, decimal and the time types support desc"
	}
	if k.params != valueList && len(t.Values) > 0 || k.params != widthAndScale && t.Scale != 0 ||
		k.params != oneWidth && k.params != optionalWidth && k.params != widthAndScale && t.Width != 0 {
		return k.name + " does not take these parameters", "write " + k.example()
	}
	most := maxDigits
	if k.name == "hex" {
		most = maxBytes
	}
	switch k.params {
	case oneWidth:
		if t.Width < 1 || t.Width > most {
			return k.name + " needs the number of its digits, from 1 to " + strconv.Itoa(most), "write " + k.example()
		}
	case optionalWidth:
		if t.Width < 0 || t.Width > maxBytes {
			return k.name + " takes a number of bytes, from 1 to " + strconv.Itoa(maxBytes), "write " + k.example()
		}
	case widthAndScale:
		if t.Width < 1 || t.Scale < 0 || t.Width > most || t.Scale > most || t.Width+t.Scale > most {
			return k.name + " needs the number of its digits before and after the point, together at most " +
				strconv.Itoa(most), "write " + k.example()
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
	case optionalWidth:
		return k.name + ", or " + k.name + "(3) for values of three bytes"
	case widthAndScale:
		return k.name + "(8,2)"
	case valueList:
		return k.name + "(NEW,PAID,SHIPPED)"
	}
	return k.name
}

// ParseType parses a type as templates write it, such as int(8), enum(a,b) or time:desc. Use it to make the types
// that [ParseWith] takes. The error is an [*Error].
func ParseType(text string) (Type, error) {
	t := Type{}
	head, desc := strings.CutSuffix(text, ":desc")
	t.Desc = desc
	name, list, has := strings.Cut(head, "(")
	t.Name = strings.TrimSpace(name)
	k, ok := kindOf[t.Name]
	if !ok || t.Name == "" {
		return Type{}, &Error{
			Type: text, Msg: "there is no type " + clip(t.Name),
			Advice: "the types are " + strings.Join(TypeNames(), ", "),
		}
	}
	if has {
		inner, closed := strings.CutSuffix(list, ")")
		if !closed {
			return Type{}, &Error{
				Type: text, Msg: "the parameters of " + t.Name + " lack a closing parenthesis",
				Advice: "write " + k.example(),
			}
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
	if k.params == noParams || len(list) > len(places) ||
		(k.params == oneWidth || k.params == optionalWidth) && len(list) > 1 {
		return &Error{Msg: t.Name + " does not take these parameters", Advice: "write " + k.example()}
	}
	for i, s := range list {
		n, err := strconv.ParseUint(s, 10, 16)
		if err != nil || n == 0 && k.params == optionalWidth {
			return &Error{
				Msg:    "the parameter " + clip(s) + " of " + t.Name + " is not a number of digits",
				Advice: "write " + k.example(),
			}
		}
		*places[i] = int(n)
	}

	return nil
}
