package server

import (
	"net"
	"net/http"
	"slices"
	"strings"
)

// checkHost refuses a request that arrives at a loopback address but whose Host header names neither loopback nor a
// host in allowed. A web page can reach a server on its visitor's machine by making its own name resolve to 127.0.0.1
// (DNS rebinding). Signed requests need no such check, because a page has no credentials.
func checkHost(r *http.Request, allowed []string) *failure {
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok || !loopback(addr) {
		return nil
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() || host == "localhost" ||
		strings.HasSuffix(host, ".localhost") {
		return nil
	}
	if slices.ContainsFunc(allowed, func(name string) bool { return name == "*" || strings.EqualFold(name, host) }) {
		return nil
	}
	return accessDenied("The Host header %q does not name this machine. To allow it, start the server with this "+
		"name (--allow-host, ServerOptions.AllowHosts).", r.Host)
}

// LocalOnly returns a handler that passes requests to h. It refuses a request that arrives at a loopback address but
// names another host in its Host header, unless allowed lists that host; "*" allows all hosts. [New] makes the same
// check for requests without credentials.
func LocalOnly(h http.Handler, allowed []string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f := checkHost(r, allowed); f != nil {
			http.Error(w, f.msg, f.status)
			return
		}
		h.ServeHTTP(w, r)
	})
}
