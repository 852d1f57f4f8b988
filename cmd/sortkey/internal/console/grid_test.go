package console_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/sortkeytest"
)

var (
	headers  = regexp.MustCompile(`<th scope="col" data-column="([^"]*)"( class="[^"]*")?`)
	rowCells = regexp.MustCompile(`(?s)<tr class="e[0-9n]+" data-sum="[^"]*">(.*?)</tr>`)
	tags     = regexp.MustCompile(`<[^>]*>`)
)

// columnsOf returns the names of the columns of a page, with hidden columns in parentheses.
func columnsOf(page string) (all []string) {
	for _, m := range headers.FindAllStringSubmatch(page, -1) {
		name, _ := url.QueryUnescape(html.UnescapeString(m[1]))
		if strings.Contains(m[2], "off") {
			name = "(" + name + ")"
		}
		all = append(all, name)
	}
	return all
}

// gridText returns the text of the rows of a page.
func gridText(page string) (all []string) {
	for _, m := range rowCells.FindAllStringSubmatch(page, -1) {
		cells := strings.Split(strings.ReplaceAll(m[1], "</summary>", " "), "</td>")
		for i, cell := range cells {
			cells[i] = html.UnescapeString(tags.ReplaceAllString(cell, ""))
		}
		all = append(all, strings.Join(cells[:len(cells)-1], "|"))
	}
	return all
}

// TestGridColumns tests which columns a page has, and in which order.
func TestGridColumns(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.db.Table("Tab", "PK / SK", sortkeytest.Global("ByDay", "day / SK"))
	c.db.Put("Tab", map[string]any{"PK": "p", "SK": "1", "day": "x", "b": 1, "a10": 2})
	c.db.Put("Tab", map[string]any{"PK": "p", "SK": "2", "day": "x", "b": 1, "a9": 2, "a10": 3})
	require.Equal(t, []string{"PK", "SK", "a10", "b", "day", "a9"}, columnsOf(c.page("table?name=Tab")))
	require.Equal(t, []string{"day", "SK", "PK", "a10", "b", "a9"}, columnsOf(c.page("table?name=Tab&index=ByDay")))
	require.Equal(t, []string{"(PK)", "SK", "a10", "b", "day", "a9"}, columnsOf(c.page("collection?name=Tab&partition=p")))

	wide := map[string]any{"PK": "w", "SK": "1", strings.Repeat("n", 300): 1}
	for i := range 200 {
		wide[fmt.Sprintf("attribute%d", i)] = i
	}
	c.db.Table("Wide", "PK / SK")
	c.db.Put("Wide", wide)
	page := c.page("table?name=Wide")
	names := columnsOf(page)
	require.Len(t, names, 26)
	require.Equal(t, []string{"PK", "SK", "attribute0"}, names[:3])
	require.Equal(t, []string{"attribute9", "(attribute10)"}, names[11:13])
	require.Contains(t, page, "177 attributes more, which only an item shows")
}

// TestGridCells tests how cells show values of all kinds: short values whole, and long ones cut, with their length.
func TestGridCells(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.db.Table("Tab", "id")
	for i, value := range []string{
		`{"S": "text"}`, `{"S": ""}`, `{"S": "` + strings.Repeat("é", 500) + `"}`, `{"N": "12.50"}`, `{"B": "AP8="}`,
		`{"B": "` + strings.Repeat("AAAA", 40) + `"}`, `{"BOOL": true}`, `{"NULL": true}`, `{"SS": ["b", "a"]}`,
		`{"L": [{"N": "1"}, {"S": "x"}]}`, `{"M": {"city": {"S": "Oslo"}}}`,
		`{"M": {"street": {"S": "` + strings.Repeat("s", 50) + `"}, "city": {"S": "Oslo"}}}`,
		`{"L": [` + strings.Repeat(`{"S": "`+strings.Repeat("y", 50)+`"},`, 999) + `{"N": "1"}]}`,
	} {
		c.db.PutJSON("Tab", fmt.Appendf(nil, `{"id": {"S": "%02d"}, "value": %s}`, i, value))
	}
	got := strings.Join(gridText(c.page("table?name=Tab")), "\n")
	for _, want := range []string{
		"00|text|", `01|""|`, "02|" + strings.Repeat("é", 80) + " 500 characters|", "03|12.5|", "04|0x00ff|",
		"05|0x" + strings.Repeat("00", 40) + "… 120 bytes|", "06|true|", "07|null|", `08|<"a", "b">|`, `09|[1, "x"]|`,
		`10|{city: "Oslo"}|`,
		`11|{2} {city: "Oslo", street: "sssssssssss… {city: "Oslo", street: "` + strings.Repeat("s", 50) + `"}|`,
		`12|[1,000] 49.8 KB ["` + strings.Repeat("y", 33) + `…`,
	} {
		require.Contains(t, got, want)
	}
}

// TestGridRanks tests that the ranks of a column, by which the browser sorts, follow the order of its values.
func TestGridRanks(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.db.Table("Tab", "id:N")
	for i, value := range []string{
		`{"N": "10"}`, `{"N": "9"}`, `{"N": "-1e30"}`, `{"N": "12345678901234567890123456789012345678"}`, `{"N": "9.0"}`,
		`{"N": "12345678901234567890123456789012345679"}`, `{"S": "a"}`,
	} {
		c.db.PutJSON("Tab", fmt.Appendf(nil, `{"id": {"N": "%d"}, "value": %s}`, i, value))
	}
	c.db.PutJSON("Tab", []byte(`{"id": {"N": "7"}}`))
	ranks := map[string]string{}
	for _, m := range regexp.MustCompile(`<td class="[ns]" data-r="(\d+)">([^<]*)</td><td class="n muted"`).
		FindAllStringSubmatch(c.page("table?name=Tab"), -1) {
		ranks[m[2]] = m[1]
	}
	require.Equal(t, map[string]string{
		"a": "1", "-1000000000000000000000000000000": "2", "9": "3", "10": "4",
		"12345678901234567890123456789012345678": "5", "12345678901234567890123456789012345679": "6",
	}, ranks, "strings are before numbers")
}

// link returns the address of the part of the rows that a page's link with a name leads to, or "".
func link(page, name string) string {
	m := regexp.MustCompile(`href="([^"]*)" data-page="` + name + `"`).FindStringSubmatch(page)
	if m == nil {
		return ""
	}
	return html.UnescapeString(m[1])
}

// TestGridPages follows the links through all rows of a partition, and then to the next partitions.
func TestGridPages(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.db.Table("Tab", "PK / SK:N", sortkeytest.Global("Swapped", "group:N / PK"))
	for i := range 250 {
		c.db.Put("Tab", map[string]any{"PK": "one", "SK": i, "group": i / 25})
	}
	for i := range 5 {
		c.db.Put("Tab", map[string]any{"PK": fmt.Sprint("p", i), "SK": i, "group": i})
	}
	for _, order := range []string{"", "&order=descending"} {
		page := c.page("collection?name=Tab&partition=one" + order)
		var pages [][]string
		for {
			pages = append(pages, gridText(page))
			at := link(page, "next")
			if at == "" {
				break
			}
			page = c.page(at)
		}
		require.Len(t, pages, 3)
		require.Len(t, pages[2], 50)
		require.Equal(t, pages[0], gridText(c.page(link(page, "first"))))
	}

	page := c.page("collection?name=Tab&partition=one&sort=" + url.QueryEscape("between 7 and 9"))
	require.Len(t, gridText(page), 3)

	seen := map[string]bool{}
	for _, index := range []string{"", "Swapped"} {
		for page := c.page("table?name=Tab&index=" + index); ; {
			partitions := links(page, collections)
			if len(partitions) == 0 {
				require.Contains(t, page, "There are no more rows.")
				break
			}
			require.False(t, seen[partitions[0]], partitions[0])
			seen[partitions[0]] = true
			page = c.page(link(c.page(partitions[0]), "next-partition"))
		}
	}
	require.Len(t, seen, 6+10)

	// In the table, the link to the next partition skips the rest of a large partition.
	at := "table?name=Tab"
	pages := 0
	for ; at != ""; pages++ {
		page := c.page(at)
		if at = link(page, "next-partition"); at == "" {
			at = link(page, "next")
		}
	}
	require.LessOrEqual(t, pages, 2)
}

// TestGridFilter checks that a filter applies to the rows that the page reads, and that the page shows an error in
// the filter.
func TestGridFilter(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.fill()
	filtered := func(path, filter string) string { return c.page(path + "&filter=" + url.QueryEscape(filter)) }
	page := filtered("table?name=Shop", "total > 27")
	require.Len(t, gridText(page), 2)
	require.Contains(t, page, "The filter was applied to 32 rows: 0.5 read units, and 2 rows met it.")
	require.Len(t, gridText(filtered("collection?name=Shop&partition=CUSTOMER%23c1", "total > 27 OR name = 'Ada'")), 3)
	for i := range 150 {
		c.db.Put("Shop", map[string]any{"PK": "MANY", "SK": fmt.Sprint(i), "many": i})
	}
	page = filtered("collection?name=Shop&partition=MANY", "many > 9")
	require.Len(t, gridText(page), 100)
	require.Contains(t, page, "The filter was applied to 150 rows: 0.5 read units, and 140 rows met it, of which 100 are shown.")
	page = filtered("collection?name=Shop&partition=CUSTOMER%23c1", "total > 1000")
	require.Contains(t, page, "None of the rows that were read meets the filter. Change the filter")
	for _, wrong := range []string{"total >", "total > 'x", "PK = 'x'", "<script>"} {
		page = filtered("collection?name=Shop&partition=CUSTOMER%23c1", wrong)
		require.Contains(t, page, `role="alert"`, wrong)
		require.Contains(t, page, html.EscapeString(wrong), "it stays in its field")
		require.NotRegexp(t, `#n1|:v1`, page[strings.Index(page, `role="alert"`):][:300])
	}
	require.Contains(t, c.page("collection?name=Shop&partition=a&sort="+url.QueryEscape("<> x")), "sort condition cannot be")
}

// TestGridFold tests that all forms above the rows are inside the element that a narrow window folds. Without a
// script that element must be open.
func TestGridFold(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.fill()
	for _, path := range []string{"table?name=Shop", "collection?name=Shop&partition=CUSTOMER%23c1"} {
		_, page, found := strings.Cut(c.page(path), `<details id="above" open="open">`)
		require.True(t, found, path)
		above, after, found := strings.Cut(page, "</details>\n<section id=\"items\"")
		require.True(t, found, path)
		for _, id := range []string{"key-box", "find", "filter-rows", "columns", "find-cost"} {
			require.Contains(t, above, ` id="`+id+`"`, path)
		}
		require.Contains(t, above, `class="legend"`)
		require.Less(t, strings.Index(after, ` id="grid"`), strings.Index(after, `id="query"`), path)
	}
	_, style := c.do(http.MethodGet, "page.css", "")
	require.Contains(t, style, "@media (min-width: 761px) { #above > summary { display: none; } }")
}

// TestGridFilterOn reads further rows with a filter that few rows meet. Like the script of a page, it asks for the
// number of rows that the page still needs. It tests that each row appears once, and that the pages show the units of
// all reads.
func TestGridFilterOn(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.db.Table("Tab", "PK / SK:N")
	const n, full = 400, 100
	for i := range n {
		it := map[string]any{"PK": "p", "SK": i, "pad": strings.Repeat("x", 9_000)}
		if i%2 == 0 {
			it["even"] = i
		}
		c.db.Put("Tab", it)
	}
	read := regexp.MustCompile(`id="filter-read" data-examined="(\d+)" data-units="([0-9.]+)"`)
	for _, path := range []string{"table?name=Tab", "collection?name=Tab&partition=p"} {
		var all []bulkRow
		examined, units := 0, 0.0
		at := path + "&filter=" + url.QueryEscape("even >= 0")
		for at != "" {
			lacks := full - len(all)%full
			page := c.page(at + "&rows=" + fmt.Sprint(lacks))
			rows := rowsOf(t, page)
			require.LessOrEqual(t, len(rows), lacks)
			all = append(all, rows...)
			m := read.FindStringSubmatch(page)
			require.Len(t, m, 3)
			more, err := strconv.Atoi(m[1])
			require.NoError(t, err)
			cost, err := strconv.ParseFloat(m[2], 64)
			require.NoError(t, err)
			examined, units = examined+more, units+cost
			at = link(page, "next")
		}
		require.Len(t, all, n/2, path)
		require.Len(t, slices.Compact(slices.Clone(all)), n/2, path)
		require.GreaterOrEqual(t, examined, n)
		require.InEpsilon(t, float64(examined)*9_020/8192, units, 0.01)
	}

	// A page without rows still has the table to which the script adds rows.
	page := c.page("table?name=Tab&filter=" + url.QueryEscape("even < 0"))
	require.Equal(t, []string{"PK", "SK"}, columnsOf(page))
	require.Contains(t, page, "None of the rows that were read meets the filter. Go on with the next rows.")
	require.NotEmpty(t, link(page, "next"))
	for _, wrong := range []string{"0", "-1", "101", "x"} {
		require.Len(t, rowsOf(t, c.page("table?name=Tab&filter="+url.QueryEscape("SK >= 0")+"&rows="+wrong)), full)
	}
}
