package convert_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/convert"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/modelfile"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files again")

// imports are the designs in testdata with their files.
var imports = []struct {
	name  string
	files []string
	o     convert.Options
}{
	{"workbench", []string{"workbench.json"}, convert.Options{}},
	{"workbench-old", []string{"workbench-old.json"}, convert.Options{}},
	{"workbench-mixed", []string{"workbench-mixed.json"}, convert.Options{}},
	{"onetable", []string{"onetable.json"}, convert.Options{Table: "Accounts"}},
	{"electrodb", []string{"electrodb.json"}, convert.Options{}},
	{"tables", []string{"items.json", "tables.json"}, convert.Options{}},
	{"scan", []string{"kinds-table.json", "kinds-scan.json"}, convert.Options{}},
}

func inputFiles(t testing.TB, names []string) (list []convert.File) {
	t.Helper()
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		require.NoError(t, err)
		list = append(list, convert.File{Name: name, Data: data})
	}
	return list
}

// A rejection is a [convert.Rejected] error for tests.
type rejection struct{ error }

func (rejection) Rejected() {}

// TestRejected checks that an import counts the records of a stream that are not items, and that another error ends
// the import.
func TestRejected(t *testing.T) {
	it, err := attr.ParseItem([]byte(`{"PK": {"S": "C#1"}, "SK": {"S": "O#1"}}`))
	require.NoError(t, err)
	table := inputFiles(t, []string{"tables.json"})
	importOf := func(errs ...error) ([]convert.Loss, error) {
		items := func(yield func(attr.Item, error) bool) {
			for _, err := range append(errs, nil) {
				if !yield(it, err) {
					return
				}
			}
		}
		_, losses, err := convert.Import(t.Context(), append(table, convert.File{
			Name: "a", Streams: []convert.Stream{{Items: items}},
		}), convert.Options{})
		return losses, err
	}
	losses, err := importOf(rejection{errors.New("too large")}, rejection{errors.New("not an item")})
	require.NoError(t, err)
	require.Contains(t, losses, convert.Loss{What: "2 records", Why: "rejected, the first because: too large"})
	_, err = importOf(io.ErrUnexpectedEOF)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

// TestImport compares models and losses with golden files, and runs the patterns.
func TestImport(t *testing.T) {
	for _, tt := range imports {
		t.Run(tt.name, func(t *testing.T) {
			m, losses, err := convert.Import(t.Context(), inputFiles(t, tt.files), tt.o)
			require.NoError(t, err)
			var b bytes.Buffer
			require.NoError(t, modelfile.Write(&b, m))
			text := b.String()
			again, err := modelfile.Parse("again.yaml", b.Bytes())
			require.NoError(t, err)
			w, err := dataset.Build(t.Context(), again, dataset.Options{})
			require.NoError(t, err)
			defer w.Close()
			r, err := check.Run(t.Context(), w, check.Options{})
			require.NoError(t, err)
			require.NotEmpty(t, r.Patterns)
			for _, p := range r.Patterns {
				if !p.OK() {
					t.Errorf("pattern %s: %v", p.Pattern.Name, p.Failures)
				}
			}
			if len(losses) > 0 {
				b.WriteString("\n# Losses.\n")
			}
			for _, l := range losses {
				fmt.Fprintf(&b, "# %s\n", strings.ReplaceAll(l.String(), "\n", " "))
				if l.Hint != "" {
					fmt.Fprintf(&b, "#   hint: %s\n", l.Hint)
				}
			}
			golden(t, filepath.Join("testdata", "golden", tt.name+".yaml"), b.Bytes())
			if strings.Contains(text, "\t") {
				t.Error("the model has a tab")
			}
		})
	}
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *rewrite {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, got, 0o666))
		return
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}

// TestItems checks that every item of a Workbench model is in the dataset unchanged, as a sample or as a raw item.
func TestItems(t *testing.T) {
	m, _, err := convert.Import(t.Context(), inputFiles(t, []string{"workbench.json"}), convert.Options{})
	require.NoError(t, err)
	w, err := dataset.Build(t.Context(), m, dataset.Options{})
	require.NoError(t, err)
	defer w.Close()
	byTable := map[string]int{}
	for _, it := range w.Items {
		byTable[it.Table.Name]++
	}
	require.Equal(t, map[string]int{"Hotels": 14, "Audit": 4}, byTable)
	for _, want := range []string{
		`{"PK":{"S":"HOTEL#H-100"},"SK":{"S":"PROFILE"},"name":{"S":"Seaside Inn"},"stars":{"S":"4"},
		  "address":{"M":{"street":{"S":"Harbour Road 1"},"city":{"S":"Galway"},"geo":{"M":{"lat":{"N":"53.27"},"lng":{"N":"-9.05"}}}}},
		  "amenities":{"L":[{"S":"wifi"},{"S":"pool"},{"S":"parking"}]}}`,
		`{"PK":{"S":"HOTEL#H-100"},"SK":{"S":"BOOKING#2026-01-09#012"},"guest":{"S":"bob@example.com"},"status":{"S":"PAID"},
		  "total":{"N":"80"},"nights":{"S":"1"},"GSI1PK":{"S":"GUEST#bob@example.com"},"GSI1SK":{"S":"2026-01-09"}}`,
		`{"PK":{"S":"CONFIG"},"SK":{"S":"VERSION"},"version":{"N":"3"}}`,
		`{"actor":{"S":"bob@example.com"},"at":{"N":"1767609999"},"action":{"S":"LOGIN"},"note":{"NULL":true}}`,
	} {
		it, err := attr.ParseItem([]byte(want))
		require.NoError(t, err)
		found := false
		for _, have := range w.Items {
			found = found || have.Attributes.Equal(it)
		}
		if !found {
			t.Errorf("no item is %s", want)
		}
	}
}

func TestOptions(t *testing.T) {
	list := inputFiles(t, []string{"tables.json", "items.json"})
	m, losses, err := convert.Import(t.Context(), list, convert.Options{Items: 2})
	require.NoError(t, err)
	require.Len(t, m.Entities, 1)
	require.Len(t, m.Entities[0].Samples, 1)
	require.Equal(t, 1, m.Entities[0].Count)
	require.Contains(t, fmt.Sprint(losses), "2 items of table Drive: they fit no entity")
	m, _, err = convert.Import(t.Context(), list, convert.Options{Items: -1})
	require.NoError(t, err)
	require.Empty(t, m.Entities)
	require.Empty(t, m.Items)
	require.Equal(t, "drive", m.Name)
}

func TestDetect(t *testing.T) {
	for _, tt := range []struct {
		text string
		want convert.Format
	}{
		{`{"ModelName":"x","DataModel":[]}`, convert.Workbench},
		{`[{"ModelName":"x","DataModel":[]}]`, convert.Workbench},
		{`{"format":"onetable:1.1.0"}`, convert.OneTable},
		{`{"indexes":{},"models":{}}`, convert.OneTable},
		{`{"model":{"entity":"a"},"attributes":{},"indexes":{}}`, convert.ElectroDB},
		{`[{"model":{},"attributes":{},"indexes":{}}]`, convert.ElectroDB},
		{`{"task":{"schema":{"model":{},"attributes":{},"indexes":{}}}}`, convert.ElectroDB},
		{`{"TableName":"a","KeySchema":[]}`, convert.Tables},
		{`{"Table":{"KeySchema":[]}}`, convert.Tables},
		{`{"TableDescription":{"KeySchema":[]}}`, convert.Tables},
		{`[{"TableName":"a","KeySchema":[]}]`, convert.Tables},
		{`{"Tables":[]}`, convert.Tables},
		{`{"Items":[],"Count":0}`, convert.Items},
		{`{"Item":{"a":{"S":"b"}}}` + "\n" + `{"Item":{"a":{"S":"c"}}}`, convert.Items},
		{`{"a":{"S":"b"}}`, convert.Items},
		{`{"T":[{"PutRequest":{"Item":{}}}]}`, ""},
		{`{}`, ""},
		{`[]`, ""},
		{`3`, ""},
		{`{"a":1}`, ""},
	} {
		if got, err := convert.Detect([]byte(tt.text)); got != tt.want || err != nil {
			t.Errorf("Detect(%s) = %q, %v, want %q", tt.text, got, err, tt.want)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct{ name, text, msg, hint string }{
		{"nothing", ``, "the file is empty", "JSON"},
		{"no design", `{"a":1}`, "a.json: unknown kind of design", "NoSQL Workbench"},
		{"javascript", "export default {\n}", "a.json:1:1: not JSON", "import what it prints"},
		{"cut", `{"DataModel": [`, "a.json:1:16: not JSON: unexpected EOF", ""},
		{"second line", "{\n  \"a\": }", "a.json:2:8: not JSON", ""},
		{"UTF-16", "\xff\xfe{\x00", "UTF-16", "UTF-8"},
		{"no tables", `{"DataModel": []}`, "the design has no usable table", ""},
		{"bad table", `{"TableName":"abc","KeySchema":[]}`, "the schema has no KeySchema", "CreateTable"},
		{"no keys", `{"format": "onetable:1.1.0", "indexes": {}, "models": {}}`, "the design has no usable table", "no partition key"},
		{
			"short name", `{"DataModel": [{"TableName": "m", "KeyAttributes": {"PartitionKey": {"AttributeName": "id", "AttributeType": "S"}}}]}`,
			"the design has no usable table", "table m: ",
		},
		{"no item of type B", `{"Resources":{"B":{"Type":"AWS::S3::Bucket"}}}`, "a.json: unknown kind of design", ""},
		{"items alone", `{"Items":[{"a":{"S":"b"}}]}`, "the items have no table definition", "describe-table"},
		{"deep", strings.Repeat("[", 200), "nests", ""},
		{"not UTF-8", "{\"a\":\"\xff\"}", "a.json:1:7: not JSON", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := convert.Import(t.Context(), []convert.File{{Name: "a.json", Data: []byte(tt.text)}}, convert.Options{})
			e, ok := errors.AsType[*convert.Error](err)
			require.True(t, ok, "%v", err)
			require.Contains(t, e.Error(), tt.msg)
			require.Contains(t, e.Hint, tt.hint)
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := convert.Import(ctx, inputFiles(t, []string{"tables.json"}), convert.Options{})
	require.ErrorIs(t, err, context.Canceled)
}

// TestLosses tests the loss for each of several single mistakes.
func TestLosses(t *testing.T) {
	const table = `{"TableName":"abc","AttributeDefinitions":[{"AttributeName":"k","AttributeType":"S"},{"AttributeName":"g","AttributeType":"N"}],"KeySchema":[{"AttributeName":"k","KeyType":"HASH"}],
		"GlobalSecondaryIndexes":[{"IndexName":"byG","KeySchema":[{"AttributeName":"g","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}]}`
	for _, tt := range []struct{ name, items, loss string }{
		{"no key", `{"x":{"S":"1"}}`, "an item: no table has its keys"},
		{"empty key", `{"k":{"S":""}}`, "an item of table abc: One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: k"},
		{"long key", `{"k":{"S":"` + strings.Repeat("x", 2049) + `"}}`, "Size of hashkey has exceeded the maximum size limit of2048 bytes"},
		{"index key of another type", `{"k":{"S":"1"},"g":{"S":"x"}}`, "an item of table abc: it has type S, but the key g has type N"},
		{"number", `{"k":{"S":"1"},"x":{"N":"one"}}`, "the attribute x of an item: "},
		{"binary", `{"k":{"S":"1"},"x":{"B":"%"}}`, "the attribute x of an item: Base64 encoded length"},
		{"set", `{"k":{"S":"1"},"x":{"SS":["a","a"]}}`, "the attribute x of an item: "},
		{"nesting", `{"k":{"S":"1"},"x":` + strings.Repeat(`{"L":[`, 40) + strings.Repeat(`]}`, 40) + `}`, "the attribute x of an item: values can nest at most 32 deep"},
		{"large", `{"k":{"S":"1"},"x":{"S":"` + strings.Repeat("x", 400<<10) + `"}}`, "and the limit is 409600"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			list := []convert.File{{Name: "t", Data: []byte(table)}, {Name: "i", Data: []byte(tt.items)}}
			m, losses, err := convert.Import(t.Context(), list, convert.Options{})
			require.NoError(t, err)
			require.NotNil(t, m)
			require.Contains(t, fmt.Sprint(losses), tt.loss)
			require.Contains(t, losses[0].Pos.String(), "i:1:")
		})
	}
	// Numbers stored as S become keys of type N.
	list := []convert.File{{Name: "t", Data: []byte(table)}, {Name: "i", Data: []byte(`{"k":{"S":"1"},"g":{"S":"7.0"}}`)}}
	m, losses, err := convert.Import(t.Context(), list, convert.Options{})
	require.NoError(t, err)
	require.Empty(t, losses)
	require.NotNil(t, m.Pattern("abc by g in byG"))
}

// TestLossOrder holds that the losses of a file are together, in the order of its lines.
func TestLossOrder(t *testing.T) {
	files := []convert.File{{Name: "table.json", Data: []byte(`{"TableName": "Tab", "KeySchema": [
		{"AttributeName": "PK", "KeyType": "HASH"}], "AttributeDefinitions": [{"AttributeName": "PK", "AttributeType": "S"}]}`)}}
	for _, name := range []string{"b.json", "a.json", "c.json"} {
		files = append(files, convert.File{Name: name, Data: []byte(`{"Items": [1,{"PK": {"S": "x"}, "n": {"N": "x"}},` + "\n2,\n3]}")})
	}
	_, losses, err := convert.Import(t.Context(), files, convert.Options{})
	require.NoError(t, err)
	var order []string
	for _, l := range losses {
		if l.Pos.File != "" {
			order = append(order, l.Pos.String())
		}
	}
	require.Equal(t, []string{
		"b.json:1:12", "b.json:1:38", "b.json:2:1", "b.json:3:1", "a.json:1:12", "a.json:1:38", "a.json:2:1", "a.json:3:1",
		"c.json:1:12", "c.json:1:38", "c.json:2:1", "c.json:3:1",
	}, order)
}
