package tests_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/internal/text"
)

func TestLiteral(t *testing.T) {
	for json, want := range map[string]string{
		`{"S":"a\"b\u0007"}`:                   `"a\"b\a"`,
		`{"N":"1e3"}`:                          `1000`,
		`{"B":"AP8="}`:                         `0x00ff`,
		`{"BOOL":true}`:                        `true`,
		`{"NULL":true}`:                        `null`,
		`{"L":[{"N":"1"},{"S":"x"}]}`:          `[1, "x"]`,
		`{"SS":["b","a"]}`:                     `<"a", "b">`,
		`{"M":{"a b":{"S":"x"},"c":{"L":[]}}}`: "{`a b`: \"x\", c: []}",
	} {
		v, err := attr.ParseValue([]byte(json))
		require.NoError(t, err)
		require.Equal(t, want, text.Literal(v), json)
	}
	require.Empty(t, text.Literal(attr.Value{}))
}

func TestNames(t *testing.T) {
	for in, want := range map[string]string{
		"PK": "PK", "a_1": "a_1", "": "``", "1a": "`1a`", "a-b": "`a-b`", "a\x1b[2J": "`a\\x1b[2J`", "\xff": "`\\xFF`",
		`a"b`: "`a\"b`",
	} {
		require.Equal(t, want, text.Name(in))
	}
}

func TestQuoteIsPrintable(t *testing.T) {
	require.Equal(t, `"\xFF\x00é"`, text.Quote([]byte("\xff\x00é")))
	proptest.Check(t, 200, func(t *proptest.T) {
		for _, c := range []byte(text.Quote(t.Bytes(0, 30))) {
			require.True(t, c >= ' ' && c != 0x7f)
		}
	})
}

func TestCounts(t *testing.T) {
	for got, want := range map[string]string{
		text.Count(1, "row"):                      "1 row",
		text.Count(0, "row"):                      "0 rows",
		text.Count(int64(-1234567), "query"):      "-1,234,567 queries",
		text.Count(2, "key"):                      "2 keys",
		text.Count(2, "index"):                    "2 indexes",
		text.Amount("1", "read unit"):             "1 read unit",
		text.Amount("0.5", "read unit"):           "0.5 read units",
		text.Agree(1, "is", "are"):                "is",
		text.Agree(0, "is", "are"):                "are",
		text.Thousands(999):                       "999",
		text.Thousands(uint64(1 << 63)):           "9,223,372,036,854,775,808",
		text.Figure(0.012345):                     "0.0123",
		text.Figure(12.345):                       "12.3",
		text.Figure(12345.6):                      "12,346",
		text.Figure(999.7):                        "1,000",
		text.Size(1):                              "1 byte",
		text.Size(9_999):                          "9,999 bytes",
		text.Size(10 << 10):                       "10 KB",
		text.Size(1<<20 - 1):                      "1 MB",
		text.Size(59176.1 * (1 << 20)):            "57.8 GB",
		text.Size(int64(1) << 62):                 "4096 PB",
		text.Percent(0.0001):                      "less than 0.1%",
		text.Percent(1):                           "100%",
		text.Join([]string{"a", "b", "c"}, "and"): "a, b and c",
		text.Join([]string{"a"}, "or"):            "a",
	} {
		require.Equal(t, want, got)
	}
}

func TestNearest(t *testing.T) {
	known := []string{"status", "total", "created_at"}
	for name, want := range map[string]string{"Status": "status", "statsu": "status", "totl": "total", "price": ""} {
		got, ok := text.Nearest(name, known)
		require.Equal(t, want, got)
		require.Equal(t, want != "", ok)
	}
	require.Equal(t, "did you mean status?", text.DidYouMean("staus", known))
	require.Equal(t, "known names: status, total, created_at", text.DidYouMean("price", known))
	require.Empty(t, text.DidYouMean("x", nil))
}

func TestVisible(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"plain ä 日本", "plain ä 日本"},
		{"two\nlines\there", "two lines here"},
		{"a\x00b\x1b[31m", `a\u{0000}b\u{001B}[31m`},
		{"x\u202exe.txt", `x\u{202E}xe.txt`},
		{"a\xffb", `a\xFFb`},
		{"\U000E0041", `\u{E0041}`},
		{"\ufffd\u00a0", "\ufffd\u00a0"},
	} {
		require.Equal(t, tt.want, text.Visible(tt.in))
	}
	require.Equal(t, "two\nlines\there \\u{0007}", text.VisibleLines("two\nlines\there\r\a"))
}

// TestPattern checks that an expression is compiled on the first use, and only once.
func TestPattern(t *testing.T) {
	wrong := text.Pattern(`(`)
	require.Panics(t, func() { wrong() })
	right := text.Pattern(`^a+$`)
	require.True(t, right().MatchString("aa"))
	require.Same(t, right(), right())
}

// TestNatural checks the natural order of pairs of texts, in both directions.
func TestNatural(t *testing.T) {
	for _, tt := range [][2]string{
		{"9", "10"}, {"10.0.0.9", "10.0.0.10"}, {"2026-W9", "2026-W10"}, {"v1.9.0", "v1.10.0"}, {"", "a"}, {"a", "a1"},
		{"a", "b"}, {"007", "8"}, {"a9b", "a9c"}, {"a", "é"},
	} {
		require.Equal(t, -1, text.CompareNatural(tt[0], tt[1]), tt)
		require.Equal(t, 1, text.CompareNatural(tt[1], tt[0]), tt)
	}
	require.Equal(t, 0, text.CompareNatural("W9", "W9"))
}
