package transfer_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/transfer"
	"github.com/sortkey/sortkey/internal/design/tabledef"
	"github.com/sortkey/sortkey/internal/sdkvalue"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/sortkeytest"
)

func texts(t *proptest.T) string {
	if t.Bool() {
		return t.AnyText(0, 12)
	}
	return proptest.Pick(t, "", "a,b", `"`, "\r\n", " x ", "ü\x00", "null", "{}", "\ufeff", "=1+1", `\n`, "\r")
}

func numbers(t *proptest.T) string {
	if t.Bool() {
		return strconv.FormatInt(int64(t.Uint64())>>t.IntN(64), 10) // of any length
	}
	return proptest.Pick(t, "0", "-1", "1.5", "1E+125", "-1E-130", "99999999999999999999999999999999999999")
}

func blobs(t *proptest.T) []byte { return t.Bytes(0, 20) }

func names(t *proptest.T) string {
	return proptest.Pick(t, "a", "b,c", "d e", "Item", "Items", "Keys", "ü", `"q"`, "n:N")
}

// distinct returns up to four members of a set with different keys.
func distinct[E any](t *proptest.T, member func(*proptest.T) E, key func(E) string) (set []E) {
	seen := map[string]bool{}
	for _, e := range proptest.SliceOf(t, 1, 4, member) {
		if k := key(e); !seen[k] {
			seen[k] = true
			set = append(set, e)
		}
	}
	return set
}

// scalar returns a value of one kind. anyOf returns a value of one of several kinds
// or, up to a depth, a list or map of such values.
func scalar(t *proptest.T, kind string) types.AttributeValue {
	switch kind {
	case "S":
		return &types.AttributeValueMemberS{Value: texts(t)}
	case "N":
		return &types.AttributeValueMemberN{Value: numbers(t)}
	case "B":
		return &types.AttributeValueMemberB{Value: blobs(t)}
	case "SS":
		return &types.AttributeValueMemberSS{Value: distinct(t, texts, func(s string) string { return s })}
	case "NS":
		return &types.AttributeValueMemberNS{Value: distinct(t, numbers, func(s string) string {
			v, err := attr.NewNumber(s)
			require.NoError(t, err)
			return string(v.Raw())
		})}
	case "BS":
		return &types.AttributeValueMemberBS{Value: distinct(t, blobs, func(b []byte) string { return string(b) })}
	case "BOOL":
		return &types.AttributeValueMemberBOOL{Value: t.Bool()}
	default:
		return &types.AttributeValueMemberNULL{Value: true}
	}
}

var scalars = []string{"S", "N", "B", "SS", "NS", "BS", "BOOL", "NULL"}

func anyOf(t *proptest.T, kinds []string, depth int) types.AttributeValue {
	nested := []string{"L", "M"}
	if depth == 0 {
		nested = nil
	}
	switch kind := proptest.Pick(t, slices.Concat(kinds, nested)...); kind {
	case "L":
		return &types.AttributeValueMemberL{Value: proptest.SliceOf(t, 0, 3, func(t *proptest.T) types.AttributeValue { return anyOf(t, kinds, depth-1) })}
	case "M":
		m := map[string]types.AttributeValue{}
		for range t.Between(0, 3) {
			m[names(t)] = anyOf(t, kinds, depth-1)
		}
		return &types.AttributeValueMemberM{Value: m}
	default:
		return scalar(t, kind)
	}
}

// TestRoundTrip exports tables to a folder or as CSV, and imports them again. It tests that the items are the same
// and, after an export to a folder, also the definitions. The import of CSV declares the types of the columns.
func TestRoundTrip(t *testing.T) {
	proptest.CheckTapes(t, 50, 1000, 2000, func(tape []byte) string { return proptest.Play(t, tape, checkRoundTrip) }, nil)
}

func checkRoundTrip(t *proptest.T) {
	from, to := sortkeytest.New(t.TB()), sortkeytest.New(t.TB())
	from.Table("Rows", "pk / sk:N", sortkeytest.Global("ByA", "g:B / sk:N").Only("x"), sortkeytest.Local("ByL", "l"))
	declared := transfer.Types{}
	var written []attr.Item
	for i := range t.Between(0, 12) {
		item := map[string]types.AttributeValue{}
		for range t.Between(0, 4) {
			item[names(t)] = anyOf(t, scalars, 2)
		}
		item["pk"] = &types.AttributeValueMemberS{Value: "p" + texts(t)}
		item["sk"] = &types.AttributeValueMemberN{Value: strconv.Itoa(i)}
		for name, v := range item {
			kind := strings.TrimPrefix(fmt.Sprintf("%T", v), "*types.AttributeValueMember")
			if have := declared[name]; have != "" && have != kind {
				kind = transfer.AnyType
			}
			declared[name] = kind
		}
		from.Put("Rows", item)
		it, err := sdkvalue.Item(item)
		require.NoError(t, err)
		written = append(written, it)
	}
	path := filepath.Join(t.TempDir(), "out")
	in := transfer.ImportOptions{Rejects: path + ".rejected"}
	if t.Bool() {
		o := transfer.ExportOptions{Segments: t.Between(1, 3)}
		_, err := transfer.Export(context.Background(), from.Direct, []string{"Rows"}, path, false, o)
		require.NoError(t, err)
	} else {
		var out bytes.Buffer
		require.NoError(t, transfer.WriteCSV(&out, written, []string{"sk", "absent"}))
		require.NoError(t, os.WriteFile(path, out.Bytes(), 0o600))
		in.Format, in.Table, in.Types = transfer.CSV, "Rows", declared
		var err error
		in.Schema, err = tabledef.Parse([]byte(definition(t.TB(), from.Direct)))
		require.NoError(t, err)
	}
	r, err := importFiles(t.TB(), context.Background(), to.Direct, in, path)
	require.NoError(t, err)
	require.Empty(t, r.First)
	want := itemsOf(t.TB(), from.Direct, "Rows")
	require.Equal(t, int64(len(want)), r.Sum().Written)
	require.Equal(t, want, itemsOf(t.TB(), to.Direct, "Rows"))
	require.Equal(t, definition(t.TB(), from.Direct), definition(t.TB(), to.Direct))
}

func definition(t testing.TB, client *dynamodb.Client) string {
	t.Helper()
	out, err := client.DescribeTable(context.Background(), &dynamodb.DescribeTableInput{TableName: aws.String("Rows")})
	require.NoError(t, err)
	s, err := tabledef.Of(out.Table)
	require.NoError(t, err)
	text, err := json.Marshal(s)
	require.NoError(t, err)
	return string(text)
}

func exported(t testing.TB, db *sortkeytest.DB, o transfer.ExportOptions) (dir string, r transfer.ExportResult) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "out")
	results, err := transfer.Export(t.Context(), db.Direct, []string{"Rows"}, dir, false, o)
	require.NoError(t, err)
	return dir, results[0]
}

func someRows(t testing.TB, n int) *sortkeytest.DB {
	t.Helper()
	db := sortkeytest.New(t)
	db.Table("Rows", "pk")
	for i := range n {
		db.Put("Rows", map[string]any{"pk": strconv.Itoa(i), "n": i})
	}
	return db
}

// TestDamagedExports imports exports that do not match their manifests. If a checksum is wrong, the import must write
// nothing.
func TestDamagedExports(t *testing.T) {
	db := someRows(t, 300)
	for _, tt := range []struct {
		name   string
		damage func(t *testing.T, dir string)
		want   string
	}{
		{"data", func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, "data", "00001.json.gz"), func(s string) string { return s[:len(s)/2] })
		}, "00001.json.gz is damaged: its MD5 is "},
		{"summary", func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, "manifest-summary.json"), func(s string) string { return s + " " })
		}, "manifest-summary.json is damaged"},
		{"summary with a checksum of the old name", func(t *testing.T, dir string) {
			summary := filepath.Join(dir, "manifest-summary")
			require.NoError(t, os.Rename(summary+".md5", summary+".checksum"))
			edit(t, summary+".json", func(s string) string { return s + " " })
		}, "manifest-summary.json is damaged"},
		{"files", func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, "manifest-files.json"), func(s string) string { return strings.Replace(s, `"itemCount":`, `"itemCount":1`, 1) })
		}, "manifest-files.json is damaged"},
		{"no data", func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, "data", "00001.json.gz")))
		}, `data file "data/00001.json.gz" of `},
		{"unfinished", func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, "manifest-summary.json")))
		}, "is an unfinished export"},
		{"no list", func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, "manifest-files.json")))
		}, "manifest-files.json is missing, which lists the data files of the export"},
		{"cut summary", func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, "manifest-summary.json"), func(s string) string { return s[:len(s)/2] })
			require.NoError(t, os.Remove(filepath.Join(dir, "manifest-summary.md5")))
		}, "manifest-summary.json is not the manifest of an export: unexpected end of JSON input"},
		{"other summary", func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, "manifest-summary.json"), func(string) string { return "null" })
			require.NoError(t, os.Remove(filepath.Join(dir, "manifest-summary.md5")))
		}, "manifest-summary.json is not the manifest of an export: neither a table nor a format"},
		{"escape", func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, "manifest-files.json"), func(s string) string {
				return strings.ReplaceAll(s, "data/0000", "../../../../../../../etc/passwd/0000")
			})
			require.NoError(t, os.Remove(filepath.Join(dir, "manifest-files.md5")))
			require.NoError(t, os.RemoveAll(filepath.Join(dir, "data")))
		}, `names the data file "../../../../../../../etc/passwd/00000.json.gz", which is outside of the export`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, _ := exported(t, db, transfer.ExportOptions{Segments: 2})
			tt.damage(t, dir)
			to := sortkeytest.New(t)
			sources, err := transfer.Discover([]string{dir}, "", "")
			if err == nil {
				_, err = transfer.Import(t.Context(), to.Direct, sources, transfer.ImportOptions{})
			}
			require.ErrorContains(t, err, tt.want)
			tables, err := to.Direct.ListTables(t.Context(), nil)
			require.NoError(t, err)
			require.Empty(t, tables.TableNames)
		})
	}
	t.Run("count", func(t *testing.T) {
		dir, _ := exported(t, db, transfer.ExportOptions{Segments: 1})
		edit(t, filepath.Join(dir, "manifest-files.json"), func(s string) string { return strings.Replace(s, `"itemCount":300`, `"itemCount":301`, 1) })
		require.NoError(t, os.Remove(filepath.Join(dir, "manifest-files.md5")))
		_, err := importFiles(t, t.Context(), sortkeytest.New(t).Direct, transfer.ImportOptions{}, dir)
		require.EqualError(t, err, dir+" is damaged: its summary counts 300 items, its files have 301; nothing was written")
		edit(t, filepath.Join(dir, "manifest-summary.json"), func(s string) string { return strings.Replace(s, `"itemCount": 300`, `"itemCount": 301`, 1) })
		require.NoError(t, os.Remove(filepath.Join(dir, "manifest-summary.md5")))
		r, err := importFiles(t, t.Context(), sortkeytest.New(t).Direct, transfer.ImportOptions{}, dir)
		require.NoError(t, err)
		require.Len(t, r.Broken, 1)
		require.Equal(t, "file has 300 items, the manifest says 301", r.Broken[0].Reason)
	})
}

func edit(t testing.TB, path string, change func(string) string) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(change(string(data))), 0o644))
}

// TestServiceLayout reads a copy of a bucket in the layout of the service, including
// an incremental export, whose keys are relative to the bucket's root.
func TestServiceLayout(t *testing.T) {
	root := t.TempDir()
	put := func(name, text string) {
		path := filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	const id = "prefix/AWSDynamoDB/01693685827463-2d8752fd"
	put(id+"/manifest-summary.json", `{"version":"2020-06-30","tableArn":"arn:aws:dynamodb:us-east-1:123456789012:table/Rows","s3Bucket":"b","s3Prefix":"prefix","manifestFilesS3Key":"`+id+
		`/manifest-files.json","billedSizeBytes":0,"itemCount":2,"outputFormat":"DYNAMODB_JSON"}`)
	put(id+"/manifest-files.json", `{"itemCount":2,"md5Checksum":null,"etag":"x-1","dataFileS3Key":"`+id+`/data/abc.json.gz"}`+"\n"+
		`{"itemCount":0,"etag":"x-1","dataFileS3Key":"`+id+`/data/empty.json.gz"}`+"\n")
	put(id+"/data/abc.json.gz", string(gzipped(t, `{"Item":{"pk":{"S":"a"}}}`+"\n"+`{"Item":{"pk":{"S":"b"}}}`+"\n")))
	put(id+"/data/empty.json.gz", string(gzipped(t, "")))
	put(id+"/_started", "")
	db := sortkeytest.New(t)
	schema, err := transfer.ParseKey("pk")
	require.NoError(t, err)
	for _, dir := range []string{root, filepath.Join(root, "prefix"), filepath.Join(root, filepath.FromSlash(id))} {
		r, err := importFiles(t, t.Context(), db.Direct, transfer.ImportOptions{Schema: schema}, dir)
		require.NoError(t, err)
		require.Empty(t, r.Broken)
		require.Equal(t, int64(2), r.Sum().Written)
	}

	const inc = "prefix/AWSDynamoDB/01693685934212-ac809da5"
	put(inc+"/manifest-summary.json", `{"tableArn":"arn:aws:dynamodb:us-east-1:123456789012:table/Rows","itemCount":2,"outputFormat":"DYNAMODB_JSON","outputView":"NEW_AND_OLD_IMAGES","exportType":"INCREMENTAL_EXPORT"}`)
	put(inc+"/manifest-files.json", `{"itemCount":2,"etag":"x-1","dataFileS3Key":"prefix/AWSDynamoDB/data/change.json.gz"}`)
	put("prefix/AWSDynamoDB/data/change.json.gz", string(gzipped(t,
		`{"Metadata":{"WriteTimestampMicros":{"N":"1"}},"Keys":{"pk":{"S":"a"}},"OldImage":{"pk":{"S":"a"}}}`+"\n"+
			`{"Metadata":{"WriteTimestampMicros":{"N":"1"}},"Keys":{"pk":{"S":"c"}},"NewImage":{"pk":{"S":"c"}}}`)))
	r, err := importFiles(t, t.Context(), db.Direct, transfer.ImportOptions{}, filepath.Join(root, filepath.FromSlash(inc)))
	require.NoError(t, err)
	require.Equal(t, []transfer.TableResult{{Table: "Rows", Read: 2, Written: 1, Deleted: 1}}, r.Tables)
	require.Equal(t, []string{`{"Item":{"pk":{"S":"b"}}}`, `{"Item":{"pk":{"S":"c"}}}`}, itemsOf(t, db.Direct, "Rows"))

	full := strings.Replace(id, "01693685827463", "01793685827463", 1)
	require.NoError(t, os.CopyFS(filepath.Join(root, filepath.FromSlash(full)), os.DirFS(filepath.Join(root, filepath.FromSlash(id)))))
	_, err = transfer.Discover([]string{root}, "", "")
	require.ErrorContains(t, err, "are both exports of table Rows")
}

// TestExportNames: the names of tables, which an endpoint chooses, cannot make an export write outside its folder.
func TestExportNames(t *testing.T) {
	db := someRows(t, 1)
	for _, name := range []string{"../../x", "..", ".", "", "/tmp/x", "a/b", "a/../b", "x/"} {
		parent := t.TempDir()
		_, err := transfer.Export(t.Context(), db.Direct, []string{"Rows", name}, filepath.Join(parent, "a", "out"), true, transfer.ExportOptions{})
		require.EqualError(t, err, fmt.Sprintf("table %q cannot be exported to a folder of this name; nothing was written", name))
		left, err := os.ReadDir(parent)
		require.NoError(t, err)
		require.Empty(t, left)
	}
}

// TestLargeManifests: an import rejects manifests above a size.
func TestLargeManifests(t *testing.T) {
	db := someRows(t, 1)
	for name, most := range map[string]int64{"table.json": 4 << 20, "manifest-summary.md5": 1 << 10} {
		dir, _ := exported(t, db, transfer.ExportOptions{})
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(strings.Repeat(" ", int(most)+1)), 0o600))
		_, err := transfer.Discover([]string{dir}, "", "")
		require.ErrorContains(t, err, name+" is larger than "+text.Size(most))
	}
}

// TestExportInterrupted: an interrupted export leaves no files behind.
func TestExportInterrupted(t *testing.T) {
	db := someRows(t, 50)
	parent := t.TempDir()
	dir := filepath.Join(parent, "out")
	ctx, cancel := context.WithCancel(t.Context())
	_, err := transfer.Export(ctx, db.Direct, []string{"Rows", "Rows"}, dir, true, transfer.ExportOptions{Progress: func(transfer.Progress) { cancel() }})
	require.ErrorIs(t, err, context.Canceled)
	left, err := os.ReadDir(parent)
	require.NoError(t, err)
	require.Empty(t, left)

	// An export removes the folders of killed exports, but no other files.
	notes, killed := filepath.Join(parent, ".out.tmp-0"), filepath.Join(parent, ".out.tmp-1", "export")
	require.NoError(t, os.WriteFile(notes, nil, 0o644))
	require.NoError(t, os.MkdirAll(killed, 0o755))
	_, err = transfer.Export(t.Context(), db.Direct, []string{"Rows"}, dir, false, transfer.ExportOptions{})
	require.NoError(t, err)
	require.True(t, exists(notes))
	require.False(t, exists(killed))
	_, err = transfer.Export(t.Context(), db.Direct, []string{"Rows"}, dir, false, transfer.ExportOptions{})
	require.ErrorContains(t, err, "already exists and is not empty")
}

// TestExportsAtOnce: of several concurrent exports to one folder exactly one succeeds, and the others report why they
// failed.
func TestExportsAtOnce(t *testing.T) {
	db := someRows(t, 300)
	for round := range 8 {
		parent := t.TempDir()
		dir := filepath.Join(parent, "out")
		errs := make([]error, 6)
		begin := make(chan struct{})
		var wg sync.WaitGroup
		for i := range errs {
			wg.Go(func() {
				<-begin
				_, errs[i] = transfer.Export(t.Context(), db.Direct, []string{"Rows"}, dir, false, transfer.ExportOptions{Segments: 1 + i%2})
			})
		}
		close(begin)
		wg.Wait()
		made := 0
		for _, err := range errs {
			if err == nil {
				made++
				continue
			}
			require.Regexp(t, "out already exists and is not empty$", err.Error())
		}
		require.Equal(t, 1, made, "round %d: %v", round, errs)
		left, err := os.ReadDir(parent)
		require.NoError(t, err)
		require.Len(t, left, 1)
		to := sortkeytest.New(t)
		r, err := importFiles(t, t.Context(), to.Direct, transfer.ImportOptions{}, dir)
		require.NoError(t, err)
		require.Empty(t, r.Broken)
		require.Equal(t, int64(300), r.Sum().Written)
	}
}

// TestUnfinishedExports: if an export of all tables was killed, an import does not accept its complete part as the
// whole.
func TestUnfinishedExports(t *testing.T) {
	db := someRows(t, 3)
	all := filepath.Join(t.TempDir(), "all")
	_, err := transfer.Export(t.Context(), db.Direct, []string{"Rows"}, all, true, transfer.ExportOptions{})
	require.NoError(t, err)
	_, err = transfer.Discover([]string{all}, "", "")
	require.NoError(t, err)
	second := filepath.Join(all, "Second")
	require.NoError(t, os.Mkdir(second, 0o755))
	for _, at := range []string{second, all} {
		require.NoError(t, os.WriteFile(filepath.Join(at, "_started"), nil, 0o644))
		_, err = transfer.Discover([]string{all}, "", "")
		require.EqualError(t, err, at+" is an unfinished export: it has no manifest-summary.json")
	}
}
