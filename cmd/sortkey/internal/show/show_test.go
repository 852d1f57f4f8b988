package show_test

import (
	"strings"
	"testing"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/show"
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
