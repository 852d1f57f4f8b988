package transfer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/transfer"
	"github.com/sortkey/sortkey/internal/design/tabledef"
	"github.com/sortkey/sortkey/internal/item"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/sdk"
	"github.com/sortkey/sortkey/server"
	"github.com/sortkey/sortkey/sortkeytest"
	"github.com/sortkey/sortkey/store/disk"
)

func TestMain(m *testing.M) {
	table.DefaultLoadFrom = 3 // load even small inputs as sorted rows
	os.Exit(m.Run())
}

// openDisk opens a database in a folder.
func openDisk(t testing.TB, dir string) *sortkey.DB {
	t.Helper()
	st, err := disk.Open(dir, disk.Options{})
	require.NoError(t, err)
	db, err := sortkey.Open(sortkey.Options{Store: st})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

const indexed = `{"TableName": "Rows", "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
	"AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}, {"AttributeName": "sk", "AttributeType": "N"}, {"AttributeName": "g", "AttributeType": "N"}, {"AttributeName": "l", "AttributeType": "S"}],
	"GlobalSecondaryIndexes": [{"IndexName": "ByG", "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}], "Projection": {"ProjectionType": "KEYS_ONLY"}}],
	"LocalSecondaryIndexes": [{"IndexName": "ByL", "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "l", "KeyType": "RANGE"}], "Projection": {"ProjectionType": "ALL"}}]}`

// drawRecord draws a record of a form. The reader or the table rejects many of the records.
func drawRecord(t *proptest.T, form, key string) string {
	var members []string
	add := func(name, kind, value string) {
		switch form {
		case "json":
			if kind == "N" {
				value = strings.Trim(value, `"`)
			}
			members = append(members, fmt.Sprintf("%q: %s", name, value))
		default:
			members = append(members, fmt.Sprintf("%q: {%q: %s}", name, kind, value))
		}
	}
	pick := func(n int, values ...string) (string, bool) {
		i := t.IntN(n)
		if i >= len(values) {
			return values[0], i < n-1
		}
		return values[i], true
	}
	if v, ok := pick(30, `"a"`, `"b"`, `"c"`, `"c\u0000d"`, `"é"`, `""`); ok {
		add("pk", "S", strings.TrimSuffix(v, `"`)+key+`"`)
	}
	if v, ok := pick(30, `"1"`, `"2.0"`, `"2"`, `"-3"`, `"1e2"`); ok {
		add("sk", "N", v)
	}
	keys := slices.Clone(members)
	switch t.IntN(12) {
	case 0:
		add("g", "S", `"not a number"`)
	case 1, 2, 3, 4, 5:
		add("g", "N", fmt.Sprintf("%q", fmt.Sprint(t.IntN(4))))
	}
	switch t.IntN(12) {
	case 0:
		add("l", "S", `""`)
	case 1, 2, 3:
		add("l", "S", `"x"`)
	}
	switch t.IntN(40) {
	case 0:
		add("big", "S", `"`+strings.Repeat("y", 300<<10)+`"`)
	case 1:
		add("big", "S", `"`+strings.Repeat("y", 420<<10)+`"`)
	case 2:
		add("", "S", `"no name"`)
	case 3:
		add("n", "N", `"1e999"`)
	case 4:
		add("pk", "S", `"again"`)
	case 5:
		add("deep", "L", strings.Repeat("[", 40)+strings.Repeat("]", 40))
	default:
		add("line", "N", fmt.Sprintf("%q", fmt.Sprint(t.IntN(1000))))
	}
	item := "{" + strings.Join(members, ",") + "}"
	switch t.IntN(40) {
	case 0:
		return item[:t.IntN(len(item)+1)]
	case 1:
		return "nonsense"
	case 2:
		return ""
	}
	switch form {
	case "item":
		return `{"Item":` + item + `}`
	case "change":
		record := `{"Metadata":{"WriteTimestampMicros":{"N":"1"}},"Keys":{` + strings.Join(keys, ",") + `}`
		if t.IntN(4) > 0 {
			record += `,"NewImage":` + item
		}
		return record + "}"
	}
	return item
}

// drawInput draws the text of a file and its name. Unless repeats is set, most keys are
// different.
func drawInput(t *proptest.T, repeats bool) (name, text string) {
	form := []string{"item", "bare", "json", "change", "csv"}[t.IntN(5)]
	n := []int{0, 3, 30, 200}[t.IntN(4)]
	if form == "csv" {
		lines := []string{"pk,sk,g,l"}
		for range n {
			cell := func(texts ...string) string { return texts[t.IntN(len(texts))] }
			if !repeats {
				lines = append(lines, fmt.Sprint(t.Uint64(), ",", len(lines), ",", cell("", "7", "no", "8"), ",", cell("", "x", `""`)))
				continue
			}
			lines = append(lines, cell("a", "b", "c", `"a,b"`, `""`, "")+","+cell("1", "2", "2.0", "x", "")+","+cell("", "7", "no", "8")+","+cell("", "x", `""`, "y,z"))
		}
		return "a.csv", strings.Join(lines, "\n")
	}
	lines := make([]string, n)
	for i := range lines {
		key := ""
		if !repeats {
			key = fmt.Sprint(i, t.Uint64())
		}
		lines[i] = drawRecord(t, form, key)
	}
	name = "a.json"
	if form != "change" && t.IntN(8) == 0 { // one document
		return name, "[" + strings.Join(slices.DeleteFunc(lines, func(l string) bool { return !strings.HasSuffix(l, "}") }), ",\n") + "]"
	}
	text = strings.Join(lines, []string{"\n", "\r\n"}[t.IntN(2)])
	if t.Bool() {
		text += "\n"
	}
	return name, text
}

// dumpOf returns the items and counters of the table and its indexes.
func dumpOf(t testing.TB, client *dynamodb.Client) (dump []string) {
	t.Helper()
	for _, index := range []*string{nil, aws.String("ByG"), aws.String("ByL")} {
		out, err := client.Scan(context.Background(), &dynamodb.ScanInput{TableName: aws.String("Rows"), IndexName: index})
		require.NoError(t, err)
		for _, it := range out.Items {
			text, err := json.Marshal(it)
			require.NoError(t, err)
			dump = append(dump, string(text))
		}
	}
	d, err := client.DescribeTable(context.Background(), &dynamodb.DescribeTableInput{TableName: aws.String("Rows")})
	require.NoError(t, err)
	dump = append(dump, fmt.Sprint(*d.Table.ItemCount, *d.Table.TableSizeBytes))
	for _, ix := range d.Table.GlobalSecondaryIndexes {
		dump = append(dump, fmt.Sprint(*ix.ItemCount, *ix.IndexSizeBytes))
	}
	for _, ix := range d.Table.LocalSecondaryIndexes {
		dump = append(dump, fmt.Sprint(*ix.ItemCount, *ix.IndexSizeBytes))
	}
	return dump
}

// TestLoadedImport imports the same files twice, with requests and directly into a database. It tests that items,
// indexes, counters, results and reports are the same, even if the second import is interrupted.
func TestLoadedImport(t *testing.T) {
	t.Parallel()
	proptest.Check(t, 60, func(t *proptest.T) {
		schema, err := tabledef.Parse([]byte(indexed))
		require.NoError(t.TB(), err)
		repeats, http := t.Bool(), t.Bool()
		var paths []string
		dir := t.TB().TempDir()
		for i := range t.Between(1, 3) {
			name, text := drawInput(t, repeats)
			path := filepath.Join(dir, fmt.Sprint(i, name))
			require.NoError(t.TB(), os.WriteFile(path, []byte(text), 0o600))
			paths = append(paths, path)
		}
		every, stop := int64(t.IntN(40)), t.IntN(400)
		type outcome struct {
			Result transfer.ImportResult
			Err    string
			Report []transfer.Reject
			Dump   []string
		}
		var outcomes [2]outcome
		for i := range outcomes {
			db := openDisk(t.TB(), t.TB().TempDir())
			client := sdk.Direct(db)
			o := transfer.ImportOptions{Table: "Rows", Schema: schema, Every: every, Workers: 4}
			o.Journal, o.Rejects = filepath.Join(dir, fmt.Sprint("journal", i)), filepath.Join(dir, fmt.Sprint("rejects", i))
			ctx, cancel := context.WithCancel(context.Background())
			if i == 0 && http {
				web := httptest.NewServer(server.New(db, server.Options{}))
				defer web.Close()
				client = webClient(web.URL)
			}
			if i == 1 {
				o.DB = db
				o.Progress = func(p transfer.Progress) {
					if p.Items >= int64(stop) {
						cancel()
					}
				}
			}
			r, err := importFiles(t.TB(), ctx, client, o, paths...)
			cancel()
			read := r.Read
			if errors.Is(err, context.Canceled) {
				o.Resume, o.Progress = true, nil
				r, err = importFiles(t.TB(), context.Background(), client, o, paths...)
				r.Read += read
				r.First, r.Bytes = nil, 0
			}
			out := &outcomes[i]
			if err != nil {
				out.Err = strings.ReplaceAll(err.Error(), o.Journal, "")
			} else {
				out.Dump = dumpOf(t.TB(), client)
			}
			if exists(o.Rejects) {
				out.Report = report(t.TB(), o.Rejects)
			}
			r.First, r.Bytes, r.Rejects, r.Journal = nil, 0, "", ""
			out.Result = *r
		}
		// An import with requests does not send a record that a later one replaces, so only the other import may
		// reject it.
		sent, loaded := &outcomes[0], &outcomes[1]
		hidden := 0
		for i, r := range loaded.Report {
			if i-hidden == len(sent.Report) || sent.Report[i-hidden] != r {
				hidden++
			}
		}
		require.Len(t.TB(), loaded.Report, len(sent.Report)+hidden)
		require.True(t.TB(), hidden == 0 || repeats)
		if hidden > 0 && sent.Err == "" {
			loaded.Report = sent.Report
			a, b := &sent.Result.Tables[0], &loaded.Result.Tables[0]
			require.Equal(t.TB(), a.Written+a.Deleted+a.Rejected, b.Written+b.Deleted+b.Rejected)
			*b = *a
		}
		require.Equal(t.TB(), sent, loaded, "%v", paths)
	})
}

// webClient returns a client of a server.
func webClient(url string) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: &url, Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
	})
}

// TestReadExport exports tables with requests and directly from a database. It tests that the files are the same.
func TestReadExport(t *testing.T) {
	t.Parallel()
	db := sortkeytest.New(t)
	db.Table("Rows", "pk / sk:N")
	for i := range 3000 {
		db.Put("Rows", map[string]any{
			"pk": fmt.Sprint(i % 7), "sk": i, "text": strings.Repeat("é\x00", i%500), "set": []string{"a", fmt.Sprint(i)},
			"list": []any{i, "x", true},
		})
	}
	files := func(o transfer.ExportOptions) map[string]string {
		dir := filepath.Join(t.TempDir(), "export")
		results, err := transfer.Export(t.Context(), db.Direct, []string{"Rows"}, dir, false, o)
		require.NoError(t, err)
		require.EqualValues(t, 3000, results[0].Items)
		list := map[string]string{}
		require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				var text []byte
				text, err = os.ReadFile(path)
				list[strings.TrimPrefix(path, dir)] = string(text)
			}
			return err
		}))
		return list
	}
	for _, mask := range []func(string, attr.Item) (attr.Item, error){nil, func(_ string, it attr.Item) (attr.Item, error) {
		return attr.Item(item.AppendWith(nil, it, []item.Change{{Name: "text", Value: attr.NewString("masked")}})), nil
	}} {
		o := transfer.ExportOptions{Mask: mask}
		want := files(o)
		o.DB = db.DB
		require.Equal(t, want, files(o))
	}

	failed := errors.New("no more")
	_, err := transfer.ExportTo(t.Context(), db.Direct, "Rows", failingWriter{failed}, transfer.ExportOptions{DB: db.DB})
	require.ErrorIs(t, err, failed)
	for want, maskErr := range map[string]error{"no more": failed, "key attribute pk is missing": nil} {
		_, err = transfer.ExportTo(t.Context(), db.Direct, "Rows", io.Discard, transfer.ExportOptions{
			DB: db.DB, Mask: func(string, attr.Item) (attr.Item, error) { return attr.Item{}, maskErr },
		})
		require.ErrorContains(t, err, "table Rows: cannot mask an item: "+want)
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }
