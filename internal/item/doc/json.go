package doc

import (
	"bytes"
	"fmt"
	"math"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sortkey/sortkey/internal/item/token"
)

// The limits of documented sizes.
const (
	// MaxSize is the largest item. Source: DG/Constraints.html.
	MaxSize = 400 << 10
	// AnySize stands for no limit. Use it for documents whose size other code checks.
	AnySize = math.MaxInt
)

// ErrSize means that an item or value is larger than [MaxSize]. AppendItem and ReadValue leave the rest of such a
// value unread.
var ErrSize = fmt.Errorf("larger than %d bytes, the limit of an item", MaxSize)

// AppendItem and ReadValue read the next value of a source of DynamoDB JSON. AppendItem appends the value to dst as
// an item, and ReadValue returns its kind and payload. For JSON null, the item is nil and the kind 0.
//
// The error is an attr.Error or the source's. If it is an attr.Error without Syntax, the value has been read to its
// end. If the documented size exceeds most bytes, the error is [ErrSize], and the rest of the value has not been
// read.
//
// Package attr sets these variables. They are not functions in its public API, because their parameter has a type of
// a JSON library that does not promise to stay compatible.
var (
	AppendItem func(dst []byte, src Source, most int) (item []byte, err error)
	ReadValue  func(src Source, most int) (kind byte, payload []byte, err error)
)

// A Source is a reader of tokens: a [token.Reader], whose comments explain the methods, or the result of [From],
// which wraps a decoder of package jsontext.
type Source interface {
	Peek() byte
	Open() error
	Name() (name []byte, more bool, err error)
	More() bool
	Value() ([]byte, error)
	Skip() error
	AppendText(dst, raw []byte) []byte
	Text(raw []byte) []byte
}

var _ Source = (*token.Reader)(nil)

// From returns a decoder as a Source. It is slower than token.Reader. But it reads texts that are not whole in
// memory, refuses duplicate names if its options say so, and its errors say what is malformed and where.
func From(dec *jsontext.Decoder) Source { return decoder{dec} }

type decoder struct{ *jsontext.Decoder }

func (d decoder) Peek() byte { return byte(d.PeekKind()) }

func (d decoder) Open() error {
	_, err := d.ReadToken()
	return err
}

func (d decoder) Name() (name []byte, more bool, err error) {
	if d.PeekKind() == '}' {
		return nil, false, d.Open()
	}
	name, err = d.ReadValue()
	return name, err == nil, err
}

func (d decoder) More() bool {
	if d.PeekKind() != ']' {
		return true
	}
	_, err := d.ReadToken()
	return err != nil
}

func (d decoder) Value() ([]byte, error) { return d.ReadValue() }

func (d decoder) Skip() error { return d.SkipValue() }

func (d decoder) AppendText(dst, raw []byte) []byte {
	dst, _ = jsontext.AppendUnquote(dst, raw) // cannot fail: the decoder has accepted the string
	return dst
}

func (d decoder) Text(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	return d.AppendText(nil, raw)
}
