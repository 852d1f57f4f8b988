package doc

import (
	"fmt"
	"math"

	"github.com/go-json-experiment/json/jsontext"
)

// The limits of documented sizes.
const (
	// MaxSize is the largest item. Source: DG/Constraints.html.
	MaxSize = 400 << 10
	// AnySize is for documents that are refused elsewhere.
	AnySize = math.MaxInt
)

// ErrSize is the error for an item or value above [MaxSize], which has not been read to its end.
var ErrSize = fmt.Errorf("larger than %d bytes, the limit of an item", MaxSize)

// AppendItem and ReadValue read the next value of a decoder, DynamoDB JSON, as an item that
// is appended to dst and as a value with its kind. JSON null gives nil, and kind 0. The error is an attr.Error or
// the decoder's; the value has been read to its end when it is an attr.Error without
// Syntax, and [ErrSize] as soon as the documented size of what was read is above most.
//
// Package attr sets them. They are here because its public face does not name the
// decoder, whose library does not promise to stay compatible.
var (
	AppendItem func(dst []byte, dec *jsontext.Decoder, most int) (item []byte, err error)
	ReadValue  func(dec *jsontext.Decoder, most int) (kind byte, payload []byte, err error)
)
