package examples

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/sortkey/sortkey/attr"
)

// A System is a table design: its tables, some items in them, and the access
// patterns it was made for.
type System struct {
	// Name is the short name, of lower-case words joined by hyphens.
	Name string `json:"name"`
	// About says in a sentence or two what there is to see.
	About string `json:"about"`
	// Tables are CreateTable requests.
	Tables []json.RawMessage `json:"tables"`
	// Items holds, by table, items in DynamoDB JSON.
	Items map[string][]json.RawMessage `json:"items"`
	// Patterns are questions with the right answers.
	Patterns []Pattern `json:"patterns"`
}

// A Pattern is one question to a [System] and its right answer.
//
// Exactly one of Query, Get and Scan is the question, and exactly one of Keys,
// Item and Error the answer.
type Pattern struct {
	// Name says what is asked, in the words of the domain.
	Name string `json:"name"`
	// Note says what is to be learnt from it. It may be empty.
	Note string `json:"note,omitempty"`

	// Query, Get and Scan are requests of the operations Query, GetItem and
	// Scan.
	Query json.RawMessage `json:"query,omitempty"`
	Get   json.RawMessage `json:"get,omitempty"`
	Scan  json.RawMessage `json:"scan,omitempty"`

	// Keys are the keys of the items that a Query or Scan returns, in order.
	// An empty list is an answer without items.
	Keys []Key `json:"keys,omitempty"`
	// Ties allows items that follow each other in Keys and have equal keys in
	// the index that was asked to come in any order.
	Ties bool `json:"ties,omitempty"`
	// Item is the item that a Get returns, in DynamoDB JSON, or null when
	// there is none.
	Item json.RawMessage `json:"item,omitempty"`
	// Error is the name of the exception the request fails with, such as
	// ValidationException.
	Error string `json:"error,omitempty"`
}

// Operation returns the name of the operation and its request.
func (p *Pattern) Operation() (name string, request json.RawMessage) {
	switch {
	case p.Query != nil:
		return "Query", p.Query
	case p.Get != nil:
		return "GetItem", p.Get
	default:
		return "Scan", p.Scan
	}
}

// A Key is the primary key of an item: the partition key and, in a table that
// has one, the sort key. In JSON it is an array of strings for S, numbers for
// N, and objects of DynamoDB JSON for B.
type Key []attr.Value

// UnmarshalJSON implements [json.Unmarshaler].
func (k *Key) UnmarshalJSON(data []byte) error {
	var parts []json.RawMessage
	if json.Unmarshal(data, &parts) != nil {
		return fmt.Errorf(`a key must be an array such as ["user#1", "profile"], not %s`, data)
	}
	*k = make(Key, len(parts))
	for i, part := range parts {
		v, err := keyValue(part)
		if err != nil {
			return fmt.Errorf("key value %s: %w", part, err)
		}
		(*k)[i] = v
	}
	return nil
}

func keyValue(data json.RawMessage) (attr.Value, error) {
	switch data[0] {
	case '"':
		var s string
		if err := json.Unmarshal(data, &s); err != nil {
			return attr.Value{}, err
		}
		return attr.NewString(s), nil
	case '{':
		return attr.ParseValue(data)
	}
	return attr.NewNumber(string(data))
}

// MarshalJSON implements [json.Marshaler].
func (k Key) MarshalJSON() ([]byte, error) {
	out := []byte{'['}
	for i, v := range k {
		if i > 0 {
			out = append(out, ',')
		}
		switch v.Kind() {
		case attr.String:
			text, err := json.Marshal(string(v.Raw()))
			if err != nil {
				return nil, err
			}
			out = append(out, text...)
		case attr.Number:
			out = v.AppendNumber(out)
		default:
			out = v.AppendJSON(out)
		}
	}
	return append(out, ']'), nil
}

// String returns the key as a person would write it.
func (k Key) String() string {
	out := []byte{'('}
	for i, v := range k {
		if i > 0 {
			out = append(out, ", "...)
		}
		switch v.Kind() {
		case attr.String:
			out = strconv.AppendQuote(out, string(v.Raw()))
		case attr.Number:
			out = v.AppendNumber(out)
		default:
			out = v.AppendText(out)
		}
	}
	return string(append(out, ')'))
}

// Equal reports whether two keys are the same.
func (k Key) Equal(l Key) bool {
	if len(k) != len(l) {
		return false
	}
	for i := range k {
		if !attr.Equal(k[i], l[i]) {
			return false
		}
	}
	return true
}
