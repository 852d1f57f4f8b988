package main

import (
	"strings"
	"testing"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/show"
	"github.com/sortkey/sortkey/keycond"
)

func parse(t *testing.T, texts ...string) []attr.Item {
	t.Helper()
	items := make([]attr.Item, len(texts))
	for i, text := range texts {
		item, err := attr.ParseItem([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		items[i] = item
	}
	return items
}

func TestRows(t *testing.T) {
	items := parse(t,
		`{"PK": {"S": "a"}, "SK": {"S": "日本"}, "n": {"N": "7"}, "Z": {"BOOL": true}}`,
		`{"PK": {"S": "a"}, "SK": {"S": "b"}, "n": {"N": "-10.5"}, "about": {"S": "some longer text"}}`,
	)
	for _, tt := range []struct {
		name  string
		width int
		want  []string
	}{
		{"all", 0, []string{
			"  PK  SK    Z     about                 n",
			"  ──  ────  ────  ────────────────  ─────",
			"  a   日本  true                        7",
			"  a   b           some longer text  -10.5",
		}},
		{"narrow", 34, []string{
			"  PK  SK    Z     about          n",
			"  ──  ────  ────  ─────────  ─────",
			"  a   日本  true                 7",
			"  a   b           some lon…  -10.5",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := show.Rows(items, []string{"PK", "SK", "absent"}, tt.width, "  ", false)
			if want := strings.Join(tt.want, "\n") + "\n"; got != want {
				t.Errorf("Rows =\n%swant\n%s", got, want)
			}
		})
	}
	if got := show.Rows(nil, []string{"PK"}, 0, "", false); got != "" {
		t.Errorf("Rows of nothing = %q, want nothing", got)
	}
	odd := parse(t, `{"a\nb": {"S": "x"}, " ": {"NULL": true}}`)
	if got, want := show.Rows(odd, nil, 0, "", false), "\" \"   \"a\\nb\"\n────  ──────\nnull  x\n"; got != want {
		t.Errorf("Rows with odd names =\n%swant\n%s", got, want)
	}
	if got := show.Rows(items, nil, 1, "", true); !strings.HasPrefix(got, "\x1b[1mPK") {
		t.Errorf("Rows in colour = %q, want a strong header", got)
	}
}

func TestItems(t *testing.T) {
	s := func(name string) keycond.Attribute { return keycond.Attribute{Name: name, Kind: attr.String} }
	schema := keycond.NewSchema([]keycond.Attribute{s("PK")}, []keycond.Attribute{s("SK")})
	items := parse(t,
		`{"PK": {"S": "p"}, "SK": {"S": "a long sort key"}, "a": {"S": "some longer text"}, "b": {"N": "1"}, "c": {"N": "2"}}`,
		`{"PK": {"S": "p"}, "SK": {"S": "b"}, "c": {"N": "12345"}}`,
	)
	asLines := "PK  p\nSK  a long sort key\na   some longer text\nb   1\nc   2\n\nPK  p\nSK  b\nc   12345\n"
	for _, tt := range []struct {
		name  string
		items []attr.Item
		width int
		want  string
	}{
		{"no limit", items[1:], 0, "PK  SK      c\n──  ──  ─────\np   b   12345\n"},
		{
			"truncated", items, 40, "PK  SK               a          b      c\n" +
				"──  ───────────────  ─────────  ─  ─────\np   a long sort key  some lon…  1      2\n" +
				"p   b                              12345\n",
		},
		{"lines", items, 36, asLines},
		{"key only", parse(t, `{"PK": {"S": "p"}, "SK": {"S": "x"}}`), 3, "PK  p\nSK  x\n"},
		{"without key", parse(t, `{"a": {"S": "some longer text"}}`), 10, "a\n──────────\nsome long…\n"},
		{"nothing", nil, 80, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := show.Items(tt.items, schema, show.Style{Width: tt.width}); got != tt.want {
				t.Errorf("Items =\n%swant\n%s", got, tt.want)
			}
		})
	}
	if got := show.Items(items[1:], nil, show.Style{Width: 80}); !strings.HasPrefix(got, "PK  SK") {
		t.Errorf("Items without a schema =\n%s", got)
	}
}

func TestCell(t *testing.T) {
	for _, tt := range []struct{ json, cell string }{
		{`{"S": "plain"}`, `plain`},
		{`{"S": "two words"}`, `two words`},
		{`{"S": ""}`, `""`},
		{`{"S": " x"}`, `" x"`},
		{`{"S": "a\u0000b"}`, `"a\x00b"`},
		{`{"S": "line\nline"}`, `"line\nline"`},
		{`{"N": "1e3"}`, `1000`},
		{`{"B": "AP8="}`, `0x00ff`},
		{`{"BOOL": false}`, `false`},
		{`{"NULL": true}`, `null`},
		{`{"L": [{"S": "a"}, {"N": "1"}]}`, `["a", 1]`},
		{`{"SS": ["b", "a"]}`, `<"a", "b">`},
		{`{"M": {"a b": {"S": "x"}, "n": {"N": "1"}}}`, "{`a b`: \"x\", n: 1}"},
	} {
		v, err := attr.ParseValue([]byte(tt.json))
		if err != nil {
			t.Fatal(err)
		}
		if got := show.Cell(v); got != tt.cell {
			t.Errorf("Cell(%s) = %s, want %s", tt.json, got, tt.cell)
		}
	}
	if got := show.Cell(attr.Value{}); got != "" {
		t.Errorf("Cell of no value = %q", got)
	}
}
