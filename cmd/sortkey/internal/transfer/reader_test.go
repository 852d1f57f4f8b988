package transfer_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/transfer"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/sortkeytest"
)

// TestRead reads the texts in testdata/read. The arguments of the directive read are options; path is the name of the
// file, from which the reader also detects the format.
func TestRead(t *testing.T) {
	datadriven.Walk(t, "testdata/read", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var o transfer.ReadOptions
			name := ""
			for _, arg := range d.CmdArgs {
				var err error
				switch arg.Key {
				case "format":
					o.Format = transfer.Format(arg.Vals[0])
				case "types":
					o.Types, err = transfer.ParseTypes(arg.Vals)
				case "columns":
					o.Columns = arg.Vals
				case "max":
					_, err = fmt.Sscan(arg.Vals[0], &o.MaxLine)
				case "path":
					name = arg.Vals[0]
				default:
					t.Fatalf("%s: unknown argument %s", d.Pos, arg.Key)
				}
				require.NoError(t, err)
			}
			return readAll(strings.ReplaceAll(strings.ReplaceAll(d.Input, `\r`, "\r"), `\xff`, "\xff"), name, o)
		})
	})
}

// TestSizeLimit reads items at the size limit and above it, in each format. It also tests that the reader does not
// decode a much larger record to its end.
func TestSizeLimit(t *testing.T) {
	proptest.SkipShort(t)
	const limit, refused = 400 << 10, "larger than 409600 bytes, the limit of an item"
	list := func(elem string, n int) string { return strings.Repeat(elem+",", n) + elem }
	members := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"%d":1,`, i)
		}
		return b.String() + `"":1`
	}
	csv := transfer.ReadOptions{Format: transfer.CSV, Types: transfer.Types{"l": "L"}}
	declared := transfer.ReadOptions{Format: transfer.JSON, Types: transfer.Types{"l": transfer.AnyType, "s": "SS"}}
	numbers := `{"L":[` + list(`{"N":"1"}`, 7e5) + `]}`
	for i, tt := range []struct {
		name, format string
		value        string // of a string
		besides      int    // size of the rest of the item
		huge         string // value much larger than an item
		o            transfer.ReadOptions
	}{
		{name: "plain", format: `{"l":%s}`, value: `"%s"`, besides: 1, huge: "[" + list("1", 3e6) + "]"},
		{name: "map", format: `{"l":%s}`, value: `{"a":"%s"}`, besides: 6, huge: "{" + members(6e5) + "}"},
		{name: "item", format: `{"Item":{"l":%s}}`, value: `{"S":"%s"}`, besides: 1, huge: numbers},
		{name: "bare", format: `{"l":%s}`, value: `{"L":[{"M":{"a":{"S":"%s"}}}]}`, besides: 10, huge: numbers},
		{name: "sets", format: `{"l":%s}`, value: `{"SS":["%s"]}`, besides: 1, huge: `{"NS":[` + list(`"1"`, 1e6) + `]}`},
		{
			name: "request", format: `{"T":[{"PutRequest":{"Item":{"l":%s}}}]}`,
			value: `{"S":"%s"}`, besides: 1, huge: numbers,
		},
		{name: "declared", format: `{"l":%s}`, value: `{"S":"%s"}`, besides: 1, huge: numbers, o: declared},
		{name: "set", format: `{"s":%s}`, value: `["%s"]`, besides: 1, huge: "[" + list("1", 3e6) + "]", o: declared},
		{
			name: "cell", format: "l\n\"%s\"", value: `[{""S"":""%s""}]`, besides: 5,
			huge: "[" + list(`{""N"":""1""}`, 5e5) + "]", o: csv,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if i%4 != 0 {
				proptest.NeedLong(t)
			}
			read := func(value string) string {
				r, err := transfer.NewReader(strings.NewReader(fmt.Sprintf(tt.format, value)), "", tt.o)
				require.NoError(t, err)
				rec, err := r.Next()
				require.NoError(t, err)
				if rec.Err != nil {
					return rec.Err.Error()
				}
				return fmt.Sprint(rec.Item.Size())
			}
			sized := func(size int) string { return fmt.Sprintf(tt.value, strings.Repeat("x", size-tt.besides)) }
			require.Equal(t, fmt.Sprint(limit), read(sized(limit)))
			require.Contains(t, read(sized(limit+2)), refused) // a cell is without its name

			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			require.Contains(t, read(tt.huge), refused)
			runtime.ReadMemStats(&after)
			if got := after.TotalAlloc - before.TotalAlloc; got > 24*uint64(len(tt.huge)) {
				t.Errorf("reading %d bytes of text allocates %d, want 24 times as many at most", len(tt.huge), got)
			}
		})
	}
}

func readAll(text, path string, o transfer.ReadOptions) string {
	var out strings.Builder
	r, err := transfer.NewReader(strings.NewReader(text), path, o)
	if err != nil {
		return "error: " + err.Error()
	}
	for {
		rec, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			if out.Len() == 0 {
				return "nothing"
			}
			return out.String()
		case err != nil:
			fmt.Fprintf(&out, "end: %s\n", err)
			return out.String()
		case rec.Err != nil:
			fmt.Fprintf(&out, "%d: rejected: %s\n", rec.Line, rec.Err)
		case rec.Delete:
			fmt.Fprintf(&out, "%d: delete %s\n", rec.Line, rec.Item.AppendJSON(nil))
		default:
			fmt.Fprintf(&out, "%d: %s\n", rec.Line, rec.Item.AppendJSON(nil))
		}
	}
}

// An endless is a file without an end, or of n bytes.
type endless struct {
	letter byte
	n      int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.n <= 0 {
		return 0, io.EOF
	}
	n := min(len(p), e.n)
	for i := range n {
		p[i] = e.letter
	}
	e.n -= n
	return n, nil
}

// TestLongLines reads a line of 12 MB in each layout. In lines it rejects the line and reads the records after it. A
// document ends there.
func TestLongLines(t *testing.T) {
	const long = 12 << 20
	for _, tt := range []struct{ name, before, after, path string }{
		{"lines", `{"a":{"S":"`, "\"}}\n" + `{"a":{"S":"1"}}`, ""},
		{"array", `[{"a":{"S":"0"}},{"a":{"S":"`, `"}},{"a":{"S":"1"}}]`, ""},
		{"cells", "a\n\"", "\"\n1\n", "x.csv"},
		{"cell", "a\n", "\n1\n", "x.csv"},
		{"response", `{"Count":1,"Items":[{"a":{"S":"0"}},{"a":{"S":"`, `"}},{"a":{"S":"1"}}]}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := io.MultiReader(strings.NewReader(tt.before), &endless{'x', long}, strings.NewReader(tt.after))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			r, err := transfer.NewReader(in, tt.path, transfer.ReadOptions{MaxLine: 1 << 20})
			require.NoError(t, err)
			var rejected, read int
			for {
				rec, err := r.Next()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					require.EqualError(t, err, "line 1: longer than 1048576 bytes")
					rejected++
					break
				}
				if rec.Err != nil {
					require.EqualError(t, rec.Err, "longer than 1048576 bytes")
					rejected++
					continue
				}
				read++
				last := string(rec.Item.AppendJSON(nil))
				require.Contains(t, []string{`{"a":{"S":"0"}}`, `{"a":{"S":"1"}}`}, last)
			}
			runtime.ReadMemStats(&after)
			require.Equal(t, 1, rejected)
			require.NotZero(t, read)
			if used := after.TotalAlloc - before.TotalAlloc; used > 12<<20 {
				t.Errorf("reading it allocated %d bytes", used)
			}
		})
	}
}

func gzipped(t testing.TB, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

// TestPacked imports a file in every compression, under a name that does not say which.
func TestPacked(t *testing.T) {
	text := `{"pk":"a"}` + "\n" + `{"pk":"b"}` + "\n"
	var z bytes.Buffer
	w, err := zstd.NewWriter(&z)
	require.NoError(t, err)
	_, err = w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	for name, data := range map[string]string{
		"plain": text, "gzip": string(gzipped(t, text)), "two gzips": string(gzipped(t, text[:11])) + string(gzipped(t, text[11:])), "zstd": z.String(),
	} {
		t.Run(name, func(t *testing.T) {
			db := sortkeytest.New(t)
			path := write(t, "a.json", data)
			r, err := importFiles(t, t.Context(), db.Direct, options(t, path), path)
			require.NoError(t, err)
			require.Equal(t, int64(2), r.Sum().Written)
		})
	}
	t.Run("cut zstd", func(t *testing.T) {
		path := write(t, "a.json", z.String()[:z.Len()-5])
		r, err := importFiles(t, t.Context(), sortkeytest.New(t).Direct, options(t, path), path)
		require.NoError(t, err)
		require.Len(t, r.Broken, 1)
		require.Contains(t, r.Broken[0].Reason, "zstd data is damaged: unexpected EOF")
	})
}

// FuzzReader reads any data in any format. It tests that reading ends, that every record has an item or an error, and
// that Skip reaches the same records as Next.
func FuzzReader(f *testing.F) {
	for _, text := range []string{
		`{"Item":{"a":{"S":"x"}}}` + "\n" + `{"Item":{"b":{"N":"1"}}}`,
		`{"a":{"S":"x"}}`, `{"a":"x","b":[1,{"c":null}],"d":true}`, `[{"a":1},{"a":2}]`,
		"{\n \"Items\": [\n {\"a\": {\"S\": \"x\"}}\n],\"Count\":1}", "a,b\n1,\"x\"\"y\"\n,\n", "a\n\"", "[", "{", `{"a":`, "\xef\xbb\xbfa,b\n", "a,a\n",
		`{"Metadata":{},"Keys":{"a":{"S":"x"}}}`, "[[[[", `[1,"x",null,{}]`, "\xe0\x01\x00\xea", `{"Items":[{"a":1}],"b":2}`, `{"a":{"SS":["x","x"]}}`,
	} {
		for _, format := range []string{"auto", "dynamodb", "json", "csv"} {
			f.Add([]byte(text), format, 100)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, format string, maxLine int) {
		o := transfer.ReadOptions{Format: transfer.Format(format), MaxLine: maxLine%2000 + 1, Types: transfer.Types{"a": "N", "b": "BS", "c": "L", "d": "JSON"}}
		var lines []string
		r, err := transfer.NewReader(bytes.NewReader(text), "", o)
		if err != nil {
			return
		}
		line := int64(0)
		for {
			rec, err := r.Next()
			if err != nil {
				break
			}
			if rec.Line < line || rec.Line < 1 {
				t.Fatalf("line %d after line %d", rec.Line, line)
			}
			line = rec.Line
			if (rec.Err == nil) == (rec.Item == nil) {
				t.Fatalf("line %d: item %v, error %v", rec.Line, rec.Item, rec.Err)
			}
			lines = append(lines, fmt.Sprint(rec.Line, string(rec.Item), rec.Delete, rec.Err))
			if len(lines) > len(text)+1 {
				t.Fatalf("more records than bytes")
			}
		}
		if n := r.Count(); n != int64(len(lines)) {
			t.Fatalf("%d records are counted, %d were read", n, len(lines))
		}
		if len(lines) < 2 {
			return
		}
		again, err := transfer.NewReader(bytes.NewReader(text), "", o)
		if err != nil {
			t.Fatal(err)
		}
		skip := len(lines) / 2
		if err := again.Skip(int64(skip)); err != nil {
			t.Fatalf("skipping %d of %d: %v", skip, len(lines), err)
		}
		rec, err := again.Next()
		if got := fmt.Sprint(rec.Line, string(rec.Item), rec.Delete, rec.Err); err != nil || got != lines[skip] {
			t.Fatalf("after skipping %d: %s, %v, want %s", skip, got, err, lines[skip])
		}
	})
}
