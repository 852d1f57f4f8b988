package transfer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/tabledef"
	"github.com/sortkey/sortkey/internal/item"
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

// String returns the key in the syntax of [ParseKey].
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

// ParseKey reads a key such as "pk:S,sk:N" of one or two attributes. The default
// type is S. The table has no indexes and is billed per request.
func ParseKey(text string) (*tabledef.Schema, error) {
	const syntax = "write NAME:TYPE, or two of them separated by a comma, such as pk:S,sk:N"
	s := &tabledef.Schema{BillingMode: types.BillingModePayPerRequest}
	parts := strings.Split(text, ",")
	if len(parts) > 2 {
		return nil, advice.New(syntax, "a key has one or two attributes, not %d", len(parts))
	}

	for i, part := range parts {
		name, kind := strings.TrimSpace(part), "S"
		if j := strings.LastIndexByte(name, ':'); j >= 0 {
			name, kind = name[:j], name[j+1:]
		}
		if name == "" || kind != "S" && kind != "N" && kind != "B" {
			return nil, advice.New(syntax, "%q is not a key attribute of type S, N or B", part)
		}

		role := types.KeyTypeHash
		if i == 1 {
			role = types.KeyTypeRange
			if name == aws.ToString(s.KeySchema[0].AttributeName) {
				return nil, advice.New(syntax, "duplicate key attribute %s", name)
			}
		}

		s.KeySchema = append(s.KeySchema, types.KeySchemaElement{AttributeName: &name, KeyType: role})
		s.AttributeDefinitions = append(
			s.AttributeDefinitions,
			types.AttributeDefinition{AttributeName: &name, AttributeType: types.ScalarAttributeType(kind)},
		)
	}
	return s, nil
}
