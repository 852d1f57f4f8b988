package wire_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/wire"
)

func describe(t *testing.T, text string) (*keyschema.Table, error) {
	t.Helper()
	var d wire.TableDescription
	require.NoError(t, json.Unmarshal([]byte(text), &d))
	return keyschema.Of(&d)
}

func TestOf(t *testing.T) {
	table, err := describe(t, `{"TableName": "T",
		"AttributeDefinitions": [
			{"AttributeName": "p", "AttributeType": "S"}, {"AttributeName": "s", "AttributeType": "N"},
			{"AttributeName": "b", "AttributeType": "B"}
		],
		"KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}, {"AttributeName": "s", "KeyType": "RANGE"}],
		"GlobalSecondaryIndexes": [{
			"IndexName": "global", "KeySchema": [{"AttributeName": "b", "KeyType": "HASH"}],
			"Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["x"]}
		}, {"IndexName": "vectors"}],
		"LocalSecondaryIndexes": [{
			"IndexName": "local", "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}, {"AttributeName": "b",
			"KeyType": "RANGE"}],
			"Projection": {"ProjectionType": "ALL"}
		}]}`)
	require.NoError(t, err)
	require.Equal(t, []string{"local", "global"}, table.IndexNames())
	require.Equal(t, table.Key, table.Schema(""))
	require.Equal(t, attr.Number, table.Schema("").Sort()[0].Kind)
	require.Nil(t, table.Schema("no"))
	require.Same(t, table.Key, table.Schema("global").Table())
	require.True(t, table.Index("local").Local)

	require.Equal(t, attr.Binary, table.Kind("b"))
	require.False(t, table.IsKey("x"))
	require.False(t, table.Index("global").Lacks("x"))
	require.False(t, table.Index("global").Lacks("p"))
	require.True(t, table.Index("global").Lacks("y"))
	require.False(t, table.Index("local").Lacks("y"))
	require.False(t, (*keyschema.Index)(nil).Lacks("y"))
}

func TestNoKey(t *testing.T) {
	for _, text := range []string{
		`{"TableName": "T"}`,
		`{"TableName": "T", "KeySchema": [{"AttributeName": "p", "KeyType": "RANGE"}]}`,
		`{"TableName": "T", "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}], "AttributeDefinitions": ` +
			`[{"AttributeName": "p", "AttributeType": "X"}]}`,
	} {
		_, err := describe(t, text)
		require.EqualError(t, err, "the description of table T has no key", text)
	}
}
