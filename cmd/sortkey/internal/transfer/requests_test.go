package transfer_test

import (
	"os"
	"path/filepath"
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
    {"PutRequest": {"Item": {"pk": {"S": "b"}, "n": {"N": "2"}}}},
    {"DeleteRequest": {"Key": {"pk": {"S": "b"}}}}],
  "Other": [
    {"PutRequest": {"Item": {"pk": {"S": "o"}}}}]}}`

// TestImportRequests imports the writes of requests to the tables that they name: with
// requests, and into a database in this process.
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
		{"put", `{"TableName":"Rows","Item":{"pk":{"S":"a"}}}`, "", "", "Rows", ""},
		{"transaction", `{"TransactItems":[{"Put":{"TableName":"Rows","Item":{"pk":{"S":"a"}}}}]}`, "", "", "Rows", ""},
		{"an item", `{"TableName":{"S":"Rows"},"Item":{"M":{"pk":{"S":"a"}}}}`, "", "", " ", ""},
		{"items by format", requestsOfTwo, transfer.JSON, "", " ", ""},
		{"empty", `{"Rows":[]}`, transfer.Requests, "Rows", "Rows", ""},
		{"malformed", `{"Rows":{`, transfer.Requests, "", "", "seeds.json: file ends inside a request"},
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

// TestRequestsAndSchema: a definition of another table than the requests name is an error.
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

// TestWithoutManifests finds the data files of exports whose manifests were not copied.
func TestWithoutManifests(t *testing.T) {
	const line = `{"Item":{"pk":{"S":"a"}}}`
	const table = `{"TableName":"Rows","AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}]}`
	for _, tt := range []struct {
		name  string
		files map[string]string
		path  string // to import
		want  string // tables of the sources
		found int
	}{
		{"data", map[string]string{"data/x.json": line}, "data", "", 1},
		{"export", map[string]string{"data/x.json": line}, ".", "", 1},
		{"ours", map[string]string{"table.json": table, "data/x.json": line}, ".", "Rows", 1},
		{"data of ours", map[string]string{"table.json": table, "data/x.json": line}, "data", "Rows", 1},
		{"below", map[string]string{"Rows/data/x.json": line, "Rows/table.json": table}, ".", "Rows", 1},
		{"bucket", map[string]string{"p/AWSDynamoDB/01-a/data/x.json": line}, ".", "", 1},
		{"two", map[string]string{"AWSDynamoDB/01-a/data/x.json": line, "AWSDynamoDB/01-b/data/x.json": line}, ".", "", 2},
		{"files first", map[string]string{"x.json": line, "data/y.json": line}, ".", "", 1},
	} {
		root := t.TempDir()
		for name, text := range tt.files {
			path := filepath.Join(root, filepath.FromSlash(name))
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		}
		sources, err := transfer.Discover([]string{filepath.Join(root, tt.path)}, "", "")
		require.NoError(t, err, tt.name)
		require.Len(t, sources, tt.found, tt.name)
		require.Equal(t, tt.want, sources[0].Table, tt.name)
		require.Equal(t, tt.want != "", sources[0].Schema != nil, tt.name)
		require.Len(t, sources[0].Files, 1, tt.name)
	}

	for _, tt := range []struct {
		files       string // in the folder x of a bucket
		path, fault string
	}{
		{"data/x.json.gz", "x", ""},
		{"data/x.json.gz", ".", ""},
		{"data/x.json.gz.partial", "x", "is an unfinished export"},
		{"data/x.json.gz.partial", ".", "is an unfinished export"},
		{"y/data/x.json", "x", "is an unfinished export"},
	} {
		root := t.TempDir()
		path := filepath.Join(root, "x", filepath.FromSlash(tt.files))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, gzipped(t, line), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(root, "x", "_started"), nil, 0o600))
		sources, err := transfer.Discover([]string{filepath.Join(root, tt.path)}, "", "")
		if tt.fault != "" {
			require.ErrorContains(t, err, tt.fault, tt)
			continue
		}
		require.NoError(t, err, tt)
		require.Len(t, sources, 1)
		require.Contains(t, sources[0].Warning, "x has no manifest-summary.json: nothing shows that the export is complete")
		res, err := transfer.Import(t.Context(), sortkeytest.New(t).Client, sources, options(t, path))
		require.NoError(t, err)
		require.Equal(t, int64(1), res.Sum().Written)
		require.Equal(t, []string{sources[0].Warning}, res.Warnings)
	}

	started := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(started, "_started"), nil, 0o600))
	_, err := transfer.Discover([]string{started}, "", "")
	require.ErrorContains(t, err, "is an unfinished export")
	require.Equal(t, "export again, or name its folder data to import what is there", advice.Of(err))
}

// TestSkipRequests: a resumed import skips the writes to its table only.
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
