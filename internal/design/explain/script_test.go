package explain_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/explain"
)

// TestScripts runs the scripts in testdata. A script creates a database and
// explains requests:
//
//	db
//	table Shop PK SK
//	index GSI1 (G:S) (H:N) all
//	item {"PK": "a", "SK": "b", "n": 1}
//
//	explain op=Query prose=80
//	{"TableName": "Shop", …}
//
// Items are plain JSON, with arrays for binary values. The entity of an item is
// its attribute type.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		var db *sortkey.DB
		defer func() {
			if db != nil {
				db.Close()
			}
		}()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "db":
				if db != nil {
					db.Close()
				}
				db = makeDB(t, d.Input)
				return ""
			case "explain":
				return explainScript(t, db, d)
			}
			t.Fatalf("unknown command %q", d.Cmd)
			return ""
		})
	})
}

func explainScript(t *testing.T, db *sortkey.DB, d *datadriven.TestData) string {
	op, o, to := "Query", explain.Options{Classify: classify}, explain.TextOptions{}
	asJSON := false
	for _, a := range d.CmdArgs {
		n := 0
		if len(a.Vals) == 1 {
			n, _ = strconv.Atoi(a.Vals[0])
		}
		switch a.Key {
		case "op":
			op = a.Vals[0]
		case "prose":
			to.Prose = n
		case "rows":
			to.Rows = n
		case "items":
			o.Items = n
		case "pages":
			o.Pages = n
		case "color":
			to.Color = true
		case "json":
			asJSON = true
		default:
			t.Fatalf("unknown argument %s", a.Key)
		}
	}
	r, err := runJSON(context.Background(), explain.InProcess(db), op, json.RawMessage(d.Input), o)
	if err != nil {
		return "error: " + err.Error()
	}
	var out bytes.Buffer
	if asJSON {
		enc := json.NewEncoder(&out)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		require.NoError(t, enc.Encode(r))
		return out.String()
	}
	require.NoError(t, r.WriteText(&out, to))
	return strings.ReplaceAll(out.String(), "\n\n", "\n.\n")
}

// runJSON explains a request in JSON.
func runJSON(
	ctx context.Context, to explain.Target, op string, text json.RawMessage, o explain.Options,
) (*explain.Report, error) {
	q, err := explain.Parse(op, text)
	if err != nil {
		return nil, err
	}
	return explain.Run(ctx, to, q, o)
}

func classify(_ string, it attr.Item) string { return string(it.Get("type").Raw()) }

func makeDB(t testing.TB, input string) *sortkey.DB {
	db, err := sortkey.Open(sortkey.Options{})
	require.NoError(t, err)
	var list []place
	var name string
	var items []string
	for line := range strings.Lines(input) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "table":
			f := strings.Fields(rest)
			name = f[0]
			list = append(list, place{hash: sides(f[1:2]), sort: sides(f[2:])})
		case "index", "local":
			p := place{local: word == "local"}
			before, after, _ := strings.Cut(rest, ")")
			p.index = strings.TrimSpace(before[:strings.Index(before, "(")])
			p.hash = sides(strings.Fields(before[strings.Index(before, "(")+1:]))
			sort, holds, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(after), "("), ")")
			p.sort = sides(strings.Fields(sort))
			if holds = strings.TrimSpace(holds); holds != "all" {
				p.holds = strings.Fields(strings.TrimPrefix(holds, "keys"))
			}
			list = append(list, p)
		case "item":
			items = append(items, rest)
		case "many": // many N {"SK": "%03d"}
			n, format, _ := strings.Cut(rest, " ")
			count, err := strconv.Atoi(n)
			require.NoError(t, err)
			for i := range count {
				items = append(items, fmt.Sprintf(format, i))
			}
		default:
			t.Fatalf("unknown line %q", line)
		}
	}
	serve(t, db, "CreateTable", strings.Replace(string(createRequest(list)), `"Things"`, strconv.Quote(name), 1))
	for _, it := range items {
		serve(t, db, "PutItem", `{"TableName":"`+name+`","Item":`+string(plainItem(t, it).AppendJSON(nil))+`}`)
	}
	return db
}

func sides(fields []string) (out []side) {
	for _, f := range fields {
		name, kind, ok := strings.Cut(f, ":")
		s := side{name, attr.String}
		if ok {
			s.kind, _ = attr.ParseKind(kind)
		}
		out = append(out, s)
	}
	return out
}

func plainItem(t testing.TB, src string) attr.Item {
	var m map[string]any
	dec := json.NewDecoder(strings.NewReader(src))
	dec.UseNumber()
	require.NoError(t, dec.Decode(&m), src)
	var b attr.Builder
	for name, v := range m {
		switch v := v.(type) {
		case string:
			b.Add(name, attr.NewString(v))
		case json.Number:
			n, err := attr.NewNumber(v.String())
			require.NoError(t, err)
			b.Add(name, n)
		case bool:
			b.Add(name, attr.NewBool(v))
		case []any: // bytes
			raw := make([]byte, len(v))
			for i, n := range v {
				c, err := strconv.ParseUint(n.(json.Number).String(), 10, 8)
				require.NoError(t, err)
				raw[i] = byte(c)
			}
			b.Add(name, attr.NewBinary(raw))
		default:
			t.Fatalf("%v in an item", v)
		}
	}
	return b.Item()
}
