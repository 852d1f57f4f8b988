package console_test

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/web"
)

// startSite serves a page that says hello, and returns the address with the token.
func startSite(t *testing.T) *url.URL {
	t.Helper()
	s, err := web.Listen(0)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		done <- s.Serve(ctx, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/wait" { // such as events
				<-r.Context().Done()
			}
			_, _ = io.WriteString(w, "hello")
		}))
	}()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	u, err := url.Parse(s.URL())
	require.NoError(t, err)
	return u
}

// do sends a request without following redirects.
func do(t *testing.T, method, address string, change func(*http.Request)) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	require.NoError(t, err)
	if change != nil {
		change(req)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp, string(body)
}

func TestGuard(t *testing.T) {
	t.Parallel()
	first := startSite(t)
	base := "http://" + first.Host + "/"
	require.Equal(t, "127.0.0.1", first.Hostname())

	resp, _ := do(t, "GET", first.String(), nil)
	require.Equal(t, http.StatusSeeOther, resp.StatusCode)
	require.Equal(t, "/", resp.Header.Get("Location"), "the token leaves the address")
	require.Len(t, resp.Cookies(), 1)
	for _, path := range []string{"//evil.example/", `/\evil.example/`, `/%5Cevil.example/`} {
		away, _ := do(t, "GET", "http://"+first.Host+path+"?"+first.RawQuery, nil)
		to, err := away.Location()
		require.NoError(t, err)
		require.Equal(t, first.Host, to.Host, path)
	}
	cookie := resp.Cookies()[0]
	require.True(t, cookie.HttpOnly)
	require.Equal(t, http.SameSiteStrictMode, cookie.SameSite)
	own := func(r *http.Request) { r.AddCookie(cookie) }

	resp, body := do(t, "GET", base, own)
	require.Equal(t, "hello", body)
	require.Equal(t, web.Policy, resp.Header.Get("Content-Security-Policy"))
	require.NotContains(t, web.Policy, "unsafe")

	with := func(name, value string) func(*http.Request) {
		return func(r *http.Request) {
			own(r)
			if name == "Host" {
				r.Host = value
			} else {
				r.Header.Set(name, value)
			}
		}
	}
	for _, ok := range []func(*http.Request){
		with("Host", "localhost:"+first.Port()), with("Origin", "http://"+first.Host), with("Sec-Fetch-Site", "same-origin"),
		with("Sec-Fetch-Site", "none"),
	} {
		resp, _ := do(t, "POST", base, ok)
		require.Equal(t, http.StatusOK, resp.StatusCode)
	}
	for name, bad := range map[string]func(*http.Request){
		"host":        with("Host", "evil.example"),
		"rebound":     with("Host", "evil.example:"+first.Port()),
		"other port":  with("Host", "127.0.0.1:1"),
		"origin":      with("Origin", "http://evil.example"),
		"null origin": with("Origin", "null"),
		"scheme":      with("Origin", "https://"+first.Host),
		"cross site":  with("Sec-Fetch-Site", "cross-site"),
		"same site":   with("Sec-Fetch-Site", "same-site"),
	} {
		resp, body := do(t, "POST", base, bad)
		require.Equal(t, http.StatusForbidden, resp.StatusCode, name)
		require.NotContains(t, body, "hello")
	}
	for name, bad := range map[string]func(*http.Request){
		"none":  nil,
		"other": func(r *http.Request) { r.AddCookie(&http.Cookie{Name: cookie.Name, Value: "guess"}) },
		"empty": func(r *http.Request) { r.AddCookie(&http.Cookie{Name: cookie.Name}) },
	} {
		resp, body := do(t, "GET", base, bad)
		require.Equal(t, http.StatusUnauthorized, resp.StatusCode, name)
		require.Contains(t, body, "Open the address that the command printed")
		require.NotContains(t, body, cookie.Value)
	}
	resp, _ = do(t, "GET", base+"?key="+strings.Repeat("%01", 10<<10), own)
	require.Equal(t, http.StatusOK, resp.StatusCode, "a long key")
	resp, _ = do(t, "GET", base+"?token=guess", nil)
	require.Equal(t, http.StatusUnauthorized, resp.StatusCode)
	resp, _ = do(t, "POST", first.String(), nil)
	require.Equal(t, http.StatusUnauthorized, resp.StatusCode, "a token opens, it does not write")
}

// TestEnd ends the site while a request is in progress, as those for events are.
func TestEnd(t *testing.T) {
	t.Parallel()
	ended := make(chan bool)
	t.Cleanup(func() { <-ended }) // after the site
	first := startSite(t)
	resp, _ := do(t, "GET", first.String(), nil)
	req, err := http.NewRequestWithContext(context.Background(), "GET", "http://"+first.Host+"/wait", nil)
	require.NoError(t, err)
	req.AddCookie(resp.Cookies()[0])
	go func() {
		if resp, err := browser.Do(req); err == nil {
			_ = resp.Body.Close()
		}
		close(ended)
	}()
}

// TestCookie tests that the cookie is not the token: with the cookie of one port, nobody can use another port or open
// the first address.
func TestCookie(t *testing.T) {
	t.Parallel()
	first, other := startSite(t), startSite(t)
	token := first.Query().Get("token")
	cookieOf := func(u *url.URL) *http.Cookie {
		resp, _ := do(t, "GET", u.String(), nil)
		require.Len(t, resp.Cookies(), 1)
		return resp.Cookies()[0]
	}
	one, foreign := cookieOf(first), cookieOf(other)
	require.NotContains(t, one.Value, token)
	require.NotEqual(t, one.Name, foreign.Name)

	base := "http://" + first.Host + "/"
	for value, want := range map[string]int{
		one.Value: http.StatusOK, foreign.Value: http.StatusUnauthorized,
		token: http.StatusUnauthorized, one.Value + "0": http.StatusUnauthorized, ".": http.StatusUnauthorized,
	} {
		resp, _ := do(t, "GET", base, func(r *http.Request) { r.AddCookie(&http.Cookie{Name: one.Name, Value: value}) })
		require.Equal(t, want, resp.StatusCode, value)
	}
	resp, _ := do(t, "GET", base+"?token="+url.QueryEscape(one.Value), nil)
	require.Equal(t, http.StatusUnauthorized, resp.StatusCode)
}
