package transfer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/tabledef"
	"github.com/sortkey/sortkey/internal/item"
	"github.com/sortkey/sortkey/keycond"
)

// keys are the key attributes of a table.
type keys struct {
	names []string
	kinds []attr.Kind
}

func keysOf(s *tabledef.Schema) *keys {
	k := &keys{}
	all := s.KeyTypes()
	for _, role := range []types.KeyType{types.KeyTypeHash, types.KeyTypeRange} {
		for _, e := range s.KeySchema {
			if e.KeyType == role {
				name := aws.ToString(e.AttributeName)
				kind, _ := attr.ParseKind(all[name])
				k.names, k.kinds = append(k.names, name), append(k.kinds, kind)
			}
		}
	}
	return k
}

// appendKey appends the key of an item. Equal keys have equal bytes.
func (k *keys) appendKey(dst []byte, it attr.Item) ([]byte, error) {
	for i, name := range k.names {
		v := it.Get(name)
		switch {
		case v.IsZero():
			return dst, rejectf("key attribute %s is missing", name)
		case v.Kind() != k.kinds[i]:
			return dst, rejectf("key attribute %s has type %s, want %s", name, v.Kind(), k.kinds[i])
		default:
			dst = item.AppendKey(dst, v)
		}
	}
	return dst, nil
}

// equal reports whether two tables have the same key.
func (k *keys) equal(o *keys) bool {
	return slices.Equal(k.names, o.names) && slices.Equal(k.kinds, o.kinds)
}

// String returns the key as [ParseKey] reads it.
func (k *keys) String() string {
	text := ""
	for i, name := range k.names {
		if i > 0 {
			text += ","
		}
		text += name + ":" + k.kinds[i].String()
	}
	return text
}

// ReadSchema reads the schema in a file.
func ReadSchema(path string) (*tabledef.Schema, error) {
	data, err := readBounded(path, maxSchema)
	if err != nil {
		return nil, err
	}
	s, err := tabledef.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// ParseKey reads a key of one or two attributes as [keycond.ParseKey] does, such as "customer / placed:N"; a comma may
// stand in place of the slash. The table has no indexes and is billed per request.
func ParseKey(text string) (*tabledef.Schema, error) {
	if !strings.Contains(text, "/") {
		text = strings.Replace(text, ",", "/", 1)
	}
	partition, sort, err := keycond.ParseKey(text)
	if err == nil && (len(partition) > 1 || len(sort) > 1) {
		err = fmt.Errorf("%q has more than two attributes", text)
	}
	if err != nil {
		return nil, &advice.Error{Msg: err.Error(), Err: err, Advice: "write it as in --key 'customer / placed:N'"}
	}

	s := &tabledef.Schema{BillingMode: types.BillingModePayPerRequest}
	for i, a := range append(partition, sort...) {
		kind := types.ScalarAttributeType(cmp.Or(a.Kind, attr.String).String())
		s.KeySchema = append(s.KeySchema, types.KeySchemaElement{
			AttributeName: &a.Name, KeyType: []types.KeyType{types.KeyTypeHash, types.KeyTypeRange}[i],
		})
		s.AttributeDefinitions = append(
			s.AttributeDefinitions, types.AttributeDefinition{AttributeName: &a.Name, AttributeType: kind},
		)
	}
	return s, nil
}
