package attr

import (
	"bytes"
	"errors"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sortkey/sortkey/internal/item/blob"
	"github.com/sortkey/sortkey/internal/item/doc"
	"github.com/sortkey/sortkey/internal/item/number"
	"github.com/sortkey/sortkey/internal/item/token"
)

// MaxNesting is the number of levels that a document may have. The value of an
// attribute is level 1, its elements are level 2. The last level may hold
// scalars, sets and empty documents. Sources: DG/Constraints.html;
// dynamodb-conformance, tests/tier3/limits/nestingDepth.test.ts, for the last
// level.
const MaxNesting = 32

// The service's messages for refused values, as captured by dynalite
// (test/putItem.js), alternator's tests and dynamodb-conformance; msgName is
// from DynamoDB Local.
const (
	msgInvalid  = "One or more parameter values were invalid: "
	msgNoKind   = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
	msgTwoKinds = "Supplied AttributeValue has more than one datatypes set, must contain exactly " +
		"one of the supported datatypes"
	msgNull    = msgInvalid + "Null attribute value types must have the value of true"
	msgNesting = "Nesting Levels have exceeded supported limits: " +
		"Attributes in the item have nested levels beyond supported limit"
	msgName   = "Attribute name is too large, must be less than 65536 bytes"
	msgNoName = "Empty attribute name"
)

var msgEmptySet = map[Kind]string{
	StringSet: msgInvalid + "An string set  may not be empty",
	NumberSet: msgInvalid + "An number set  may not be empty",
	BinarySet: msgInvalid + "Binary sets should not be empty",
}

// msgNullMember has the messages for null in a set. Sources: ExtendDB's tests and DynamoDB Local for string sets,
// dynalite for binary sets; the message for number sets is a guess.
var msgNullMember = map[Kind]string{
	StringSet: msgInvalid + "An string set may not have a null string as a member",
	NumberSet: msgNoKind,
	BinarySet: msgInvalid + "Binary sets may not contain null or empty values",
}

// A reader converts the tokens of JSON to the stored form of values.
type reader struct {
	stack
	src     doc.Source
	left    int     // the documented size in bytes that the rest of the document may have
	invalid error   // the first ValidationException, or nil
	about   subject // what invalid is about
}

// A subject is what the recorded ValidationException is about. A reader reports the first fault in the text, with two
// exceptions: a value that is nested too deep takes precedence over an unnamed member of a map, and an unnamed
// attribute of the item takes precedence over a value that is nested too deep. Source: conformance
// validation-ordering/deepRequests, for TransactWriteItems.
type subject uint8

const (
	aboutOthers subject = iota
	aboutNesting
	aboutMember
)

// refuseName records the fault of an empty name, unless the recorded fault takes precedence. At level 0, it is the
// name of an attribute of the item; at a higher level, the name of a member of a map.
func (r *reader) refuseName(level int) {
	switch {
	case level == 0 && (r.invalid == nil || r.about != aboutOthers):
		r.invalid, r.about = invalid(msgNoName), aboutOthers
	case r.invalid == nil:
		r.invalid, r.about = invalid(msgNoName), aboutMember
	}
}

// refuseNesting records the fault of a value that is nested too deep, unless the recorded fault takes precedence.
func (r *reader) refuseNesting() {
	if r.invalid == nil || r.about == aboutMember {
		r.invalid, r.about = invalid(msgNesting), aboutNesting
	}
}

var readers = sync.Pool{New: func() any { return new(reader) }}

func init() {
	doc.AppendItem = appendItem
	doc.ReadValue = func(src doc.Source, most int) (kind byte, payload []byte, err error) {
		v, err := readValue(src, most)
		return byte(v.kind), v.raw, err
	}
}

// appendItem reads an object of attributes and appends the item to dst.
func appendItem(dst []byte, src doc.Source, most int) ([]byte, error) {
	r := readers.Get().(*reader)
	defer r.release()
	r.src, r.left = src, most
	v, ok, err := r.readMap(0)
	if err != nil || !ok {
		return nil, err
	}
	return append(dst, v.raw...), r.invalid
}

// readValue reads one value.
func readValue(src doc.Source, most int) (Value, error) {
	r := readers.Get().(*reader)
	defer r.release()
	r.src, r.left = src, most
	v, ok, err := r.readValue(1)
	if err != nil || !ok {
		return Value{}, err
	}
	return Value{v.kind, bytes.Clone(v.raw)}, r.invalid
}

// ParseItem parses an item in DynamoDB JSON, such as {"id":{"S":"x"}}: the form in requests, exports and files of
// tests. JSON null gives the nil Item, and an empty object an empty Item that is not nil. The error is an [*Error]; if
// its Syntax is false, the text is JSON of the right shape, but a value is not allowed.
func ParseItem(json []byte) (it Item, err error) {
	err = parse(json, func(src doc.Source) (err error) {
		it, err = appendItem(nil, src, doc.AnySize)
		return err
	})
	return it, err
}

// ParseValue parses one value in DynamoDB JSON, such as {"S":"x"}. JSON null gives the zero Value. Errors are as for
// [ParseItem].
func ParseValue(json []byte) (v Value, err error) {
	err = parse(json, func(src doc.Source) (err error) {
		v, err = readValue(src, doc.AnySize)
		return err
	})
	return v, err
}

var tokens = sync.Pool{New: func() any { return new(token.Reader) }}

// parse calls read for json and returns an error if anything but white space is left after it.
func parse(json []byte, read func(src doc.Source) error) error {
	r := tokens.Get().(*token.Reader)
	defer tokens.Put(r)
	defer r.Reset(nil)
	r.Reset(json)
	err := read(r)
	if errors.Is(err, token.ErrMalformed) {
		// Read the text again with jsontext's own decoder. It is slower, but its error says what is malformed, and
		// where.
		return read(doc.From(jsontext.NewDecoder(bytes.NewBuffer(json), jsontext.AllowDuplicateNames(true))))
	}
	if e, ok := errors.AsType[*Error](err); err != nil && (!ok || e.Syntax) {
		return err
	}
	if r.End() != nil {
		return syntax("Unexpected token received from parser")
	}
	return err
}

func (r *reader) release() {
	r.reset()
	r.src, r.invalid, r.about = nil, nil, aboutOthers
	readers.Put(r)
}

// refuse records a ValidationException, unless one is recorded already.
func (r *reader) refuse(err error) {
	if r.invalid == nil {
		r.invalid = err
	}
}

func (r *reader) refuseMsg(msg string) {
	if r.invalid == nil {
		r.invalid = invalid(msg)
	}
}

// grow adds size to the documented size read so far. If the sum exceeds the limit, it returns an error, so that
// decoding stops.
func (r *reader) grow(size int) error {
	if r.left -= size; r.left < 0 {
		return doc.ErrSize
	}
	return nil
}

// open reads the start of an object or array. It reports false for null, and
// an error for anything else.
func (r *reader) open(want shape, start byte) (bool, error) {
	if kind := r.src.Peek(); kind != start {
		val, err := r.src.Value()
		if err != nil {
			return false, err
		}
		if kind == 'n' {
			return false, nil
		}
		return false, mismatch(want, val)
	}
	return true, r.src.Open()
}

// readMap reads an object of named values into document form.
func (r *reader) readMap(level int) (Value, bool, error) {
	ok, err := r.open(shapeMap, '{')
	if err != nil || !ok {
		return Value{}, false, err
	}
	start, firstName, first := len(r.buf), len(r.names), len(r.entries)
	for {
		name, more, err := r.src.Name()
		if err != nil {
			return Value{}, false, err
		}
		if !more {
			break
		}
		from := len(r.names)
		r.names = r.src.AppendText(r.names, name)
		if len(r.names) == from {
			r.refuseName(level)
		}
		if len(r.names)-from > MaxNameBytes {
			r.refuseMsg(msgName)
			r.names = r.names[:from+cutName(r.names[from:])]
		}
		to := len(r.names)
		if err := r.grow(to - from + min(level, 1)); err != nil { // each member of a map adds 1 byte
			return Value{}, false, err
		}
		v, ok, err := r.readValue(level + 1)
		if err != nil {
			return Value{}, false, err
		}
		if !ok {
			r.refuseMsg(msgNoKind)
			continue
		}
		r.entries = append(r.entries, entry{from, to, v})
	}

	r.entries = r.entries[:first+len(sortEntries(r.names, r.entries[first:]))]
	names := r.names
	r.names = r.names[:firstName]
	return r.endMap(names, first, start), true, nil
}

// readValue reads a value object, which must have exactly one member that names a kind. It ignores members that are
// null or whose name is not a kind. If several members have the same name, it takes the last.
func (r *reader) readValue(level int) (Value, bool, error) {
	ok, err := r.open(shapeStructure, '{')
	if err != nil || !ok {
		return Value{}, false, err
	}
	start := len(r.buf)
	var v Value
	var found uint // a bit for each kind
	for {
		name, more, err := r.src.Name()
		if err != nil {
			return Value{}, false, err
		}
		if !more {
			break
		}
		kind := parseKind(r.src.Text(name))
		if kind == 0 {
			if err := r.src.Skip(); err != nil {
				return Value{}, false, err
			}
			continue
		}
		member, ok, err := r.readPayload(kind, level)
		if err != nil {
			return Value{}, false, err
		}
		found &^= 1 << kind
		if ok {
			found |= 1 << kind
			v = member
		}
	}

	switch found {
	case 0:
		r.refuseMsg(msgNoKind)
		v = r.placeholder(start)
	case 1 << v.kind:
	default:
		r.refuseMsg(msgTwoKinds)
	}

	return v, true, nil
}

// placeholder drops buf[start:] and returns a NULL in place of a refused value, so that reading can continue.
func (r *reader) placeholder(start int) Value {
	r.buf = r.buf[:start]
	return r.value(Null, start)
}

// readPayload reads the member of a value object. It reports false for null.
func (r *reader) readPayload(kind Kind, level int) (Value, bool, error) {
	start := len(r.buf)
	if r.src.Peek() == 'n' {
		return Value{}, false, r.src.Skip()
	}
	if level > MaxNesting {
		r.refuseNesting()
		return r.placeholder(start), true, r.src.Skip()
	}
	var err error
	switch kind {
	case Map, List:
		if err := r.grow(emptySize); err != nil {
			return Value{}, false, err
		}
		if kind == Map {
			return r.readMap(level)
		}
		return r.readList(level)
	case StringSet, NumberSet, BinarySet:
		return r.readSet(kind)
	case Bool, Null:
		err = r.readBool(kind)
	default:
		err = r.readScalar(kind)
	}

	v := r.value(kind, start)
	if err == nil {
		err = r.grow(v.Size())
	}
	return v, true, err
}

// readBool reads the payload of a BOOL or NULL. The service accepts some
// strings too (dynalite, test/putItem.js, has "no").
func (r *reader) readBool(kind Kind) error {
	val, err := r.src.Value()
	if err != nil {
		return err
	}
	truth := val[0] == 't'
	switch val[0] {
	case 't', 'f':
	case '"':
		switch strings.ToUpper(string(r.src.Text(val))) {
		case "TRUE", "YES", "1":
			truth = true
		case "FALSE", "NO", "0":
		default:
			return mismatch(shapeBoolean, val)
		}
	default:
		return mismatch(shapeBoolean, val)
	}

	switch {
	case kind == Null && !truth:
		r.refuseMsg(msgNull)
	case kind == Bool && truth:
		r.buf = append(r.buf, 1)
	case kind == Bool:
		r.buf = append(r.buf, 0)
	}

	return nil
}

// readScalar reads the payload of an S, N or B.
func (r *reader) readScalar(kind Kind) error {
	val, err := r.src.Value()
	if err != nil {
		return err
	}
	if val[0] != '"' {
		if kind == Binary {
			return mismatch(shapeBlob, val)
		}
		return mismatch(shapeString, val)
	}
	if kind == String {
		r.buf = r.src.AppendText(r.buf, val)
		return nil
	}

	text := r.src.Text(val)
	if kind == Binary {
		var msg string
		if r.buf, msg = blob.Append(r.buf, text); msg != "" {
			err = syntax(msg)
		}
		return err
	}

	start := len(r.buf)
	var msg, older string
	if r.buf, msg, older = number.Append(r.buf, text); msg != "" {
		r.refuse(&Error{Msg: msg, Older: older})
		r.buf = append(r.buf[:start], number.Zero)
	}
	return nil
}

func (r *reader) readList(level int) (Value, bool, error) {
	ok, err := r.open(shapeList, '[')
	if err != nil || !ok {
		return Value{}, false, err
	}
	start, first := len(r.buf), len(r.elems)
	for r.src.More() {
		if err := r.grow(1); err != nil {
			return Value{}, false, err
		}
		v, ok, err := r.readValue(level + 1)
		if err != nil {
			return Value{}, false, err
		}
		if !ok {
			r.refuseMsg(msgNoKind)
			continue
		}
		r.elems = append(r.elems, v)
	}

	return r.endList(first, start), true, nil
}

func (r *reader) readSet(kind Kind) (Value, bool, error) {
	ok, err := r.open(shapeList, '[')
	if err != nil || !ok {
		return Value{}, false, err
	}
	start, first := len(r.buf), len(r.elems)
	whole := true
	for r.src.More() {
		if r.src.Peek() == 'n' {
			if err := r.src.Skip(); err != nil {
				return Value{}, false, err
			}
			r.refuseMsg(msgNullMember[kind])
			whole = false
			continue
		}
		from, refused := len(r.buf), r.invalid
		if err := r.readScalar(kind.Elem()); err != nil {
			return Value{}, false, err
		}
		v := r.value(kind.Elem(), from)
		if err := r.grow(v.Size()); err != nil {
			return Value{}, false, err
		}
		whole = whole && r.invalid == refused
		r.elems = append(r.elems, v)
	}

	if !whole { // already refused
		r.elems = r.elems[:first]
		return r.placeholder(start), true, nil
	}
	v, err := r.endSet(kind, first, start)
	if err != nil {
		r.refuse(err)
		return r.placeholder(start), true, nil
	}
	return v, true, nil
}
