package sortkey

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store"
)

// jsonTrace is the JSON form of a [Trace]. Values are in DynamoDB JSON.
type jsonTrace struct {
	// Slice describes the slice in words, for programs that only show it. The fields below have the same facts as
	// values.
	Slice      string          `json:"slice"`
	Operation  string          `json:"operation"`
	Table      string          `json:"table"`
	Index      string          `json:"index,omitempty"`
	Partition  []jsonAttribute `json:"partition,omitempty"`
	SortKey    []string        `json:"sort_key,omitempty"`
	Low        *jsonBound      `json:"low,omitempty"`
	High       *jsonBound      `json:"high,omitempty"`
	Span       *jsonSpan       `json:"span,omitempty"`
	Reverse    bool            `json:"reverse,omitempty"`
	Consistent bool            `json:"consistent,omitempty"`
	Examined   int             `json:"examined"`
	Returned   int             `json:"returned"`
	Bytes      int             `json:"bytes"`
	Fetched    int             `json:"fetched,omitempty"`
	Units      float64         `json:"units"`
	Stop       keycond.Stop    `json:"stop"`
}

type jsonBound struct {
	Sort      []jsonAttribute `json:"sort"`
	Item      []jsonAttribute `json:"item,omitempty"`
	Inclusive bool            `json:"inclusive,omitempty"`
}

type jsonAttribute struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value,omitempty"`
	// Text has the bytes of a string that is not valid UTF-8, which DynamoDB JSON cannot hold.
	Text []byte `json:"text,omitempty"`
}

type jsonSpan struct {
	First uint32        `json:"first"` // hashes of partition keys, both inclusive
	Last  uint32        `json:"last"`
	After *jsonPosition `json:"after,omitempty"`
}

type jsonPosition struct {
	Partition []byte `json:"partition"`
	Sort      []byte `json:"sort"`
}

// MarshalJSON implements [encoding/json.Marshaler]. The JSON has the slice both in words and as values in DynamoDB
// JSON.
func (t Trace) MarshalJSON() ([]byte, error) {
	j := jsonTrace{
		Slice: t.Slice(), Operation: t.Operation, Table: t.Table, Index: t.Index,
		Partition: toJSON(t.Partition), SortKey: t.SortKey,
		Low: boundJSON(t.Low), High: boundJSON(t.High), Reverse: t.Reverse, Consistent: t.Consistent,
		Examined: t.Examined, Returned: t.Returned, Bytes: t.Bytes, Fetched: t.Fetched, Units: t.Units, Stop: t.Stop,
	}
	if t.Operation == "Scan" {
		j.Span = &jsonSpan{First: t.Span.First, Last: t.Span.Last, After: (*jsonPosition)(t.Span.After)}
	}
	return json.Marshal(j)
}

// UnmarshalJSON implements [encoding/json.Unmarshaler]. It reads what [Trace.MarshalJSON] returns.
func (t *Trace) UnmarshalJSON(text []byte) error {
	var j jsonTrace
	if err := json.Unmarshal(text, &j); err != nil {
		return err
	}
	*t = Trace{
		Operation: j.Operation, Table: j.Table, Index: j.Index, SortKey: j.SortKey, Reverse: j.Reverse,
		Consistent: j.Consistent, Examined: j.Examined, Returned: j.Returned, Bytes: j.Bytes, Fetched: j.Fetched,
		Units: j.Units, Stop: j.Stop,
	}
	if j.Span != nil {
		t.Span = store.Span{First: j.Span.First, Last: j.Span.Last, After: (*store.Position)(j.Span.After)}
	}

	var err error
	if t.Partition, err = fromJSON(j.Partition); err != nil {
		return err
	}
	if t.Low, err = j.Low.bound(); err != nil {
		return err
	}
	t.High, err = j.High.bound()
	return err
}

func boundJSON(b *keycond.Bound) *jsonBound {
	if b == nil {
		return nil
	}
	return &jsonBound{Sort: toJSON(b.Sort), Item: toJSON(b.Item), Inclusive: b.Inclusive}
}

func (j *jsonBound) bound() (*keycond.Bound, error) {
	if j == nil {
		return nil, nil
	}
	sort, err := fromJSON(j.Sort)
	if err != nil {
		return nil, err
	}
	it, err := fromJSON(j.Item)
	return &keycond.Bound{Sort: sort, Item: it, Inclusive: j.Inclusive}, err
}

func toJSON(list []attr.Attribute) []jsonAttribute {
	var all []jsonAttribute
	for _, a := range list {
		j := jsonAttribute{Name: a.Name}
		if a.Value.Kind() == attr.String && !utf8.Valid(a.Value.Raw()) {
			j.Text = a.Value.Raw()
		} else {
			j.Value = a.Value.AppendJSON(nil)
		}
		all = append(all, j)
	}
	return all
}

func fromJSON(list []jsonAttribute) ([]attr.Attribute, error) {
	var all []attr.Attribute
	for _, j := range list {
		a := attr.Attribute{Name: j.Name}
		if j.Text != nil {
			a.Value = attr.MakeValue(attr.String, j.Text)
		} else {
			v, err := attr.ParseValue(j.Value)
			if err != nil {
				return nil, err
			}
			a.Value = v
		}
		all = append(all, a)
	}
	return all, nil
}
