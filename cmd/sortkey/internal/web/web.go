// Package web serves pages to the browser of the person who started a command, and to nobody else.
//
// A [Site] listens on a loopback address only. The first address that a person opens contains a token. In exchange,
// the browser gets a cookie for this site and session, and the site rejects requests without the cookie.
//
// The site also rejects requests that a page of another site has caused. It recognizes most of them by their Origin or
// Sec-Fetch-Site header, which names the other site. A page can avoid that with a host name that resolves to 127.0.0.1
// (DNS rebinding). The site recognizes its requests by their Host header, which has that name and not the address of
// the site. Pages may load scripts, styles and data only from the site, and run no inline script.
//
// Sources: RFC 6454 (Origin), W3C Fetch Metadata Request Headers, W3C Content Security Policy Level 3.
package web

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/sortkey/sortkey/internal/admission"
)

// Policy is the content security policy of all pages.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// maxConns bounds the number of open connections. A browser opens about six to a site.
const maxConns = 64

// A Site is a server on a loopback address.
type Site struct {
	ln    net.Listener
	hosts []string // values of Host
	token string
	// name and session are the name and value of the cookie. Browsers also send the cookie to servers on other ports
	// of the host. Therefore session is not the token, but another random text that only this Site accepts.
	name, session string
}

// Listen returns a site on a port of 127.0.0.1. Port 0 stands for any free port.
func Listen(port int) (*Site, error) {
	ln, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, err
	}
	own := ln.Addr().(*net.TCPAddr).Port
	return &Site{
		ln: ln, token: rand.Text(), name: fmt.Sprintf("sortkey-%d", own), session: rand.Text(),
		hosts: []string{fmt.Sprintf("127.0.0.1:%d", own), fmt.Sprintf("localhost:%d", own)},
	}, nil
}

// Address returns the URL of a path, without the token, for programs.
func (s *Site) Address(path string) string { return "http://" + s.hosts[0] + path }

// leastToken is the least number of characters in a token that a person chooses.
const leastToken = 16

// CheckToken returns an error if a token that a person has chosen is too short, or if it contains a space or a
// character that is not printable ASCII.
func CheckToken(token string) error {
	if len(token) < leastToken || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fmt.Errorf(
			"a token has at least %d characters, which are letters, digits and signs without spaces", leastToken,
		)
	}
	return nil
}

// URL returns the address to open first, which contains the token.
func (s *Site) URL() string { return "http://" + s.hosts[0] + "/?token=" + s.token }

// maxHeader bounds the headers of a request, in bytes. The address of a page can contain a key of up to 3 KB twice,
// with each byte escaped.
const maxHeader = 64 << 10

// readTimeout bounds the time for receiving a request.
const readTimeout = time.Minute

// Serve answers requests of the browser with h until ctx is done. It then cancels the requests in progress.
func (s *Site) Serve(ctx context.Context, h http.Handler) error {
	server := &http.Server{
		Handler:           s.Guard(h),
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: readTimeout, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: maxHeader, BaseContext: func(net.Listener) context.Context { return ctx },
	}
	limited := admission.Listen(s.ln, admission.Options{Most: maxConns})
	limited.Attach(server)
	end := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer end()
	if err := server.Serve(limited); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Guard returns a handler that passes a request to h only if it has the cookie of the site and no other site has
// caused it.
func (s *Site) Guard(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range map[string]string{
			"Content-Security-Policy": Policy, "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
			"Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "Cross-Origin-Opener-Policy": "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin",
		} {
			w.Header().Set(name, value)
		}
		if why := s.foreign(r); why != "" {
			http.Error(w, why, http.StatusForbidden)
			return
		}
		if token := r.URL.Query().Get("token"); r.Method == http.MethodGet && same(token, s.token) {
			http.SetCookie(w, &http.Cookie{
				Name: s.name, Value: s.session, Path: "/", HttpOnly: true,
				SameSite: http.SameSiteStrictMode,
			})
			http.Redirect(w, r, "/"+strings.TrimLeft(r.URL.Path, `/\`), http.StatusSeeOther) // on this site
			return
		}
		if c, err := r.Cookie(s.name); err != nil || !same(c.Value, s.session) {
			http.Error(
				w, "Open the address that the command printed: it has the token of this page.", http.StatusUnauthorized,
			)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// same compares text with a secret in constant time.
func same(given, secret string) bool {
	return subtle.ConstantTimeCompare([]byte(given), []byte(secret)) == 1
}

// foreign returns the reason why a request is not from a page of the site, or "" if it is.
func (s *Site) foreign(r *http.Request) string {
	if !slices.Contains(s.hosts, strings.ToLower(r.Host)) {
		return fmt.Sprintf("The Host header %q is not the address of this page, %s.", r.Host, s.hosts[0])
	}
	for _, origin := range r.Header.Values("Origin") {
		if origin != "http://"+strings.ToLower(r.Host) {
			return fmt.Sprintf("Pages of the origin %q must not use this one.", origin)
		}
	}
	switch site := r.Header.Get("Sec-Fetch-Site"); site {
	case "", "none", "same-origin":
		return ""
	default: // another site may link only to the address with the token
		if r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.URL.Query().Has("token") {
			return ""
		}
		return fmt.Sprintf("The request comes from another site (Sec-Fetch-Site: %s).", site)
	}
}
