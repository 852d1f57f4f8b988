package console_test

import (
	"encoding/base64"
	"encoding/json"
	"html"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/sortkeytest"
)

// TestPlain edits items as plain JSON. Values that nobody touches keep their types, and new values take the types of
// those that they replace.
func TestPlain(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.db.Table("Tab", "id:B", sortkeytest.Global("ByHash", "hash:B"))
	where := "?name=Tab&key=" + base64.RawURLEncoding.EncodeToString([]byte(`{"id":{"B":"AP8="}}`))
	for _, tt := range []struct{ was, old, new, want string }{
		{`"tags": {"SS": ["a", "b"]}`, `"b"`, `"c", "d"`, `"tags": {"SS": ["a", "c", "d"]}`},
		{`"tags": {"SS": ["a", "b"]}`, `"b"`, `1`, `"tags": {"L": [{"S": "a"}, {"N": "1"}]}`},
		{`"tags": {"SS": ["a"]}`, `"a"`, ``, `"tags": {"L": []}`},
		{`"ns": {"NS": ["1", "12345678901234567890123456789012345678"]}`, `12345678901234567890123456789012345678`, `2.50`, `"ns": {"NS": ["1", "2.5"]}`},
		{`"bs": {"BS": ["AA==", "AP8="]}`, `"AP8="`, `"AAAA"`, `"bs": {"BS": ["AA==", "AAAA"]}`},
		{`"b": {"B": "AP8="}`, `"b": "AP8="`, `"b": "AAAA"`, `"b": {"B": "AAAA"}`},
		{`"b": {"B": "AP8="}`, `"b": "AP8="`, `"b": "not base64"`, `"b": {"S": "not base64"}`},
		{`"m": {"M": {"b": {"B": "AP8="}, "s": {"S": "AP8="}}}`, `"s": "AP8="`, `"s": "AAAA"`, `"m": {"M": {"b": {"B": "AP8="}, "s": {"S": "AAAA"}}}`},
		{`"l": {"L": [{"B": "AP8="}]}`, `"l": [`, `"l": ["AAAA",`, `"l": {"L": [{"B": "AAAA"}, {"B": "AP8="}]}`},
		{`"m": {"M": {"S": {"S": "x"}}}`, `"x"`, `"y"`, `"m": {"M": {"S": {"S": "y"}}}`},
		{`"S": {"S": "x"}`, `"x"`, `"y"`, `"S": {"S": "y"}`},
		{`"nothing": {"NULL": true}, "yes": {"BOOL": true}`, `true`, `false`, `"nothing": {"NULL": true}, "yes": {"BOOL": false}`},
		{`"n": {"N": "1"}`, `"n": 1`, `"n": 1, "hash": "AP8="`, `"n": {"N": "1"}, "hash": {"B": "AP8="}`},
	} {
		c.db.PutJSON("Tab", []byte(`{"id": {"B": "AP8="}, `+tt.was+`}`))
		page := c.page("item" + where)
		is := html.UnescapeString(textarea.FindStringSubmatch(page)[1])
		send := func(path, is string, plain bool) string {
			body, err := json.Marshal(map[string]any{"Sum": sums.FindStringSubmatch(page)[1], "Is": is, "Plain": plain, "To": map[bool]string{true: "typed", false: "plain"}[plain]})
			require.NoError(t, err)
			status, text := c.do(http.MethodPost, path+where, string(body))
			require.Equal(t, http.StatusOK, status, text)
			return text
		}
		require.NotContains(t, page, `id="typed" checked`)
		require.Contains(t, send("preview", is, true), "Nothing changes", tt.was)
		require.JSONEq(t, `{"id": {"B": "AP8="}, `+tt.was+`}`, send("convert", is, true))
		require.Contains(t, strings.Join(strings.Fields(is), " "), strings.TrimSpace(tt.old), "%+v", tt)
		compact := strings.Join(strings.Fields(is), " ")
		send("put", strings.Replace(compact, tt.old, tt.new, 1), true)
		page = c.page("item" + where)
		require.Equal(t, sum(t, `{"id": {"B": "AP8="}, `+tt.want+`}`), sums.FindStringSubmatch(page)[1], "%+v", tt)
	}
}

// TestPlainLists holds that a list that changes its length keeps the types of its values, or is refused.
func TestPlainLists(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.db.Table("Tab", "id")
	where := "?name=Tab&key=" + base64.RawURLEncoding.EncodeToString([]byte(`{"id":{"S":"a"}}`))
	for _, tt := range []struct{ was, is, want string }{
		{`[{"S": "AAAA"}, {"N": "1"}]`, `[1]`, `[{"N": "1"}]`},
		{`[{"B": "AAAA"}, {"B": "AP8="}]`, `["AP8="]`, `[{"B": "AP8="}]`},
		{`[{"SS": ["a"]}, {"SS": ["b"]}]`, `[["b"]]`, `[{"SS": ["b"]}]`},
		{`[{"B": "AAAA"}, {"S": "AP8="}]`, `["AP8="]`, ``},
		{`[{"B": "AAAA"}, {"S": "AP8="}]`, `["AP8=", "x"]`, `[{"B": "AP8="}, {"S": "x"}]`},
		{`[{"L": []}, {"SS": ["b"]}]`, `[["b"]]`, ``},
		{`[{"M": {"b": {"B": "AAAA"}}}, {"M": {"b": {"B": "AP8="}}}]`, `[{"b": "AP8="}]`, `[{"M": {"b": {"B": "AP8="}}}]`},
		{`[{"M": {"b": {"B": "AAAA"}}}, {"M": {"b": {"S": "AP8="}}}]`, `[{"b": "AP8="}]`, ``},
		{`[{"M": {"l": {"L": [{"B": "AAAA"}, {"S": "x"}]}}}]`, `[{"l": ["x"]}]`, ``},
	} {
		c.db.PutJSON("Tab", []byte(`{"id": {"S": "a"}, "list": {"L": `+tt.was+`}}`))
		page := c.page("item" + where)
		body, err := json.Marshal(map[string]any{
			"Sum": sums.FindStringSubmatch(page)[1], "Is": `{"id": "a", "list": ` + tt.is + `}`, "Plain": true,
		})
		require.NoError(t, err)
		status, text := c.do(http.MethodPost, "put"+where, string(body))
		if tt.want == "" {
			require.Equal(t, http.StatusBadRequest, status, tt.was)
			require.Contains(t, text, "list has a list that changes its length")
			require.Contains(t, text, "switch to DynamoDB JSON")
			continue
		}
		require.Equal(t, http.StatusOK, status, text)
		want := sum(t, `{"id": {"S": "a"}, "list": {"L": `+tt.want+`}}`)
		require.Equal(t, want, sums.FindStringSubmatch(c.page("item" + where))[1], tt.was)
	}
}

// TestConvert switches an item as it is to be to plain JSON, which is refused if a put of that would write other types.
func TestConvert(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.db.Table("Tab", "id")
	c.db.PutJSON("Tab", []byte(`{"id": {"S": "a"}, "tags": {"SS": ["x", "y"]}, "b": {"B": "YWJj"}}`))
	where := "?name=Tab&key=" + base64.RawURLEncoding.EncodeToString([]byte(`{"id":{"S":"a"}}`))
	page := c.page("item" + where)
	for _, tt := range []struct {
		is     string
		status int
	}{
		{`"tags": {"SS": ["z"]}, "b": {"B": "AAAA"}`, http.StatusOK},
		{`"new": {"S": "x"}`, http.StatusOK},
		{`"new": {"SS": ["x"]}`, http.StatusBadRequest},
		{`"new": {"B": "AAEC"}`, http.StatusBadRequest},
		{`"tags": {"L": [{"S": "x"}, {"S": "y"}]}`, http.StatusBadRequest},
		{`"b": {"S": "YWJj"}`, http.StatusBadRequest},
	} {
		body, err := json.Marshal(map[string]any{"Sum": sums.FindStringSubmatch(page)[1], "Is": `{"id": {"S": "a"}, ` + tt.is + `}`, "To": "plain"})
		require.NoError(t, err)
		status, text := c.do(http.MethodPost, "convert"+where, string(body))
		require.Equal(t, tt.status, status, "%s: %s", tt.is, text)
		if status != http.StatusOK {
			require.Contains(t, text, "plain JSON cannot say the types of this item")
		}
	}
}

// TestDifferences holds what a preview says of a change: paths, and of long values the place where they differ.
func TestDifferences(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.db.Table("Tab", "id")
	long := strings.Repeat("é", 300)
	c.db.Put("Tab", map[string]any{
		"id": "a", "m": map[string]any{"city": "Oslo", "code": 154}, "l": []any{1, 2, 3}, "grown": []any{1}, "long": long + "x" + long, "n": 1, "gone": true,
	})
	where := "?name=Tab&key=" + base64.RawURLEncoding.EncodeToString([]byte(`{"id":{"S":"a"}}`))
	page := c.page("item" + where)
	is := `{"id": "a", "m": {"city": "Bergen", "code": 154}, "l": [1, 7, 3], "grown": [1, 2], "long": "` + long + "y" + long + `", "n": "1", "new<b>": "\u202e"}`
	body, err := json.Marshal(map[string]any{"Sum": sums.FindStringSubmatch(page)[1], "Is": is, "Plain": true})
	require.NoError(t, err)
	status, text := c.do(http.MethodPost, "preview"+where, string(body))
	require.Equal(t, http.StatusOK, status, text)
	var got []string
	for _, row := range strings.Split(text, "<tr>")[2:] {
		row, _, _ = strings.Cut(row, "</tr>")
		got = append(got, strings.Join(strings.Fields(html.UnescapeString(tags.ReplaceAllString(row, " "))), " "))
	}
	near := strings.Repeat("é", 12)
	require.Equal(t, []string{
		`gone true none`, `grown [1] [1, 2]`, `l[1] 2 7`,
		`long …` + near + `x` + strings.Repeat("é", 106) + `… …` + near + `y` + strings.Repeat("é", 106) + `…`,
		`m.city "Oslo" "Bergen"`, `n 1 (N) "1" (S)`, "`new<b>` none \"\\u202e\"",
	}, got)
}
