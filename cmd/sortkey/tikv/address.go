package main

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/sortkey/sortkey/store/tikv"
)

// scheme is the URL scheme of a TiKV cluster. Error messages show example, a URL with that scheme.
const (
	scheme  = "tikv"
	example = "tikv://pd1:2379,pd2:2379/app?ca=ca.pem&cert=client.pem&key=client-key.pem"
)

// parse parses the URL of a cluster. It returns the addresses of the placement drivers, and options with the key
// prefix and the TLS files that the URL names. It does not use [url.Parse], which accepts only one host with a port.
func parse(text string) (endpoints []string, opts tikv.Options, err error) {
	rest, ok := strings.CutPrefix(text, scheme+"://")
	if !ok {
		return nil, opts, fmt.Errorf("the URL of a cluster begins with %s://", scheme)
	}
	rest, query, _ := strings.Cut(rest, "?")
	hosts, prefix, _ := strings.Cut(rest, "/")

	for _, at := range strings.Split(hosts, ",") {
		host, port, err := net.SplitHostPort(at)
		if err != nil || host == "" || port == "" {
			return nil, opts, fmt.Errorf("the address %q of a placement driver is not HOST:PORT", at)
		}
		endpoints = append(endpoints, at)
	}

	if opts.Prefix, err = url.PathUnescape(prefix); err != nil {
		return nil, opts, fmt.Errorf("the prefix %q: %w", prefix, err)
	}
	if strings.Contains(prefix, "/") {
		return nil, opts, fmt.Errorf("the prefix %q has a slash; write it as %%2F", prefix)
	}

	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, opts, fmt.Errorf("the parameters after the question mark: %w", err)
	}
	files := map[string]*string{"ca": &opts.CA, "cert": &opts.Cert, "key": &opts.Key}
	for name, given := range values {
		file := files[name]
		if file == nil || len(given) > 1 {
			return nil, opts, fmt.Errorf("the parameter %q: a URL has ca, cert and key, each once", name)
		}
		*file = given[0]
	}
	if (opts.Cert == "") != (opts.Key == "") {
		return nil, opts, errors.New("a certificate needs its key: give both cert and key")
	}
	if opts.Cert != "" && opts.CA == "" {
		return nil, opts, errors.New("a certificate needs an authority: give ca as well")
	}
	return endpoints, opts, nil
}
