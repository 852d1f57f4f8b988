package transfer

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/files"
	"github.com/sortkey/sortkey/internal/design/tabledef"
	"github.com/sortkey/sortkey/internal/item"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
)

// keys are the key attributes of a table.
type keys []keycond.Attribute

func keysOf(s *tabledef.Schema) keys { return KeyOf(s, s.KeySchema).Attributes() }

// KeyOf returns the schema of a key whose attributes are in list. List is the key schema of the table that s defines,
// or of one of its indexes.
func KeyOf(s *tabledef.Schema, list []types.KeySchemaElement) *keycond.Schema {
	kinds := s.KeyTypes()
	var partition, sort []keycond.Attribute
	for _, e := range list {
		a := keycond.Attribute{Name: aws.ToString(e.AttributeName)}
		a.Kind, _ = attr.ParseKind(kinds[a.Name])
		if e.KeyType == types.KeyTypeHash {
			partition = append(partition, a)
		} else {
			sort = append(sort, a)
		}
	}
	return keycond.NewSchema(partition, sort)
}

// appendKey appends an encoding of the key of an item. Two items have the same encoding only if they have the same
// key.
func (k keys) appendKey(dst []byte, it attr.Item) ([]byte, error) {
	for _, a := range k {
		v := it.Get(a.Name)
		switch {
		case v.IsZero():
			return dst, rejectf("key attribute %s is missing", a.Name)
		case v.Kind() != a.Kind:
			return dst, rejectf("key attribute %s has type %s, want %s", a.Name, v.Kind(), a.Kind)
		default:
			dst = item.AppendKey(dst, v)
		}
	}
	return dst, nil
}

// ReadSchema reads the definition of a table from a file.
func ReadSchema(path string) (*tabledef.Schema, error) {
	data, err := files.Read(path, maxSchema)
	if err != nil {
		return nil, err
	}
	s, err := tabledef.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// ParseKey returns the definition of a table from its key, such as "customer / placed:N" ([keyschema.Define] has the
// syntax). The table has no indexes and is billed per request.
func ParseKey(text string) (*tabledef.Schema, error) {
	in := &wire.CreateTableInput{BillingMode: new("PAY_PER_REQUEST")}
	err := keyschema.Define(in, text, nil)
	if n := len(in.KeySchema); err == nil && (n > 2 || *in.KeySchema[n-1].KeyType != []string{"HASH", "RANGE"}[n-1]) {
		err = fmt.Errorf("%q is not one attribute and, after a slash, perhaps another", text)
	}
	if err != nil {
		return nil, &advice.Error{Msg: err.Error(), Err: err, Advice: "write it as in --key 'customer / placed:N'"}
	}
	return tabledef.Parse(wire.AppendJSON(nil, in))
}
