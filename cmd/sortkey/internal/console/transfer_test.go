package console_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/console"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/web"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/sortkeytest"
)

// TestTransfer exports a table and a selection of it, and imports both into others.
func TestTransfer(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.fill()
	c.db.Put("Shop", map[string]any{"PK": "big", "SK": "x", "text": strings.Repeat("\x01", 390<<10)}) // 6 bytes each in JSON
	for i := range 2500 {
		c.db.Put("Shop", map[string]any{"PK": "many", "SK": fmt.Sprintf("%05d", i), "text": strings.Repeat("x", 1000)}) // 3 pages
	}
	c.db.Table("Copy", "PK / SK", sortkeytest.Global("ByDay", "day / SK"))
	c.db.Table("Part", "PK / SK")

	status, all := c.do("GET", "export?name=Shop", "")
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, 2533, strings.Count(all, "\n"))
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	_, err := io.WriteString(zip, all)
	require.NoError(t, err)
	require.NoError(t, zip.Close())
	status, said := c.do("POST", "import?name=Copy&file=x.json.gz", packed.String())
	require.Equal(t, http.StatusOK, status, said)
	require.Equal(t, "2,533 items read, 2,533 written", said)
	require.Equal(t, strings.ReplaceAll(c.db.Dump("Shop"), "Shop", "Copy"), c.db.Dump("Copy"))

	for path, want := range map[string]int{
		"space=1&partition=many":                              2500,
		"space=1&partition=CUSTOMER%23c1&sort=ORDER%23000*":   10,
		"space=1&partition=CUSTOMER%23c1&filter=total+%3E+20": 9,
		"space=1&partition=CUSTOMER%23c1&limit=7":             7,
		"space=2&partition=2026-01-01":                        6,
		"request=" + url.QueryEscape("SELECT * FROM Shop WHERE PK = 'CUSTOMER#c1' AND SK < 'ORDER#0005'"):    5,
		"request=" + url.QueryEscape("SELECT * FROM Shop WHERE total > 20"):                                  9,
		"request=" + url.QueryEscape(`{"TableName": "Shop", "Key": {"PK": {"S": "big"}, "SK": {"S": "x"}}}`): 1,
	} {
		status, lines := c.do("GET", "export?name=Shop&"+path, "")
		require.Equal(t, http.StatusOK, status, lines)
		require.Equal(t, want, strings.Count(lines, "\n"), path)
		status, said = c.do("POST", "import?name=Part", lines)
		require.Equal(t, http.StatusOK, status)
		require.Regexp(t, fmt.Sprintf("^%s items? read, %s written$", thousands(want), thousands(want)), said)
	}

	for path, want := range map[string]string{
		"export?name=Nope":                     "Nope",
		"export?name=Shop&request=DELETE":      "SELECT",
		"export?name=Shop&space=1&partition=":  "",
		"export?name=Shop&space=7&partition=a": "no table or index",
		"export?name=Shop&request=" + url.QueryEscape(`{"TableName": "Shop", "KeyConditionExpression": "x"}`): "ValidationException",
	} {
		status, text := c.do("GET", path, "")
		if want != "" {
			require.Equal(t, http.StatusBadRequest, status, path)
			require.Contains(t, text, want)
		}
	}
}

func thousands(n int) string {
	if n >= 1000 {
		return fmt.Sprintf("%d,%03d", n/1000, n%1000)
	}
	return fmt.Sprint(n)
}

// TestImportReport holds that an import writes what it can, and says what failed and where.
func TestImportReport(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.db.Table("Shop", "PK / SK")
	line := func(sk, text string) string {
		return fmt.Sprintf(`{"Item": {"PK": {"S": "a"}, "SK": {"S": "%s"}, "text": {"S": "%s"}}}`, sk, text)
	}
	file := strings.Join([]string{
		line("1", "x"), `{`, line("", "x"), line("2", strings.Repeat("x", 401<<10)), line("3", strings.Repeat("x", 5<<20)),
		`{"Item": {"PK": {"S": "a"}}}`, line("4", "<b>\u202e"), "null", "7", "[]", line("5", "x"),
	}, "\n")
	status, said := c.do("POST", "import?name=Shop&file=x.json", file)
	require.Equal(t, http.StatusOK, status, said)
	lines := strings.Split(said, "\n")
	require.Equal(t, "11 items read, 3 written, 8 rejected; the first:", lines[0])
	require.Len(t, lines, 6)
	require.Contains(t, lines[3], "line 4: larger than 409600 bytes, the limit of an item")
	require.Contains(t, lines[4], "line 5: longer than 4194304 bytes")
	require.Len(t, sortkeytest.Items[struct{ SK string }](c.db, "Shop"), 3)

	for path, body := range map[string]string{
		"import?name=Nope": line("1", "x"), "import": line("1", "x"), "import?name=Shop": "\xff\xfeutf16",
	} {
		status, said = c.do("POST", path, body)
		require.Equal(t, http.StatusBadRequest, status, said)
		require.NotEmpty(t, said)
	}
	status, said = c.do("POST", "import?name=Shop&file=x.json.gz", "\x1f\x8b and no more")
	require.Equal(t, http.StatusBadRequest, status, said)
	status, said = c.do("POST", "import?name=Shop", "")
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "0 items read, 0 written", said)
}

// TestOneImport holds that an import waits for no other: the second is refused until the first has ended.
func TestOneImport(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.db.Table("Shop", "PK")
	slow, send := io.Pipe()
	ended, began := make(chan string, 1), make(chan struct{})
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got100Continue: func() { close(began) }})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/import?name=Shop", slow)
	require.NoError(t, err)
	req.Header.Set("Expect", "100-continue") // the answer comes when the server reads the body
	go func() {
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			ended <- err.Error()
			return
		}
		ended <- c.read(resp)
	}()
	_, err = io.WriteString(send, `{"PK": "a"}`+"\n")
	require.NoError(t, err)
	<-began
	status, said := c.do("POST", "import?name=Shop", `{"PK": "b"}`)
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, said, "another one is running")
	require.NoError(t, send.Close())
	require.Equal(t, "1 item read, 1 written", <-ended)
}

// TestForeign holds that pages of other origins, and requests without the token, get and change nothing.
func TestForeign(t *testing.T) {
	t.Parallel()
	db := sortkeytest.New(t)
	db.Table("Shop", "PK")
	site, err := web.Listen(0)
	require.NoError(t, err)
	h := site.Guard(quiet(console.New(console.Options{Client: db.Client, Target: explain.InProcess(db.DB), DB: db.DB}).Handler()))
	base := strings.TrimSuffix(site.Address("/"), "/")
	send := func(method, path string, header map[string]string) int {
		r := httptest.NewRequest(method, base+path, strings.NewReader(`{"PK": "x"}`))
		for name, value := range header {
			r.Header.Set(name, value)
		}
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		return rec.Code
	}
	opened := httptest.NewRecorder()
	first := httptest.NewRequest("GET", site.URL(), nil)
	h.ServeHTTP(opened, first)
	cookie, _, _ := strings.Cut(opened.Header().Get("Set-Cookie"), ";")
	for _, request := range [][2]string{
		{"GET", "/export?name=Shop"}, {"POST", "/import?name=Shop"}, {"POST", "/query"}, {"GET", "/recording"}, {"POST", "/snapshots?name=a"},
	} {
		require.Equal(t, http.StatusUnauthorized, send(request[0], request[1], nil), request)
		for name, value := range map[string]string{"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"} {
			require.Equal(t, http.StatusForbidden, send(request[0], request[1], map[string]string{"Cookie": cookie, name: value}), request)
		}
	}
	require.NotContains(t, db.Dump(), "x")
	require.Equal(t, http.StatusOK, send("POST", "/import?name=Shop", map[string]string{"Cookie": cookie, "Origin": base}))
	require.Contains(t, db.Dump(), "x")
}
