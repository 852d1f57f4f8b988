package modelfile_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/modelfile"
)

const lookalikes = `
name: lookalikes
tables:
  Things:
    partition: PK
    sort: SK
    indexes:
      ByPlace: {partition: GPK, sort: GSK}
entities:
  Person:
    attributes: {PK: "{person}", SK: root, GPK: "state#{state}", GSK: "{city}"}
  Building:
    attributes: {PK: "{building}", SK: root, GPK: "building#{state}", GSK: "{city}#{name}"}
  Archive:
    attributes: {PK: "a#{person}", SK: root}
`

// TestClassify checks that the index keys of an item decide between entities with the same table keys.
func TestClassify(t *testing.T) {
	m, err := modelfile.Parse("m.yaml", []byte(lookalikes))
	require.NoError(t, err)
	for _, tt := range []struct{ item, want string }{
		{`{"PK": {"S": "p1"}, "SK": {"S": "root"}, "GPK": {"S": "state#WA"}, "GSK": {"S": "Seattle"}}`, "Person"},
		{`{"PK": {"S": "b1"}, "SK": {"S": "root"}, "GPK": {"S": "building#WA"}, "GSK": {"S": "Seattle#HQ"}}`, "Building"},
		{`{"PK": {"S": "x1"}, "SK": {"S": "root"}}`, "Person"},                            // both match: the first
		{`{"PK": {"S": "x1"}, "SK": {"S": "root"}, "GPK": {"S": "other"}}`, "Person"},     // neither has this index key
		{`{"PK": {"S": "a#1"}, "SK": {"S": "root"}}`, "Archive"},                          // the most literal text
		{`{"PK": {"S": "a#1"}, "SK": {"S": "root"}, "GPK": {"S": "state#WA"}}`, "Person"}, // index key before text
		{`{"PK": {"S": "x1"}, "SK": {"S": "leaf"}}`, ""},
	} {
		it, err := attr.ParseItem([]byte(tt.item))
		require.NoError(t, err)
		got := ""
		if e := m.Classify(m.Table("Things"), it); e != nil {
			got = e.Name
		}
		if got != tt.want {
			t.Errorf("Classify(%s) = %q, want %q", tt.item, got, tt.want)
		}
	}
}
