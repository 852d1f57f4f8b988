package doc

import "github.com/go-json-experiment/json/jsontext"

// AppendItem and ReadValue read the next value of a decoder, DynamoDB JSON, as an item that
// is appended to dst and as a value with its kind. JSON null gives nil, and kind 0. The error is an attr.Error or
// the decoder's; the value has been read to its end when it is an attr.Error without
// Syntax.
//
// Package attr sets them. They are here because its public face does not name the
// decoder, whose library does not promise to stay compatible.
var (
	AppendItem func(dst []byte, dec *jsontext.Decoder) (item []byte, err error)
	ReadValue  func(dec *jsontext.Decoder) (kind byte, payload []byte, err error)
)
