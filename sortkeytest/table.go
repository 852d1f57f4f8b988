package sortkeytest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Table creates a table with on-demand billing. The key names the partition key
// and, after a slash, the sort key: "customer / order". An attribute is a
// string unless a type follows its name: "sensor / second:N". Use
// [DB.CreateTable] for everything else.
func (db *DB) Table(name, key string, indexes ...Index) {
	defer resume()
	db.t.Helper()
	in := &dynamodb.CreateTableInput{TableName: &name}
	for i, ix := range append([]Index{{key: key}}, indexes...) {
		if ix.local {
			partition, _, _ := strings.Cut(key, "/")
			ix.key = partition + "/" + ix.key
		}
		schema, err := parseKey(in, ix.key)
		switch {
		case err != nil:
			db.t.Fatalf("sortkeytest: table %s: %v", name, db.reason(err))
		case i == 0:
			in.KeySchema = schema
		case ix.local:
			in.LocalSecondaryIndexes = append(in.LocalSecondaryIndexes, types.LocalSecondaryIndex{
				IndexName: &ix.name, KeySchema: schema, Projection: ix.projection(),
			})
		default:
			in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
				IndexName: &ix.name, KeySchema: schema, Projection: ix.projection(),
			})
		}
	}
	db.CreateTable(in)
}

// CreateTable creates a table, which is ready for use when it returns, whatever the
// TableDelay in the options. Billing is on demand unless the input has a mode or a
// throughput.
func (db *DB) CreateTable(in *dynamodb.CreateTableInput) {
	defer resume()
	db.t.Helper()
	own := *in
	if own.BillingMode == "" && own.ProvisionedThroughput == nil {
		own.BillingMode = types.BillingModePayPerRequest
	}
	if _, err := db.Client.CreateTable(quiet, &own); err != nil {
		db.t.Fatalf("sortkeytest: table %s: %s", aws.ToString(in.TableName), db.reason(err))
	}
}

// An Index is a secondary index of [DB.Table]. It projects all attributes
// unless [Index.Only] is used.
type Index struct {
	name, key string
	local     bool
	only      []string
}

// Global returns a global secondary index. Its key is written as in [DB.Table], with
// commas where it has several attributes: "country, state / city, street".
func Global(name, key string) Index { return Index{name: name, key: key} }

// Local returns a local secondary index. The key is its sort key only.
func Local(name, sort string) Index { return Index{name: name, key: sort, local: true} }

// Only returns an index that projects only the keys and these attributes.
func (ix Index) Only(attributes ...string) Index {
	ix.only = append([]string{}, attributes...)
	return ix
}

func (ix Index) projection() *types.Projection {
	switch {
	case ix.only == nil:
		return &types.Projection{ProjectionType: types.ProjectionTypeAll}
	case len(ix.only) == 0:
		return &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly}
	}
	return &types.Projection{ProjectionType: types.ProjectionTypeInclude, NonKeyAttributes: ix.only}
}

// parseKey parses a key and adds its attributes to the table's definitions.
func parseKey(in *dynamodb.CreateTableInput, key string) (schema []types.KeySchemaElement, err error) {
	role := types.KeyTypeHash
	for i, part := range strings.Split(key, "/") {
		if i > 0 {
			role = types.KeyTypeRange
		}
		for text := range strings.SplitSeq(part, ",") {
			name, kind, typed := strings.Cut(strings.TrimSpace(text), ":")
			a := types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: types.ScalarAttributeTypeS}
			if typed {
				a.AttributeType = types.ScalarAttributeType(kind)
			}
			if name == "" || i > 1 || !slices.Contains(a.AttributeType.Values(), a.AttributeType) {
				return nil, fmt.Errorf("%q is not a key such as \"customer / order\" or \"sensor / second:N\"", key)
			}
			schema = append(schema, types.KeySchemaElement{AttributeName: a.AttributeName, KeyType: role})
			known := slices.IndexFunc(in.AttributeDefinitions, func(d types.AttributeDefinition) bool { return *d.AttributeName == name })
			switch {
			case known < 0:
				in.AttributeDefinitions = append(in.AttributeDefinitions, a)
			case typed:
				in.AttributeDefinitions[known] = a
			}
		}
	}
	return schema, nil
}
