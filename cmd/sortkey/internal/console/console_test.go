package console_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/console"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/sortkeytest"
)

// A client requests pages of the console in a test.
type client struct {
	*testing.T
	db  *sortkeytest.DB
	url string
}

func start(t *testing.T) *client {
	t.Helper()
	db := sortkeytest.New(t)
	recorder := console.NewRecorder()
	t.Cleanup(db.DB.Observe(recorder))
	s := console.New(console.Options{
		Target: explain.InProcess(db.DB), Name: "a test", Requests: recorder, DB: db.DB,
	})
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	server := httptest.NewServer(quiet(s.Handler()))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return &client{t, db, server.URL}
}

// browser has its own transport, because the closing server of another test also closes connections of the default
// transport.
var browser = &http.Client{Transport: &http.Transport{}}

func (c *client) do(method, path, body string) (status int, text string) {
	c.Helper()
	req, err := http.NewRequestWithContext(c.Context(), method, c.url+"/"+path, strings.NewReader(body))
	require.NoError(c, err)
	resp, err := browser.Do(req)
	require.NoError(c, err)
	return resp.StatusCode, c.read(resp)
}

// read reads a response.
func (c *client) read(resp *http.Response) string {
	c.Helper()
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(c, err)
	return string(data)
}

// sum returns the sum that the console computes for an item, from the item's DynamoDB JSON.
func sum(t *testing.T, text string) string {
	t.Helper()
	if text == "" {
		return ""
	}
	it, err := attr.ParseItem([]byte(text))
	require.NoError(t, err)
	hash := sha256.Sum256(it)
	return base64.RawURLEncoding.EncodeToString(hash[:12])
}

// foreign are patterns that no page may match, because its content security policy forbids them. Each pattern begins
// with literal text, because package regexp finds several such patterns in a large page far faster than one
// alternation.
var foreign = []*regexp.Regexp{
	regexp.MustCompile(`<script>`), regexp.MustCompile(`<script [^s]`), regexp.MustCompile(`style="`),
	regexp.MustCompile(`<style`), regexp.MustCompile(` on[a-z]+="`),
}

// page returns a page. It tests that the page has no inline script or style, and nothing invisible.
func (c *client) page(path string) string {
	c.Helper()
	status, text := c.do("GET", path, "")
	require.Equal(c, http.StatusOK, status, text)
	require.NotContains(c, text, "ZgotmplZ")
	for _, r := range foreign {
		require.NotRegexp(c, r, text)
	}
	for _, r := range text {
		if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
			c.Fatalf("%s has %U in it", path, r)
		}
	}
	return text
}

func (c *client) fill() {
	c.db.Table("Shop", "PK / SK", sortkeytest.Global("ByDay", "day / SK"))
	for i := range 30 {
		c.db.Put("Shop", map[string]any{
			"PK": "CUSTOMER#c1", "SK": fmt.Sprintf("ORDER#%04d", i), "total": i, "day": fmt.Sprintf("2026-01-%02d", 1+i%5),
		})
	}
	c.db.Put("Shop", map[string]any{"PK": "CUSTOMER#c1", "SK": "PROFILE#", "name": "Ada"})
	c.db.Put("Shop", map[string]any{"PK": "CUSTOMER#c2", "SK": "PROFILE#", "name": "<script>alert(1)</script>\u202e"})
}

func TestPages(t *testing.T) {
	t.Parallel()
	c := start(t)
	require.Contains(t, c.page(""), "There are no tables yet")
	c.fill()
	page := c.page("")
	require.Contains(t, page, `href="table?name=Shop"`)
	require.Contains(t, page, "PK / SK")
	require.Contains(t, page, "ByDay: day / SK")

	page = c.page("table?name=Shop")
	require.Contains(t, page, "CUSTOMER#c1")
	require.Contains(t, page, "ORDER <span")
	page = c.page("table?name=Shop&index=ByDay")
	require.Contains(t, page, "2026-01-05")

	page = c.page("collection?name=Shop&partition=CUSTOMER%23c1")
	require.Contains(t, page, "31 rows,")
	require.Less(t, strings.Index(page, "ORDER#0003"), strings.Index(page, "ORDER#0004"))
	require.Contains(t, page, `value="CUSTOMER#c1"`, "the query begins with the partition")
	page = c.page("collection?name=Shop&partition=CUSTOMER%23c2")
	require.Contains(t, page, "&lt;script&gt;")
	require.Contains(t, c.page("collection?name=Shop&partition=none"), "There are no rows in this partition. Press <kbd>/</kbd>")
	page = c.page("collection?name=Shop&partition=CUSTOMER%23c1&sort=X")
	require.Contains(t, page, `<a href="collection?name=Shop&amp;index=&amp;partition=CUSTOMER%23c1">all its rows</a>`)

	for path, want := range map[string]string{
		"table?name=Nope":                              "Nope",
		"table?name=Shop&index=Nope":                   "no index Nope",
		"table?name=Shop&after=%21":                    "damaged",
		"table?name=Shop&after=e30":                    "the address is damaged",
		"collection?name=Shop&partition=":              "",
		"query?name=Shop&space=9&partition=a":          "load the page again",
		"query?name=Shop&space=1&partition=a&limit=-1": "limit",
	} {
		status, text := c.do("GET", path, "")
		require.Equal(t, http.StatusBadRequest, status, "%s: %s", path, text)
		require.Contains(t, text, want, path)
	}
}

// TestNewItem writes a new item, and tests that a second one with the same key is rejected.
func TestNewItem(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.db.Table("Things", "PK / n:N")
	require.Contains(t, c.page("item?name=Things"), `&#34;n&#34;: 0`)

	body := `{"Is": "{\"PK\": \"a\", \"n\": 7}"}`
	status, text := c.do(http.MethodPost, "put?name=Things&key=", body)
	require.Equal(t, http.StatusOK, status, text)
	status, text = c.do(http.MethodPost, "put?name=Things&key=", body)
	require.Equal(t, http.StatusConflict, status, text)
	_, out, text := c.bulk("name=Things", []bulkRow{{Sum: sum(t, `{"PK": {"S": "a"}, "n": {"N": "7"}}`)}})
	require.Len(t, out.Refused, 1, text)
	require.Contains(t, c.db.Dump("Things"), `"a"`)
}

func TestEdit(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.fill()
	key := base64.RawURLEncoding.EncodeToString([]byte(`{"PK":{"S":"CUSTOMER#c1"},"SK":{"S":"PROFILE#"}}`))
	where := "?name=Shop&key=" + key
	page := c.page("item" + where)
	was := html.UnescapeString(regexp.MustCompile(`(?s)<textarea[^>]*>(.*)</textarea>`).FindStringSubmatch(page)[1])
	require.JSONEq(t, `{"PK":"CUSTOMER#c1","SK":"PROFILE#","name":"Ada"}`, was)
	was = `{"PK":{"S":"CUSTOMER#c1"},"SK":{"S":"PROFILE#"},"name":{"S":"Ada"}}`
	require.Contains(t, page, `data-sum="`+sum(t, was)+`"`)
	send := func(path, was, is string) (int, string) {
		body, err := json.Marshal(map[string]string{"Sum": sum(t, was), "Is": is})
		require.NoError(t, err)
		return c.do("POST", path+where, string(body))
	}

	is := strings.Replace(was, `"Ada"`, `"Grace"`, 1)
	plain := `{"PK": "CUSTOMER#c1", "SK": "PROFILE#", "name": "Grace", "day": "2026-02-01"}`
	_, text := send("preview", was, plain)
	require.Contains(t, text, "1 write unit for the table")
	require.Contains(t, text, `index ByDay: a new row, &#34;2026-02-01&#34;`)
	require.Regexp(t, `(?s)name</th>.*<del class="value">&#34;Ada&#34;</del>.*<ins class="value">&#34;Grace&#34;</ins>`, text)
	require.Regexp(t, `(?s)day</th>.*none.*<ins class="value">&#34;2026-02-01&#34;</ins>`, text)
	_, text = send("preview", was, was)
	require.Contains(t, text, "Nothing changes")
	_, text = send("preview", is, plain)
	require.Contains(t, text, "Somebody has changed the item")
	_, text = send("preview", was, strings.Replace(plain, "PROFILE#", "OTHER#", 1))
	require.Contains(t, text, "SK is another")
	_, text = send("preview", was, `{"PK": 7, "SK": "x"}`)
	require.Contains(t, text, "PK must be of type S")

	status, text := send("put", was, plain)
	require.Equal(t, http.StatusOK, status, text)
	require.Equal(t, "written, 2 write units", text)
	status, text = send("put", was, is)
	require.Equal(t, http.StatusConflict, status, "it has changed since")
	require.Contains(t, text, "nothing was written")
	_, out, _ := c.bulk("name=Shop", []bulkRow{{key, sum(t, was)}})
	require.Len(t, out.Refused, 1)
	status, text = send("put", "", plain)
	require.Equal(t, http.StatusConflict, status, "a new item over one that is there: %s", text)
	require.Contains(t, c.page("item"+where), "2026-02-01")

	// A put does not remove an attribute that somebody has added.
	now := `{"PK":{"S":"CUSTOMER#c1"},"SK":{"S":"PROFILE#"},"name":{"S":"Grace"},"day":{"S":"2026-02-01"}}`
	c.db.Put("Shop", map[string]any{"PK": "CUSTOMER#c1", "SK": "PROFILE#", "name": "Grace", "day": "2026-02-01", "added": 1})
	status, _ = send("put", now, plain)
	require.Equal(t, http.StatusConflict, status)

	for _, bad := range []string{"", "{", `{"PK": null}`, `[]`} {
		status, text := send("put", now, bad)
		require.Equal(t, http.StatusBadRequest, status, "%s: %s", bad, text)
	}
	status, _ = c.do("POST", "put"+where, "{")
	require.Equal(t, http.StatusBadRequest, status)
	status, _ = c.do("POST", "put"+where, `{"Is":"`+strings.Repeat("x", 9<<20)+`"}`)
	require.Equal(t, http.StatusBadRequest, status)

	now = `{"PK":{"S":"CUSTOMER#c1"},"SK":{"S":"PROFILE#"},"name":{"S":"Grace"},"day":{"S":"2026-02-01"},"added":{"N":"1"}}`
	_, out, text = c.bulk("name=Shop", []bulkRow{{key, sum(t, now)}})
	require.Equal(t, 1, out.Written, text)
	require.Contains(t, c.page("item"+where), "there is no such item")
	status, text = send("put", "", plain)
	require.Equal(t, http.StatusOK, status, text)
}

// TestBranches writes in branches, and keeps or discards them.
func TestBranches(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.fill()
	before := c.db.Dump()
	status, at := c.do("POST", "branches", "")
	require.Equal(t, http.StatusOK, status, at)
	require.Equal(t, "branch/1/", at)
	key := base64.RawURLEncoding.EncodeToString([]byte(`{"PK":{"S":"CUSTOMER#c1"},"SK":{"S":"PROFILE#"}}`))
	where := "?name=Shop&key=" + key
	put := func(prefix, was, is string) {
		body, err := json.Marshal(map[string]string{"Sum": sum(t, was), "Is": is})
		require.NoError(t, err)
		status, text := c.do("POST", prefix+"put"+where, string(body))
		require.Equal(t, http.StatusOK, status, text)
	}
	const ada = `{"PK":{"S":"CUSTOMER#c1"},"SK":{"S":"PROFILE#"},"name":{"S":"Ada"}}`
	put(at, ada, strings.Replace(ada, "Ada", "Grace", 1))
	put(at, "", strings.Replace(ada, "PROFILE#", "NEW#", 1))
	require.Contains(t, c.page(at+"collection?name=Shop&partition=CUSTOMER%23c1"), "Grace")
	require.Equal(t, before, c.db.Dump(), "nothing reaches the database")
	page := c.page("branches")
	require.Contains(t, page, "2 changed items")
	require.Contains(t, page, "Grace")
	for _, act := range []string{"keep", "discard"} {
		require.Contains(t, page, `data-post="branches/1/`+act+`" data-sure="`, "a button asks before it acts")
	}

	// Somebody changes one of the items, so only the other is kept, and the branch stays.
	put("", ada, strings.Replace(ada, "Ada", "Eve", 1))
	status, text := c.do("POST", "branches/1/keep", "")
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, text, "1 change kept, 1 change not")
	require.Contains(t, c.db.Dump(), "NEW#")
	require.Contains(t, c.db.Dump(), "Eve")
	status, _ = c.do("POST", "branches/1/discard", "")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, c.page("branches"), "There are no branches")
	status, text = c.do("GET", "branch/1/", "")
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, text, "no branch 1 any more")

	_, at = c.do("POST", "branches", "")
	put(at, strings.Replace(ada, "Ada", "Eve", 1), ada)
	status, text = c.do("POST", strings.Replace(at, "branch/", "branches/", 1)+"keep", "")
	require.Equal(t, http.StatusOK, status, text)
	require.Contains(t, c.db.Dump(), "Ada")
	for range 8 {
		status, _ = c.do("POST", "branches", "")
		require.Equal(t, http.StatusOK, status)
	}
	status, text = c.do("POST", "branches", "")
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, text, "discard one")
}

// TestRequests tests that the console shows the requests of a program, but not its own.
func TestRequests(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.fill()
	resp, err := browser.Get(c.url + "/events")
	require.NoError(t, err)
	defer resp.Body.Close()
	c.page("table?name=Shop")
	c.page("collection?name=Shop&partition=CUSTOMER%23c1")
	ctx := t.Context()
	table := sortkey.Table[struct {
		PK string `dynamodbav:"PK"`
		SK string `dynamodbav:"SK"`
	}](c.db.DB, "Shop")
	for _, err := range table.Query(ctx, "CUSTOMER#c1", sortkey.Where("total > :total", 27)) {
		require.NoError(t, err)
	}
	dec := json.NewDecoder(&events{r: resp.Body})
	var got []console.Request
	var shapes []console.Shape
	for len(got) == 0 {
		var batch struct {
			Requests []console.Request
			Shapes   []console.Shape
		}
		require.NoError(t, dec.Decode(&batch))
		got, shapes = append(got, batch.Requests...), batch.Shapes
	}
	require.Len(t, got, 1, "the console's own are not among them")
	require.Equal(t, "Query", got[0].Operation)
	require.Equal(t, 31, got[0].Examined)
	require.Equal(t, "waste", got[0].Mark)
	require.NotEmpty(t, got[0].Slice)
	require.Equal(t, 1, shapes[0].Requests)
	require.Equal(t, "waste", shapes[0].Mark)
}

// events reads the data of server-sent events.
type events struct{ r io.Reader }

func (e *events) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	text := strings.NewReplacer("data: ", "      ", ": alive", "       ").Replace(string(p[:n]))
	return copy(p, text), err
}
