package explain

import (
	"encoding/json"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keycond"
)

type jsonBound struct {
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

type jsonShare struct {
	Entity   string `json:"entity"`
	Examined int    `json:"examined"`
	Returned int    `json:"returned"`
	Bytes    int    `json:"bytes"`
	Wasted   int    `json:"wasted"`
}

type jsonAdvice struct {
	Text      string          `json:"text"`
	Operation string          `json:"operation,omitempty"`
	Request   json.RawMessage `json:"request,omitempty"`
}

type jsonRefusal struct {
	Code    string       `json:"code"`
	Message string       `json:"message"`
	Rule    string       `json:"rule,omitempty"`
	Source  string       `json:"source,omitempty"`
	Advice  []jsonAdvice `json:"advice"`
}

type jsonReport struct {
	Operation string          `json:"operation"`
	Table     string          `json:"table"`
	Index     string          `json:"index,omitempty"`
	Request   json.RawMessage `json:"request"`
	Refused   *jsonRefusal    `json:"refused,omitempty"`
	Read      *jsonRead       `json:"read,omitempty"`
}

type jsonRead struct {
	Clauses    string            `json:"keyCondition,omitempty"`
	Filter     string            `json:"filter,omitempty"`
	Partition  *jsonBound        `json:"partition,omitempty"`
	Low        *jsonBound        `json:"low,omitempty"`
	High       *jsonBound        `json:"high,omitempty"`
	Reverse    bool              `json:"reverse"`
	Before     json.RawMessage   `json:"before,omitempty"`
	After      json.RawMessage   `json:"after,omitempty"`
	Pages      int               `json:"pages"`
	Examined   int               `json:"examined"`
	Returned   int               `json:"returned"`
	Bytes      int               `json:"bytes"`
	Fetched    int               `json:"fetched,omitempty"`
	Wasted     int               `json:"wasted"`
	Strong     float64           `json:"unitsStrong"`
	Eventual   float64           `json:"unitsEventual"`
	Consumed   float64           `json:"unitsConsumed"`
	Traced     bool              `json:"traced"`
	Stop       string            `json:"stop"`
	Last       json.RawMessage   `json:"lastEvaluatedKey,omitempty"`
	Next       json.RawMessage   `json:"next,omitempty"`
	Entities   []jsonShare       `json:"entities"`
	Rows       []jsonRow         `json:"rows"`
	Tail       []jsonRow         `json:"tail,omitempty"`
	Items      []json.RawMessage `json:"items"`
	Notes      []string          `json:"notes,omitempty"`
	BetterWays []jsonAdvice      `json:"advice,omitempty"`
}

// MarshalJSON implements [json.Marshaler]. Items and keys are in DynamoDB
// JSON, bytes in hexadecimal.
func (r *Report) MarshalJSON() ([]byte, error) {
	out := jsonReport{Operation: r.Operation, Table: r.Table, Index: r.Index, Request: r.Request}
	if f := r.Refused; f != nil {
		out.Refused = &jsonRefusal{Code: f.Code, Message: f.Message, Rule: f.Rule, Source: f.Source, Advice: jsonAdvices(f.Advice)}
		return text.JSON(out)
	}
	read := &jsonRead{
		Clauses: r.KeyCondition(), Filter: r.Filter, Reverse: r.Reverse, Before: rawItem(r.Before), After: rawItem(r.After),
		Pages: r.Pages, Examined: r.Examined, Returned: r.Returned, Bytes: r.Bytes, Fetched: r.Fetched, Wasted: r.Wasted,
		Strong: r.Strong, Eventual: r.Eventual, Consumed: r.Consumed, Traced: r.Traced, Stop: r.Stop, Last: rawItem(r.Last), Next: rawItem(r.Next),
		Entities: []jsonShare{}, Rows: jsonRows(r.Rows), Tail: jsonRows(r.Tail), Items: []json.RawMessage{}, Notes: r.Notes, BetterWays: jsonAdvices(r.Advice),
	}
	if r.Operation != opScan {
		read.Partition, read.Low, read.High = jsonBoundOf(r.Partition), jsonBoundOf(r.Low), jsonBoundOf(r.High)
	}
	for _, s := range r.Entities {
		read.Entities = append(read.Entities, jsonShare(s))
	}
	for _, it := range r.Items {
		read.Items = append(read.Items, rawItem(it))
	}
	out.Read = read
	return text.JSON(out)
}

func jsonAdvices(list []Advice) []jsonAdvice {
	out := make([]jsonAdvice, len(list))
	for i, a := range list {
		out[i] = jsonAdvice(a)
	}
	return out
}

func jsonRows(list []Row) []jsonRow {
	out := make([]jsonRow, len(list))
	for i, row := range list {
		out[i] = jsonRow{Key: rawItem(row.Key), Entity: row.Entity, Bytes: row.Bytes, Returned: row.Returned}
	}
	return out
}

func jsonBoundOf(b keycond.End) *jsonBound {
	if b.Bytes == nil {
		return nil
	}
	return &jsonBound{Text: b.Text, Hex: text.Hex(b.Bytes), Inclusive: b.Inclusive}
}

func rawItem(it attr.Item) json.RawMessage {
	if it == nil {
		return nil
	}
	return it.AppendJSON(nil)
}
