package convert_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/convert"
	"github.com/sortkey/sortkey/internal/design/modelfile"
)

// TestMask keeps nothing of the values but their shapes and lengths, what they have in
// common, and what the templates name.
func TestMask(t *testing.T) {
	const table = `{"TableName": "Shop", "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
 "AttributeDefinitions": [{"AttributeName": "PK", "AttributeType": "S"}, {"AttributeName": "SK", "AttributeType": "S"}]}`
	const items = `{"PK": {"S": "USER#ann@example.com"}, "SK": {"S": "PROFILE"}, "name": {"S": "Ann Lee"}, "card": {"M": {"no": {"S": "4111"}}}, "age": {"N": "47"}, "ok": {"BOOL": true}}
{"PK": {"S": "USER#ann@example.com"}, "SK": {"S": "ORDER#2026-01-05"}, "note": {"S": "for Ann"}}
{"PK": {"S": "USER#bob@example.com"}, "SK": {"S": "PROFILE"}, "name": {"S": "Bob"}}`
	m, losses, err := convert.Import(t.Context(), []convert.File{
		{Name: "t.json", Data: []byte(table)}, {Name: "i.json", Data: []byte(items)},
	}, convert.Options{Mask: true, Seed: "of the test"})
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, modelfile.Write(&b, m))
	for _, secret := range []string{"ann", "Ann", "bob", "example", "4111", "47", "for "} {
		require.NotContains(t, b.String(), secret)
	}
	var left []string
	for _, l := range losses {
		if strings.Contains(l.Why, "--mask") {
			left = append(left, l.What)
		}
	}
	require.Equal(t, []string{"names of members in card", "Booleans in ok"}, left)
	user, order := m.Entity("User"), m.Entity("Order")
	require.Len(t, user.Samples, 2)
	id := user.Samples[0].Values["userId"]
	require.Regexp(t, `^[a-z]{3}@[a-z]{7}\.[a-z]{3}$`, id)
	require.Equal(t, id, order.Samples[0].Values["userId"])
	require.NotEqual(t, id, user.Samples[1].Values["userId"])
	require.Equal(t, `ORDER#{orderDate:date}`, order.Attribute("SK").Template.Explicit())
}
