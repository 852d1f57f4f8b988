package load

import (
	"encoding/json"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

// A PartitionKey has the values of a partition key's attributes.
type PartitionKey []attr.Value

// PartitionKeyOf returns the partition key of a row.
func PartitionKeyOf(s *dataset.Space, r *dataset.Row) (key PartitionKey) {
	for _, a := range s.Hash {
		key = append(key, r.Item.Attributes.Get(a.Name))
	}
	return key
}

// Text returns the key as text.
func (k PartitionKey) Text() string { return model.Key(k).Text() }

// MarshalJSON returns the values in DynamoDB JSON.
func (k PartitionKey) MarshalJSON() ([]byte, error) {
	var values []json.RawMessage
	for _, v := range k {
		values = append(values, v.AppendJSON(nil))
	}
	return text.JSON(values)
}
