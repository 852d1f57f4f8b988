package convert_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/convert"
)

// TestWorkbenchPatterns reads access patterns with the members of a request, and names one that
// has none.
func TestWorkbenchPatterns(t *testing.T) {
	const src = `{"ModelName": "Shop", "ModelMetadata": {"Version": "3.20"}, "DataModel": [{
 "TableName": "Shop",
 "KeyAttributes": {"PartitionKey": {"AttributeName": "PK", "AttributeType": "S"}, "SortKey": {"AttributeName": "SK", "AttributeType": "S"}},
 "TableData": [
  {"PK": {"S": "USER#1"}, "SK": {"S": "ACTIVE#2026-01-05"}},
  {"PK": {"S": "USER#1"}, "SK": {"S": "CLOSED#2026-01-06"}},
  {"PK": {"S": "USER#2"}, "SK": {"S": "ACTIVE#2026-01-07"}}],
 "AccessPatterns": [
  {"Name": "active of a user", "Description": "Newest first", "KeyConditionExpression": "PK = :p AND begins_with(SK, :s)",
   "ExpressionAttributeValues": {":p": {"S": "USER#1"}, ":s": {"S": "ACTIVE#"}}, "ScanIndexForward": false},
  {"Name": "one", "Request": {"Key": {"PK": {"S": "USER#2"}, "SK": {"S": "ACTIVE#2026-01-07"}}}},
  {"Name": "by mail", "IndexName": "ByMail", "KeyConditionExpression": "mail = :m"},
  {"Description": "everything else"}]}]}`
	m, losses, err := convert.Import(t.Context(), []convert.File{{Name: "shop.json", Data: []byte(src)}}, convert.Options{})
	require.NoError(t, err)
	var names []string
	for _, p := range m.Patterns {
		names = append(names, p.Operation+" "+p.Name)
	}
	require.Equal(t, []string{"Query active of a user", "GetItem one"}, names)
	require.Contains(t, string(m.Patterns[0].Request), `"ScanIndexForward":false`)
	text := fmt.Sprint(losses)
	require.Contains(t, text, "pattern by mail: it reads the index ByMail, which table Shop lacks")
	require.Contains(t, text, "pattern everything else: it has neither a key condition nor a key")

	// ACTIVE and CLOSED are values of one entity.
	require.Len(t, m.Entities, 1)
	require.Equal(t, "{status}#{date:date}", m.Entities[0].Attribute("SK").Template.Explicit())
}
