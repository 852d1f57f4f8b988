package explain

import (
	"encoding/json"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/text"
)

type jsonEnd struct {
	Text      string `json:"text,omitempty"`
	Hex       string `json:"hex,omitempty"`
	Inclusive bool   `json:"inclusive"`
}

type jsonRow struct {
	Key      json.RawMessage `json:"key"`
	Entity   string          `json:"entity,omitempty"`
	Bytes    int             `json:"bytes"`
	Returned bool            `json:"returned"`
}

type jsonReport struct {
	Operation string          `json:"operation"`
	Table     string          `json:"table"`
	Index     string          `json:"index,omitempty"`
	Request   json.RawMessage `json:"request"`
	Refused   *Refusal        `json:"refused,omitempty"`
	Read      *jsonRead       `json:"read,omitempty"`
	Hints     []string        `json:"hints,omitempty"`
}

type jsonRead struct {
	Clauses   string            `json:"keyCondition,omitempty"`
	Filter    string            `json:"filter,omitempty"`
	Partition *jsonEnd          `json:"partition,omitempty"`
	Low       *jsonEnd          `json:"low,omitempty"`
	High      *jsonEnd          `json:"high,omitempty"`
	Reverse   bool              `json:"reverse"`
	Before    json.RawMessage   `json:"before,omitempty"`
	After     json.RawMessage   `json:"after,omitempty"`
	Pages     int               `json:"pages"`
	Examined  int               `json:"examined"`
	Returned  int               `json:"returned"`
	Bytes     int               `json:"bytes"`
	Fetched   int               `json:"fetched,omitempty"`
	Wasted    int               `json:"wasted"`
	Strong    float64           `json:"unitsStrong"`
	Eventual  float64           `json:"unitsEventual"`
	Consumed  float64           `json:"unitsConsumed"`
	Traced    bool              `json:"traced"`
	Stop      string            `json:"stop"`
	Last      json.RawMessage   `json:"lastEvaluatedKey,omitempty"`
	Next      json.RawMessage   `json:"next,omitempty"`
	Entities  []Share           `json:"entities"`
	Rows      []jsonRow         `json:"rows"`
	Tail      []jsonRow         `json:"tail,omitempty"`
	Items     []json.RawMessage `json:"items"`
	Notes     []string          `json:"notes,omitempty"`
}

// MarshalJSON implements [json.Marshaler]. It writes items and keys in DynamoDB JSON, and bytes in hexadecimal.
func (r *Report) MarshalJSON() ([]byte, error) {
	out := jsonReport{
		Operation: r.Operation, Table: r.Table, Index: r.Index, Request: r.Request, Refused: r.Refused, Hints: r.Hints,
	}
	if r.Refused != nil {
		return text.JSON(out)
	}

	read := &jsonRead{
		Clauses: r.KeyCondition(), Filter: r.Filter, Reverse: r.Reverse, Before: rawItem(r.Before),
		After: rawItem(r.After),
		Pages: r.Pages, Examined: r.Examined, Returned: r.Returned, Bytes: r.Bytes, Fetched: r.Fetched,
		Wasted: r.Wasted,
		Strong: r.Strong, Eventual: r.Eventual, Consumed: r.Consumed, Traced: r.Traced, Stop: r.Stop,
		Last: rawItem(r.Last), Next: rawItem(r.Next),
		Entities: append([]Share{}, r.Entities...), Rows: jsonRows(r.Rows), Tail: jsonRows(r.Tail),
		Items: []json.RawMessage{}, Notes: r.Notes,
	}
	if r.Operation != opScan {
		read.Partition, read.Low, read.High = jsonEndOf(r.Partition), jsonEndOf(r.Low), jsonEndOf(r.High)
	}

	for _, it := range r.Items {
		read.Items = append(read.Items, rawItem(it))
	}
	out.Read = read
	return text.JSON(out)
}

func jsonRows(list []Row) []jsonRow {
	out := make([]jsonRow, len(list))
	for i, row := range list {
		out[i] = jsonRow{Key: rawItem(row.Key), Entity: row.Entity, Bytes: row.Bytes, Returned: row.Returned}
	}
	return out
}

func jsonEndOf(b End) *jsonEnd {
	if b.Bytes == nil {
		return nil
	}
	return &jsonEnd{Text: b.Text, Hex: text.Hex(b.Bytes), Inclusive: b.Inclusive}
}

func rawItem(it attr.Item) json.RawMessage {
	if it == nil {
		return nil
	}
	return it.AppendJSON(nil)
}
