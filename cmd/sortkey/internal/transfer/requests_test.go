package transfer_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/transfer"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/sortkeytest"
)

const requestsOfTwo = `{"RequestItems": {
  "Rows": [
    {"PutRequest": {"Item": {"pk": {"S": "a"}, "n": {"N": "1"}}}},
    {"PutRequest": {"Item": {"pk": {"S": "b"}, "n": {"N": "2"}}, "ConditionExpression": null}},
    {"DeleteRequest": {"Key": {"pk": {"S": "b"}}}}],
  "Other": [
    {"PutRequest": {"Item": {"pk": {"S": "o"}}}}]}}`

// TestImportRequests imports the writes in files of requests into the tables that they name, with requests and
// directly into a database.
func TestImportRequests(t *testing.T) {
	for _, inside := range []bool{false, true} {
		db := sortkeytest.New(t)
		path := write(t, "seeds.json", requestsOfTwo)
		sources, err := transfer.Discover([]string{path}, "", "")
		require.NoError(t, err)
		o := options(t, path)
		if o.Table = ""; inside {
			o.DB = db.DB
		}

		res, err := transfer.Import(t.Context(), db.Client, sources, o)
		require.NoError(t, err)
		require.Equal(t, []transfer.TableResult{
			{Table: "Rows", Created: true, Read: 3, Written: 2, Deleted: 1},
			{Table: "Other", Created: true, Read: 1, Written: 1},
		}, res.Tables)
		require.Equal(t, `{"n":{"N":"1"}}`, string(get(t, db.Client, "a").AppendJSON(nil)))
		require.Zero(t, get(t, db.Client, "b").Len())
	}
}

// TestRequestsOfTable selects the writes to one table.
func TestRequestsOfTable(t *testing.T) {
	bare := `[{"PutRequest":{"Item":{"pk":{"S":"a"}}}}]`
	for _, tt := range []struct {
		name, text    string
		format        transfer.Format
		table         string
		want, refused string // tables, or the error
	}{
		{"all", requestsOfTwo, "", "", "Rows Other", ""},
		{"one", requestsOfTwo, "", "Other", "Other", ""},
		{"another", requestsOfTwo, "", "Third", "", "seeds.json: the requests write to Rows and Other, not to Third"},
		{"no name", bare, "", "Third", "Third", ""},
		{"neither", bare, "", "", " ", ""},
		{"some without a name", "[" + `{"Rows":` + bare + "}," + bare[1:], "", "", "Rows", ""},
		{"byte-order mark", "\ufeff" + requestsOfTwo, "", "", "Rows Other", ""},
		{"put", `{"ConditionExpression":null,"TableName":"Rows","Item":{"pk":{"S":"a"}}}`, "", "", "Rows", ""},
		{"transaction", `{"TransactItems":[{"Put":{"TableName":"Rows","Item":{"pk":{"S":"a"}}}}]}`, "", "", "Rows", ""},
		{"an item", `{"TableName":{"S":"Rows"},"Item":{"M":{"pk":{"S":"a"}}}}`, "", "", " ", ""},
		{"items by format", requestsOfTwo, transfer.JSON, "", " ", ""},
		{"empty", `{"Rows":[]}`, transfer.Requests, "Rows", "Rows", ""},
		{"malformed", `{"Rows":{`, transfer.Requests, "", "", "seeds.json: file ends inside a JSON value"},
	} {
		sources, err := transfer.Discover([]string{write(t, "seeds.json", tt.text)}, tt.format, tt.table)
		if tt.refused != "" {
			require.ErrorContains(t, err, tt.refused, tt.name)
			continue
		}
		require.NoError(t, err, tt.name)
		var tables []string
		for _, s := range sources {
			tables = append(tables, s.Table)
		}
		require.Equal(t, strings.TrimSpace(tt.want), strings.Join(tables, " "), tt.name)
	}
}

// TestRequestsAndSchema: it is an error if the definition is of another table than the requests name.
func TestRequestsAndSchema(t *testing.T) {
	db := sortkeytest.New(t)
	path := write(t, "seeds.json", requestsOfTwo)
	sources, err := transfer.Discover([]string{path}, "", "")
	require.NoError(t, err)
	o := options(t, path)
	o.Table, o.Schema.TableName = "", "Rows"
	_, err = transfer.Import(t.Context(), db.Client, sources, o)
	require.ErrorContains(t, err, "the requests write to Other, not to Rows; the definition is of table Rows")
	require.Equal(t, "import the writes to one table with --table", advice.Of(err))
}

// TestSkipRequests: a resumed import of a table skips only writes to that table.
func TestSkipRequests(t *testing.T) {
	text := `{"Other":[{"PutRequest":{"Item":{"pk":{"S":"x"}}}}],"Rows":[{"PutRequest":{"Item":{"pk":{"S":"a"}}}},
		7, {"PutRequest":{"Item":{"pk":{"S":"c"}}}}]}`
	r, err := transfer.NewReader(strings.NewReader(text), "", transfer.ReadOptions{Table: "Rows"})
	require.NoError(t, err)
	require.NoError(t, r.Skip(2))
	rec, err := r.Next()
	require.NoError(t, err)
	require.Equal(t, "c", string(rec.Item.Get("pk").Raw()))
	require.Equal(t, int64(3), r.Count())

	r, err = transfer.NewReader(strings.NewReader(text), "", transfer.ReadOptions{Table: "Third"})
	require.NoError(t, err)
	_, err = r.Next()
	require.ErrorContains(t, err, "the requests write to Rows, not to Third")
}
