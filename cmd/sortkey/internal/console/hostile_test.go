package console_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/sortkeytest"
)

// The links of pages, and the text of an item.
var (
	collections = regexp.MustCompile(`href="(collection\?[^"]*)"`)
	items       = regexp.MustCompile(`href="(item\?key=[^"]*)"`)
	sums        = regexp.MustCompile(`data-sum="([^"]+)"`)
	textarea    = regexp.MustCompile(`(?s)<textarea[^>]*>(.*)</textarea>`)
)

// links returns the addresses in a page that match a pattern, each once.
func links(page string, pattern *regexp.Regexp) (all []string) {
	seen := map[string]bool{}
	for _, m := range pattern.FindAllStringSubmatch(page, -1) {
		if at := html.UnescapeString(m[1]); !seen[at] && !strings.Contains(at, "after=") {
			seen[at] = true
			all = append(all, at)
		}
	}
	return all
}

// hostileKeys are keys that a page, an address or the parser of conditions could mistake for something else.
var hostileKeys = []string{
	"a", "a, b", "a,b", `'`, `''`, `"`, `"a"`, `'a'`, `a'b"c`, " a", "a ", " ", "\n", "a\nb", "\x00", "\x01\x7f", "*", "a*",
	"= a", "< 5", ">", "between a and b", "begins_with x", "SK > 5", "a#b", "0x00", "42", "-1e5", "&=?#/+%", "%41",
	"<script>alert(1)</script>", "\u202eabc", "日本語", "\U0001f600", `\`, `\n`, "`", "{{.}}", "null", "true", "..", "../x",
	strings.Repeat("k", 1000), strings.Repeat("\x01", 300), strings.Repeat("日", 340),
}

// TestHostileKeys follows the links of the pages to items with hostile keys, and writes each item.
func TestHostileKeys(t *testing.T) {
	t.Parallel()
	c := start(t)
	texts := hostileKeys
	numbers := []string{
		"0", "-1", "0.1", "1e125", "-9.9999999999999999999999999999999999999e125", "1e-130",
		"12345678901234567890123456789012345678",
	}
	c.db.Table("Texts", "PK / SK", sortkeytest.Global("Swapped", "SK / PK"))
	c.db.Table("Numbers", "PK:N / SK:N")
	c.db.Table("Bytes", "PK:B / SK:B")
	want := map[string]int{}
	put := func(table, kind string, values []string) {
		for i, v := range values {
			other := values[(i+1)%len(values)]
			c.db.PutJSON(table, fmt.Appendf(
				nil, `{"PK": {"%s": %s}, "SK": {"%s": %s}}`, kind, quoted(kind, v), kind, quoted(kind, other),
			))
			want[table]++
		}
	}
	put("Texts", "S", texts)
	put("Numbers", "N", numbers)
	put("Bytes", "B", append(slices.Clone(texts), "\xff", "\xff\xff\xfe", "\xc3\x28"))

	for _, place := range []string{"name=Texts", "name=Texts&index=Swapped", "name=Numbers", "name=Bytes"} {
		found := map[string]bool{}
		require.Len(t, links(c.page("table?"+place), items), want[strings.TrimPrefix(strings.Split(place, "&")[0], "name=")], place)
		for _, at := range links(c.page("table?"+place), collections) {
			rows := links(c.page(at), items)
			require.NotEmpty(t, rows, "%s leads to no row", at)
			for _, at := range rows {
				require.False(t, found[at], "twice: %s", at)
				found[at] = true
				page := c.page(at)
				body, err := json.Marshal(map[string]any{
					"Sum": sums.FindStringSubmatch(page)[1], "Is": html.UnescapeString(textarea.FindStringSubmatch(page)[1]),
				})
				require.NoError(t, err)
				status, text := c.do("POST", "put"+strings.TrimPrefix(at, "item"), string(body))
				require.Equal(t, http.StatusOK, status, "%s: %s", at, text)
			}
		}
		table := strings.TrimPrefix(strings.Split(place, "&")[0], "name=")
		require.Len(t, found, want[table], place)
	}
}

func quoted(kind, v string) string {
	if kind == "B" {
		v = base64.StdEncoding.EncodeToString([]byte(v))
	}
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// TestPartitionsOfTwoAttributes tests that the console distinguishes partitions whose keys look the same as text.
func TestPartitionsOfTwoAttributes(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.db.Table("Tab", "PK", sortkeytest.Global("ByBoth", "a, b / PK"))
	c.db.Put("Tab", map[string]any{"PK": "1", "a": "x, y", "b": "z"})
	c.db.Put("Tab", map[string]any{"PK": "2", "a": "x", "b": "y, z"})
	page := c.page("table?name=Tab&index=ByBoth")
	require.Len(t, links(page, collections), 2)
}

// TestBranchesAtOnce begins, reads, keeps and discards branches concurrently.
func TestBranchesAtOnce(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.fill()
	query := url.Values{"name": {"Shop"}, "space": {"1"}, "partition": {"CUSTOMER#c1"}}.Encode()
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			_, at := c.do("POST", "branches", "")
			n := strings.Trim(strings.TrimPrefix(at, "branch/"), "/")
			end := "discard"
			if i%2 == 0 {
				end = "keep"
			}
			var inside sync.WaitGroup
			for range 4 {
				inside.Go(func() {
					for _, path := range []string{at + "query?" + query, at + "table?name=Shop", "branches"} {
						status, text := c.do("GET", path, "")
						if status >= http.StatusInternalServerError {
							require.Contains(t, text, "closed", path)
						}
					}
				})
				inside.Go(func() { c.do("POST", "branches/"+n+"/"+end, "") })
			}
			inside.Wait()
		})
	}
	wg.Wait()
	require.Contains(t, c.page("branches"), "There are no branches")
}

// TestDamagedRequests checks that the answers to damaged addresses and bodies describe the error without Go types.
func TestDamagedRequests(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.db.Table("Plain", "id")
	for _, tt := range []struct{ method, path, body, want string }{
		{"GET", "item?name=Plain&key=%zz", "", `the address is damaged: invalid URL escape "%zz"`},
		{"GET", "table?name=Plain;index=x", "", "the address is damaged: invalid semicolon separator in query"},
		{"GET", "item?name=Plain&key=!", "", "the address is damaged: illegal base64 data"},
		{"GET", "item?name=Plain&key=bnVsbA", "", "the address is damaged: it names an item without a key"},
		{"GET", "item?name=Plain&key=e30", "", "the address is damaged: it names an item without a key"},
		{"POST", "put?name=Plain", `[1]`, "the change is a JSON array; send an object"},
		{"POST", "put?name=Plain", `"x"`, "the change is a JSON string; send an object"},
		{"POST", "put?name=Plain", `{"Is": 1}`, "the change has a number as its member Is"},
		{"POST", "bulk-delete?name=Plain", `[1]`, "the change is a JSON array; send an object"},
		{"POST", "bulk-delete?name=Plain", `{"Rows": "x"}`, "the change has a string as its member Rows"},
		{"POST", "bulk-delete?name=Plain", `{`, "the change cannot be read: unexpected end of JSON input"},
		{"POST", "bulk-delete?name=Plain", ``, "the change is empty; send an object"},
		{"POST", "put?name=Plain", `{"Is":"{\"id\":{\"S\":\"a\"}}"} }{`, "the change cannot be read: invalid character '}'"},
		{"POST", "put?name=Plain", `{"Is":"{\"id\":{\"S\":\"b` + "\xff" + `\"}}"}`, "the change is not UTF-8"},
		{"POST", "put?name=Plain", strings.Repeat(" ", 9<<20), "MB; change less at once"},
	} {
		status, text := c.do(tt.method, tt.path, tt.body)
		require.Equal(t, http.StatusBadRequest, status, tt.path)
		require.Contains(t, text, tt.want, tt.path)
	}
}
