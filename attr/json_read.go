package attr

import (
	"bytes"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxNesting is the number of levels of a document: the value of an attribute
// is at the first, what is in it at the second. Source: DG/Constraints.html;
// that the last level has room for empty documents and values of other kinds
// is dynamodb-conformance's tests/tier3/limits/nestingDepth.test.ts.
const MaxNesting = 32

// Messages of values the service refuses, as captured in dynalite
// (test/putItem.js) and in alternator's tests.
const (
	msgNoKind   = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
	msgTwoKinds = "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes"
	msgNull     = "One or more parameter values were invalid: Null attribute value types must have the value of true"
	msgNesting  = "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit"
	msgName     = "Attribute name is too large, must be less than 65536 bytes"
)

var msgEmptySet = map[Kind]string{
	StringSet: "One or more parameter values were invalid: An string set  may not be empty",
	NumberSet: "One or more parameter values were invalid: An number set  may not be empty",
	BinarySet: "One or more parameter values were invalid: Binary sets should not be empty",
}

// duplicates is the message for a set with equal members; texts are the
// members as the client wrote them.
func duplicates(kind Kind, elems []Value, texts []string) string {
	if kind == NumberSet {
		return "Input collection contains duplicates"
	}
	if texts == nil {
		for _, e := range elems {
			texts = append(texts, string(e.appendText(nil)))
		}
	}
	msg := "One or more parameter values were invalid: Input collection [" + strings.Join(texts, ", ") + "]"
	if kind == BinarySet {
		return msg + "of type BS contains duplicates."
	}
	return msg + " contains duplicates."
}

// reader turns JSON tokens into stored forms. Payloads of finished values lie
// in buf; a document's members lie there until they are written again in its
// own form. invalid is the first ValidationException met.
type reader struct {
	dec     *jsontext.Decoder
	buf     []byte
	names   []byte
	invalid error
}

var readers = sync.Pool{New: func() any { return new(reader) }}

// span is a value whose payload is buf[from:to].
type span struct {
	kind     Kind
	from, to int
}

// DecodeItem reads an object of attributes, such as {"id":{"S":"x"}}. JSON
// null gives the nil Item, an empty object an empty one that is not nil. The
// error is an [*Error], or one of the decoder's.
func DecodeItem(dec *jsontext.Decoder) (Item, error) {
	r := readers.Get().(*reader)
	defer r.release()
	r.dec = dec
	v, ok, err := r.readMap(0)
	if err != nil || !ok {
		return nil, err
	}
	return Item(bytes.Clone(r.buf[v.from:v.to])), r.invalid
}

// DecodeValue reads one value, such as {"S":"x"}. JSON null gives the zero
// Value. Errors are as for [DecodeItem].
func DecodeValue(dec *jsontext.Decoder) (Value, error) {
	r := readers.Get().(*reader)
	defer r.release()
	r.dec = dec
	v, ok, err := r.readValue(0)
	if err != nil || !ok {
		return Value{}, err
	}
	return Value{v.kind, bytes.Clone(r.buf[v.from:v.to])}, r.invalid
}

// ParseItem is [DecodeItem] for a whole text.
func ParseItem(json []byte) (Item, error) {
	return parse(json, DecodeItem)
}

// ParseValue is [DecodeValue] for a whole text.
func ParseValue(json []byte) (Value, error) {
	return parse(json, DecodeValue)
}

func parse[T any](json []byte, decode func(*jsontext.Decoder) (T, error)) (T, error) {
	var zero T
	dec := jsontext.NewDecoder(bytes.NewBuffer(json), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	v, err := decode(dec)
	if err != nil {
		return v, err
	}
	if _, err := dec.ReadToken(); err == nil {
		return zero, syntax("there is more after the JSON value")
	}
	return v, nil
}

func (r *reader) release() {
	const keep = 1 << 20
	if cap(r.buf) > keep {
		r.buf = nil
	}
	r.dec, r.invalid = nil, nil
	r.buf, r.names = r.buf[:0], r.names[:0]
	readers.Put(r)
}

// refuse notes a ValidationException; the first one counts.
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

// open reads the start of an object or array. It reports false for null, and
// an error for anything else.
func (r *reader) open(want Shape, start jsontext.Kind) (bool, error) {
	if kind := r.dec.PeekKind(); kind != start {
		val, err := r.dec.ReadValue()
		if err != nil {
			return false, err
		}
		if kind == 'n' {
			return false, nil
		}
		return false, Mismatch(want, val)
	}
	_, err := r.dec.ReadToken()
	return true, err
}

// readMap reads an object of named values into document form.
func (r *reader) readMap(depth int) (span, bool, error) {
	ok, err := r.open(ShapeMap, '{')
	if err != nil || !ok {
		return span{}, false, err
	}
	start, nameStart := len(r.buf), len(r.names)
	var members [16]entry
	var spans [16]span
	entries, parts := members[:0], spans[:0]
	for r.dec.PeekKind() != '}' {
		from := len(r.names)
		if r.names, err = r.appendString(r.names); err != nil {
			return span{}, false, err
		}
		if len(r.names)-from > MaxNameBytes {
			r.refuseMsg(msgName)
			r.names = r.names[:from+MaxNameBytes]
		}
		to := len(r.names)
		v, ok, err := r.readValue(depth + 1)
		if err != nil {
			return span{}, false, err
		}
		if !ok {
			r.refuseMsg(msgNoKind)
			continue
		}
		entries = append(entries, entry{from: from, to: to})
		parts = append(parts, v)
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return span{}, false, err
	}
	for i, p := range parts {
		entries[i].v = Value{p.kind, r.buf[p.from:p.to]}
	}
	entries = sortEntries(r.names, entries)
	// Reserve first: appendEntries reads payloads from the buffer it writes to.
	end := len(r.buf)
	r.buf = appendEntries(r.buf, r.names, entries)
	r.names = r.names[:nameStart]
	return r.settle(Map, start, end), true, nil
}

// settle moves the finished payload buf[end:] down to start, over the parts it
// was made of.
func (r *reader) settle(kind Kind, start, end int) span {
	n := copy(r.buf[start:], r.buf[end:])
	r.buf = r.buf[:start+n]
	return span{kind, start, start + n}
}

// readValue reads a value object: exactly one member that names the kind.
// Members that are null or unknown do not count.
func (r *reader) readValue(depth int) (span, bool, error) {
	ok, err := r.open(ShapeStructure, '{')
	if err != nil || !ok {
		return span{}, false, err
	}
	var v span
	found := 0
	for r.dec.PeekKind() != '}' {
		token, err := r.dec.ReadToken()
		if err != nil {
			return span{}, false, err
		}
		kind, known := ParseKind(token.String())
		if !known {
			if err := r.dec.SkipValue(); err != nil {
				return span{}, false, err
			}
			continue
		}
		member, ok, err := r.readPayload(kind, depth)
		if err != nil {
			return span{}, false, err
		}
		if ok {
			found++
			v = member
		}
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return span{}, false, err
	}
	switch {
	case found == 0:
		r.refuseMsg(msgNoKind)
		v = span{Null, len(r.buf), len(r.buf)}
	case found > 1:
		r.refuseMsg(msgTwoKinds)
	}
	return v, true, nil
}

// readPayload reads the member of a value object. It reports false for null.
func (r *reader) readPayload(kind Kind, depth int) (span, bool, error) {
	start := len(r.buf)
	if depth > MaxNesting && r.dec.PeekKind() != 'n' {
		r.refuseMsg(msgNesting)
		return span{Null, start, start}, true, r.dec.SkipValue()
	}
	var err error
	switch kind {
	case List, Map:
		if kind == Map {
			return r.readMap(depth)
		}
		return r.readList(depth)
	case StringSet, NumberSet, BinarySet:
		return r.readSet(kind)
	}
	if r.dec.PeekKind() == 'n' {
		return span{}, false, r.dec.SkipValue()
	}
	switch kind {
	case String:
		r.buf, err = r.appendString(r.buf)
	case Binary:
		err = r.readBlob()
	case Number:
		_, err = r.readNumber()
	case Bool, Null:
		var b bool
		if b, err = r.readBool(); err != nil {
			return span{}, false, err
		}
		if kind == Null {
			if !b {
				r.refuseMsg(msgNull)
			}
			break
		}
		if b {
			r.buf = append(r.buf, 1)
		} else {
			r.buf = append(r.buf, 0)
		}
	}
	return span{kind, start, len(r.buf)}, true, err
}

func (r *reader) readBool() (bool, error) {
	val, err := r.dec.ReadValue()
	if err != nil {
		return false, err
	}
	switch val.Kind() {
	case 't':
		return true, nil
	case 'f':
		return false, nil
	}
	return false, Mismatch(ShapeBoolean, val)
}

// appendString reads a JSON string and appends its text.
func (r *reader) appendString(dst []byte) ([]byte, error) {
	val, err := r.dec.ReadValue()
	if err != nil {
		return dst, err
	}
	if val.Kind() != '"' {
		return dst, Mismatch(ShapeString, val)
	}
	return appendUnquoted(dst, val), nil
}

// appendUnquoted appends the text of a JSON string the decoder has accepted.
// What is not UTF-8 in it becomes U+FFFD, which is all the error can be about.
func appendUnquoted(dst []byte, val jsontext.Value) []byte {
	out, _ := jsontext.AppendUnquote(dst, val)
	return out
}

func (r *reader) readBlob() error {
	val, err := r.dec.ReadValue()
	if err != nil {
		return err
	}
	if val.Kind() != '"' {
		return Mismatch(ShapeBlob, val)
	}
	if bytes.IndexByte(val, '\\') < 0 {
		r.buf, err = AppendBlob(r.buf, val[1:len(val)-1])
		return err
	}
	r.buf, err = AppendBlob(r.buf, appendUnquoted(nil, val))
	return err
}

// readNumber reads decimal text and returns it as the client wrote it.
func (r *reader) readNumber() (string, error) {
	var small [64]byte
	text, err := r.appendString(small[:0])
	if err != nil {
		return "", err
	}
	buf, err := AppendNumber(r.buf, string(text))
	if err != nil {
		r.refuse(err)
		buf = append(r.buf, numberZero)
	}
	r.buf = buf
	return string(text), nil
}

func (r *reader) readList(depth int) (span, bool, error) {
	ok, err := r.open(ShapeList, '[')
	if err != nil || !ok {
		return span{}, false, err
	}
	start := len(r.buf)
	var parts []span
	for r.dec.PeekKind() != ']' {
		v, ok, err := r.readValue(depth + 1)
		if err != nil {
			return span{}, false, err
		}
		if !ok {
			r.refuseMsg(msgNoKind)
			continue
		}
		parts = append(parts, v)
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return span{}, false, err
	}
	elems := r.values(parts)
	end := len(r.buf)
	r.buf = AppendList(r.buf, elems)
	return r.settle(List, start, end), true, nil
}

func (r *reader) values(parts []span) []Value {
	elems := make([]Value, len(parts))
	for i, p := range parts {
		elems[i] = Value{p.kind, r.buf[p.from:p.to]}
	}
	return elems
}

func (r *reader) readSet(kind Kind) (span, bool, error) {
	ok, err := r.open(ShapeList, '[')
	if err != nil || !ok {
		return span{}, false, err
	}
	start := len(r.buf)
	var parts []span
	var texts []string
	for r.dec.PeekKind() != ']' {
		if r.dec.PeekKind() == 'n' {
			if err := r.dec.SkipValue(); err != nil {
				return span{}, false, err
			}
			r.refuseMsg("One or more parameter values were invalid: An string set may not have a null element")
			continue
		}
		from := len(r.buf)
		text := ""
		switch kind.Elem() {
		case Number:
			text, err = r.readNumber()
		case Binary:
			err = r.readBlob()
		default:
			if r.buf, err = r.appendString(r.buf); err == nil {
				text = string(r.buf[from:])
			}
		}
		if err != nil {
			return span{}, false, err
		}
		parts = append(parts, span{kind.Elem(), from, len(r.buf)})
		if kind != BinarySet {
			texts = append(texts, text)
		}
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return span{}, false, err
	}
	end := len(r.buf)
	elems := r.values(parts)
	out, err := appendSet(slices.Grow(r.buf, 0), kind, elems, texts)
	if err != nil {
		r.refuse(err)
		return span{Null, start, start}, true, nil
	}
	r.buf = out
	return r.settle(kind, start, end), true, nil
}
