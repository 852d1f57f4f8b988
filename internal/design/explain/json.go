package explain

import (
	"encoding/json"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/keycond"
)

// asText writes items and keys in DynamoDB JSON, and key conditions as one expression.
var asText = jsonv2.JoinMarshalers(
	jsonv2.MarshalToFunc(func(enc *jsontext.Encoder, it attr.Item) error {
		return enc.WriteValue(it.AppendJSON(nil))
	}),
	jsonv2.MarshalToFunc(func(enc *jsontext.Encoder, clauses []keycond.Clause) error {
		return enc.WriteToken(jsontext.String(clausesText(clauses)))
	}),
)

// MarshalJSON implements [json.Marshaler].
func (r *Report) MarshalJSON() ([]byte, error) {
	type read Report // without the method MarshalJSON
	out := struct {
		Operation string          `json:"operation"`
		Table     string          `json:"table"`
		Index     string          `json:"index,omitempty"`
		Request   json.RawMessage `json:"request"`
		Refused   *Refusal        `json:"refused,omitempty"`
		Read      *read           `json:"read,omitempty"`
		Hints     []string        `json:"hints,omitempty"`
	}{r.Operation, r.Table, r.Index, r.Request, r.Refused, nil, r.Hints}
	if r.Refused == nil {
		out.Read = (*read)(r)
	}
	asWritten := jsonv2.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) // in Request
	return jsonv2.Marshal(out, jsonv2.WithMarshalers(asText), asWritten)
}
