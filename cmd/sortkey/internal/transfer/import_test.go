package transfer_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/transfer"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/sortkeytest"
)

// TestLastLineWins imports many records with few different keys, with many workers.
func TestLastLineWins(t *testing.T) { proptest.Check(t, 40, checkLastLine) }

func checkLastLine(t *proptest.T) {
	db := sortkeytest.New(t.TB())
	n, keys, workers, every := t.Between(1, 400), t.Between(1, 40), t.Between(1, 8), t.Between(1, 100)
	t.Logf("%d workers, a journal every %d lines", workers, every)
	want := map[string]int{}
	var text strings.Builder
	for i := range n {
		key := strconv.Itoa(t.Between(0, keys))
		want[key] = i
		fmt.Fprintf(&text, `{"pk":%q,"line":%d}`+"\n", key, i)
	}
	t.Logf("%s", text.String())
	path := write(t.TB(), "a.jsonl", text.String())
	o := options(t.TB(), path)
	o.Workers, o.Every = workers, int64(every)
	r, err := importFiles(t.TB(), context.Background(), db.Direct, o, path)
	require.NoError(t, err)
	require.Equal(t, []transfer.TableResult{{Table: "Rows", Created: true, Read: int64(n), Written: int64(n)}}, r.Tables)
	require.Len(t, itemsOf(t.TB(), db.Direct, "Rows"), len(want))
	for key, line := range want {
		require.Equal(t, fmt.Sprintf(`{"line":{"N":"%d"}}`, line), string(get(t.TB(), db.Direct, key).AppendJSON(nil)))
	}
	require.False(t, exists(o.Journal), "the journal stays")
	require.False(t, exists(o.Rejects), "there is a report of nothing")
}

func manyLines(n int) string {
	var text strings.Builder
	for i := range n {
		switch {
		case i%17 == 3:
			fmt.Fprintf(&text, `{"no key":%d}`+"\n", i)
		case i%29 == 5:
			fmt.Fprintf(&text, "nonsense %d\n", i)
		default:
			fmt.Fprintf(&text, `{"pk":"%d","line":%d}`+"\n", i%(n/2), i)
		}
	}
	return text.String()
}

// TestResume interrupts imports repeatedly, by a signal or a failure of the endpoint,
// and compares the result with an uninterrupted import.
func TestResume(t *testing.T) {
	n := min(max(proptest.Cases(2500), 250), 1500)
	whole := sortkeytest.New(t)
	dir := t.TempDir()
	path, second := filepath.Join(dir, "a.jsonl.gz"), filepath.Join(dir, "b.jsonl")
	require.NoError(t, os.WriteFile(path, gzipped(t, manyLines(n)), 0o644))
	require.NoError(t, os.WriteFile(second, []byte(manyLines(n/3)), 0o644))
	o := options(t, path)
	want, err := importFiles(t, t.Context(), whole.Direct, o, path, second)
	require.NoError(t, err)
	wantItems, wantReport := itemsOf(t, whole.Direct, "Rows"), report(t, o.Rejects)
	require.NotEmpty(t, wantReport)
	require.NoError(t, os.Remove(o.Rejects))

	for _, how := range []string{"signal", "failure"} {
		for _, every := range []int64{7, 100, 100_000} {
			t.Run(fmt.Sprint(how, every), func(t *testing.T) {
				db := sortkeytest.New(t)
				o := o
				o.Every, o.Workers = every, 3
				for try := 0; ; try++ {
					require.Less(t, try, 200, "it gets nowhere")
					ctx, cancel := context.WithCancel(t.Context())
					var batches atomic.Int64
					client := hooked(db, func(context.Context, *dynamodb.BatchWriteItemInput) (*dynamodb.BatchWriteItemOutput, error) {
						if batches.Add(1) < int64(2+20*try) {
							return nil, nil
						}
						if how == "signal" {
							cancel()
							return nil, nil
						}
						return nil, errors.New("the endpoint is gone")
					})
					r, err := importFiles(t, ctx, client, o, path, second)
					cancel()
					if err == nil {
						require.NotZero(t, try, "it was not interrupted")
						require.Equal(t, want.Tables[0].Read, r.Tables[0].Read)
						require.Equal(t, want.Tables[0].Rejected, r.Tables[0].Rejected)
						require.Equal(t, want.Tables[0].Written, r.Tables[0].Written)
						break
					}
					if how == "signal" {
						require.ErrorIs(t, err, context.Canceled)
					} else {
						require.ErrorContains(t, err, "the endpoint is gone")
					}
					require.Equal(t, o.Journal, r.Journal)
					require.True(t, exists(o.Journal))
					if !o.Resume {
						_, err := importFiles(t, t.Context(), db.Direct, o, path, second)
						require.ErrorContains(t, err, "was interrupted")
					}
					o.Resume = true
					// A killed import may have reported records after its last checkpoint.
					f, err := os.OpenFile(o.Rejects, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
					require.NoError(t, err)
					_, err = f.WriteString(`{"file":"a","line":1,"reason":"written before the kill"}` + "\n" + `{"fil`)
					require.NoError(t, err)
					require.NoError(t, f.Close())
				}
				require.Equal(t, wantItems, itemsOf(t, db.Direct, "Rows"))
				require.Equal(t, wantReport, report(t, o.Rejects))
				require.False(t, exists(o.Journal))
				require.NoError(t, os.Remove(o.Rejects))
			})
		}
	}
}

func TestResumeErrors(t *testing.T) {
	interrupted := func(t *testing.T, path string, o transfer.ImportOptions) *sortkeytest.DB {
		db := sortkeytest.New(t)
		_, err := importFiles(t, t.Context(), hooked(db, func(context.Context, *dynamodb.BatchWriteItemInput) (*dynamodb.BatchWriteItemOutput, error) {
			return nil, errors.New("gone")
		}), o, path)
		require.ErrorContains(t, err, "gone")
		require.True(t, exists(o.Journal))
		return db
	}
	for _, tt := range []struct {
		name   string
		change func(t *testing.T, path string, o *transfer.ImportOptions)
		want   string
	}{
		{"file", func(t *testing.T, path string, _ *transfer.ImportOptions) {
			require.NoError(t, os.WriteFile(path, []byte(manyLines(90)), 0o644))
		}, "has changed"},
		{"time", func(t *testing.T, path string, _ *transfer.ImportOptions) {
			require.NoError(t, os.Chtimes(path, time.Time{}, time.Unix(1, 0)))
		}, "has changed"},
		{"target", func(_ *testing.T, _ string, o *transfer.ImportOptions) { o.Target = "http://elsewhere" }, "not to http://elsewhere"},
		{"table", func(_ *testing.T, _ string, o *transfer.ImportOptions) { o.Table = "U2U" }, "wrote to table Rows, not to U2U"},
		{"types", func(_ *testing.T, _ string, o *transfer.ImportOptions) { o.Types = transfer.Types{"x": "N"} }, "other options"},
		{"journal", func(t *testing.T, _ string, o *transfer.ImportOptions) {
			require.NoError(t, os.WriteFile(o.Journal, []byte(`{"version":`), 0o644))
		}, "is not an import journal"},
		{"empty journal", func(t *testing.T, _ string, o *transfer.ImportOptions) {
			require.NoError(t, os.WriteFile(o.Journal, []byte(`{"version":2}`), 0o644))
		}, "is not an import journal"},
		{"end", func(t *testing.T, _ string, o *transfer.ImportOptions) {
			const empty = `{"version":2,"sources":[{"files":[]}],"tables":[{}]}`
			require.NoError(t, os.WriteFile(o.Journal, []byte(empty), 0o644))
		}, "is not an import journal"},
		{"place", func(t *testing.T, _ string, o *transfer.ImportOptions) {
			require.NoError(t, os.WriteFile(o.Journal, []byte(`{"version":2,"sources":[{"files":[]}],"tables":[{}],"at":{"file":-1}}`), 0o644))
		}, "is not an import journal"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := write(t, "a.jsonl", manyLines(100))
			o := options(t, path)
			o.Target = "http://here"
			db := interrupted(t, path, o)
			fresh := o
			tt.change(t, path, &o)
			_, err := importFiles(t, t.Context(), db.Direct, o, path)
			require.Error(t, err)
			o.Resume = true
			_, err = importFiles(t, t.Context(), db.Direct, o, path)
			require.ErrorContains(t, err, tt.want)
			fresh.Restart = true
			_, err = importFiles(t, t.Context(), db.Direct, fresh, path)
			require.NoError(t, err)
			require.False(t, exists(o.Journal))
		})
	}
}

// TestOutputsInTheWay: an import does not overwrite a file that is not a journal or a report.
func TestOutputsInTheWay(t *testing.T) {
	path := write(t, "a.jsonl", manyLines(3)+"{}\n")
	o := options(t, path)
	o.Journal = ""
	dir := t.TempDir()
	notes, link := filepath.Join(dir, "notes"), filepath.Join(dir, "link")
	require.NoError(t, os.WriteFile(notes, []byte("notes\n"), 0o644))
	require.NoError(t, os.Symlink(notes, link))
	for _, tt := range []struct {
		journal, rejects string
		restart          bool
		want             string
	}{
		{rejects: path, want: "would be overwritten"},
		{rejects: filepath.Join(dir, "absent", "file"), want: "no such file"},
		{journal: notes, want: "is not an import journal"},
		{journal: notes, restart: true, want: "is not an import journal"},
		{journal: filepath.Join(dir, "x"), rejects: filepath.Join(dir, "x"), want: "both the journal and the report"},
	} {
		o := o
		o.Journal, o.Rejects, o.Restart = tt.journal, tt.rejects, tt.restart
		_, err := importFiles(t, t.Context(), sortkeytest.New(t).Direct, o, path)
		require.ErrorContains(t, err, tt.want)
	}
	o.Rejects = link
	_, err := importFiles(t, t.Context(), sortkeytest.New(t).Direct, o, path)
	require.ErrorContains(t, err, "is not a regular file")
	data, err := os.ReadFile(notes)
	require.NoError(t, err)
	require.Equal(t, "notes\n", string(data))
}

// TestCutReport: an import replaces the report of a killed import, even if the report ends in the middle of a line.
func TestCutReport(t *testing.T) {
	path := write(t, "a.jsonl", "{}\n")
	o := options(t, path)
	r, err := importFiles(t, t.Context(), sortkeytest.New(t).Direct, o, path)
	require.NoError(t, err)
	report, err := os.ReadFile(r.Rejects)
	require.NoError(t, err)
	for n := range len(report) {
		require.NoError(t, os.WriteFile(o.Rejects, report[:n], 0o600))
		_, err := importFiles(t, t.Context(), sortkeytest.New(t).Direct, o, path)
		require.NoError(t, err, "%q", report[:n])
		again, err := os.ReadFile(o.Rejects)
		require.NoError(t, err)
		require.Equal(t, string(report), string(again))
	}
	require.NoError(t, os.WriteFile(o.Rejects, []byte(`{"files": ["a`), 0o600))
	_, err = importFiles(t, t.Context(), sortkeytest.New(t).Direct, o, path)
	require.ErrorIs(t, err, transfer.ErrRejects)
}

// TestFullReport: the report of rejected records is bounded, also for a resumed import, and the import counts what
// the report leaves out.
func TestFullReport(t *testing.T) {
	const n, most = 1000, 4000
	db := sortkeytest.New(t)
	path := write(t, "a.jsonl", `{"pk":"a"}`+"\n"+strings.Repeat("{}\n", n/2)+`{"pk":"b"}`+"\n"+strings.Repeat("{}\n", n/2))
	o := options(t, path)
	o.RejectsBytes, o.Every = most, 50
	ctx, cancel := context.WithCancel(t.Context())
	o.Progress = func(p transfer.Progress) {
		if p.Items >= n/2 {
			cancel()
		}
	}
	r, err := importFiles(t, ctx, db.Direct, o, path)
	require.ErrorIs(t, err, context.Canceled)
	require.Positive(t, r.Unreported)
	require.Less(t, r.Sum().Rejected, int64(n))
	o.Resume, o.Progress = true, nil
	r, err = importFiles(t, t.Context(), db.Direct, o, path)
	require.NoError(t, err)
	require.Equal(t, transfer.TableResult{Read: n + 2, Written: 2, Rejected: n}, r.Sum())
	info, err := os.Stat(o.Rejects)
	require.NoError(t, err)
	require.LessOrEqual(t, info.Size(), int64(most))
	require.Greater(t, info.Size(), int64(most/2))
	lines := report(t, o.Rejects)
	require.Equal(t, int64(n-len(lines)), r.Unreported)
	require.Equal(t, int64(len(lines)+1), lines[len(lines)-1].Line)
}

// TestLargeItems imports items so large that their size limits the batches.
func TestLargeItems(t *testing.T) {
	db := sortkeytest.New(t)
	items := proptest.Cases(200)
	var text strings.Builder
	text.Grow(items * 390 << 10)
	for i := range items {
		fmt.Fprintf(&text, `{"pk":"%d","v":"%s"}`+"\n", i, strings.Repeat("x", 380<<10))
	}
	path := write(t, "a.jsonl", text.String())
	r, err := importFiles(t, t.Context(), db.Direct, options(t, path), path)
	require.NoError(t, err)
	require.Equal(t, int64(items), r.Sum().Written)
}

// TestForeignFiles: an import rejects a file that cannot contain items of the table as a whole, not record by record.
func TestForeignFiles(t *testing.T) {
	for _, tt := range []struct {
		name, text, want, hint string
		kind                   error
	}{
		{"semicolons", "pk;n\na;1\n", "key attribute pk is not a column: pk;n", "add a header", transfer.ErrColumns},
		{"UTF-16", "\xff\xfep\x00k\x00\n\x00", "the file is UTF-16, not UTF-8", "iconv", nil},
		{"UTF-16, big end first", "\xfe\xff\x00p\x00k\x00\n", "the file is UTF-16, not UTF-8", "iconv", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := write(t, "a.csv", tt.text)
			db, o := sortkeytest.New(t), options(t, path)
			r, err := importFiles(t, t.Context(), db.Direct, o, path)
			require.EqualError(t, err, path+": "+tt.want)
			require.Contains(t, advice.Of(err), tt.hint)
			if tt.kind != nil {
				require.ErrorIs(t, err, tt.kind)
			}
			require.Empty(t, r.Rejects)
			// The import has left no journal, so it can be repeated with other options.
			require.Empty(t, r.Journal)
			require.False(t, exists(o.Journal))
		})
	}
	for _, text := range []string{"", "\n\n", "pk,n\n"} { // nothing to import is no error
		path := write(t, "a.csv", text)
		_, err := importFiles(t, t.Context(), sortkeytest.New(t).Direct, options(t, path), path)
		require.NoError(t, err)
	}
}

// TestBrokenFiles imports damaged files. It tests that the records before the damage are imported, and all other
// files.
func TestBrokenFiles(t *testing.T) {
	lines := manyLines(3000)
	packed := gzipped(t, lines)
	flipped := append([]byte(nil), packed...)
	flipped[len(flipped)-6] ^= 1 // in the checksum
	for _, tt := range []struct {
		name, file string
		data       []byte
		want       string
		most       int64
	}{
		{"cut gzip", "a.jsonl.gz", packed[:len(packed)/2], "gzip data is damaged: unexpected EOF", 2999},
		{"cut header", "a.jsonl.gz", packed[:5], "gzip data is damaged: unexpected EOF", 0},
		{"checksum", "a.jsonl.gz", flipped, "gzip data is damaged: gzip: invalid checksum", 3000},
		{"garbage", "a.jsonl.gz", append(append([]byte(nil), packed...), "garbage...."...), "gzip data is damaged: gzip: invalid header", 3000},
		{"document", "a.json", []byte(`[{"pk":"1"},{"pk":"2"}`), "file ends inside a JSON value", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			db := sortkeytest.New(t)
			dir := t.TempDir()
			path, good := filepath.Join(dir, tt.file), filepath.Join(dir, "z.jsonl")
			require.NoError(t, os.WriteFile(path, tt.data, 0o644))
			require.NoError(t, os.WriteFile(good, []byte(`{"pk":"last"}`), 0o644))
			o := options(t, path)
			r, err := importFiles(t, t.Context(), db.Direct, o, path, good)
			require.NoError(t, err)
			require.Len(t, r.Broken, 1)
			require.Equal(t, path, r.Broken[0].File)
			require.Equal(t, tt.want+"; nothing after this line was read", r.Broken[0].Reason)
			rejects := report(t, o.Rejects)
			require.Equal(t, r.Broken[0].Reason, rejects[len(rejects)-1].Reason)
			sum := r.Sum()
			require.LessOrEqual(t, sum.Read, tt.most+1)
			require.Equal(t, sum.Read, sum.Written+sum.Rejected)
			require.NotNil(t, get(t, db.Direct, "last"))
			require.False(t, exists(o.Journal))
		})
	}
}

// TestEarlyErrors: an import reports an error at the beginning of a file before it creates a table or imports another
// file.
func TestEarlyErrors(t *testing.T) {
	good := write(t, "good.csv", "pk,n\na,1\n")
	for text, want := range map[string]string{
		"pk,,n\na,1,2\n": "the header has a column without a name",
		"id;pk\na;1\n":   "key attribute pk is not a column",
	} {
		db := sortkeytest.New(t)
		bad := write(t, "bad.csv", text)
		o := options(t, good)
		_, err := importFiles(t, t.Context(), db.Direct, o, good, bad)
		require.ErrorContains(t, err, bad+": "+want)
		tables, err := db.Direct.ListTables(t.Context(), nil)
		require.NoError(t, err)
		require.Empty(t, tables.TableNames)
		require.False(t, exists(o.Journal))
	}
	o := options(t, good)
	o.Columns = []string{"pk", "n\xff"}
	_, err := importFiles(t, t.Context(), sortkeytest.New(t).Direct, o, good)
	require.ErrorContains(t, err, `the name "n\xff" of a column is not UTF-8`)

	dir, _ := exported(t, someRows(t, 3), transfer.ExportOptions{})
	_, err = transfer.Discover([]string{filepath.Join(dir, "manifest-files.json")}, "", "")
	require.ErrorContains(t, err, "manifest-files.json is the manifest of an export; it has no items")
}

// TestImportsAtOnce: a second import does not mistake the journal of a running import
// for that of an interrupted one.
func TestImportsAtOnce(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a file that is open cannot be replaced there, so journals are not locked")
	}
	db := sortkeytest.New(t)
	path := write(t, "a.jsonl", manyLines(1000))
	o := options(t, path)
	o.Every = 10
	var batches atomic.Int64
	_, err := importFiles(t, t.Context(), hooked(db, func(context.Context, *dynamodb.BatchWriteItemInput) (*dynamodb.BatchWriteItemOutput, error) {
		if batches.Add(1) != 20 {
			return nil, nil
		}
		for _, how := range []transfer.ImportOptions{{}, {Resume: true}, {Restart: true}} {
			second := o
			second.Resume, second.Restart = how.Resume, how.Restart
			_, err := importFiles(t, t.Context(), sortkeytest.New(t).Direct, second, path)
			if err == nil || !strings.Contains(err.Error(), "another import is using the journal "+o.Journal) {
				t.Errorf("a second import: %v", err)
			}
		}
		return nil, nil
	}), o, path)
	require.NoError(t, err)
	require.False(t, exists(o.Journal))
}
