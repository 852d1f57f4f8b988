package tikv

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"
)

// Options configure [Open]. The zero value is ready to use.
type Options struct {
	// Prefix begins the keys of this set of tables; a zero byte follows it. Give two sets in one cluster different
	// prefixes, which nothing else in the cluster uses. A prefix has at most 64 bytes and no zero byte. Default:
	// "sortkey".
	Prefix string

	// CA, Cert and Key are the files for TLS, as for other clients of TiKV.
	// Default: no TLS.
	CA, Cert, Key string

	// Timeout limits one read or lock, and one commit, with all attempts of the
	// client. Default: 30 s.
	Timeout time.Duration

	// Name names the holder of the lease in messages to people. Default: host and process.
	Name string

	// Logger receives commits that the cluster refused or did not answer, and events of the lease. The client has a
	// log of its own, in package github.com/pingcap/log. Default: discard.
	Logger *slog.Logger

	// lease is how long the lease is valid without renewal. Default: 15 s.
	lease time.Duration
}

const (
	defaultPrefix  = "sortkey"
	maxPrefix      = 64
	defaultTimeout = 30 * time.Second
	defaultLease   = 15 * time.Second

	// connectTimeout limits how long Open waits for placement drivers that do not answer. Without it, the client
	// would try for minutes.
	connectTimeout = 10 * time.Second

	// maxUpdate is the size of the largest update, and maxValue the size of its largest row, in bytes. They are the
	// default limits of TiDB for transactions on TiKV (txn-total-size-limit, txn-entry-size-limit). TiKV refuses a
	// Raft entry of more than 8 MB.
	maxUpdate = 100 << 20
	maxValue  = 6 << 20

	// maxTries limits how often an Update calls its function. After aloneAfter conflicts the Update runs alone, so
	// that it cannot lose to others for ever. maxAborted limits how many commits of an Update the cluster may refuse.
	// It is low, because the client itself retries each commit.
	maxTries   = 12
	aloneAfter = 3
	maxAborted = 3

	// maxRunning limits the Updates that run at the same time.
	maxRunning = 256
)

func (o Options) withDefaults() (Options, error) {
	if o.Prefix == "" {
		o.Prefix = defaultPrefix
	}
	if len(o.Prefix) > maxPrefix || strings.Contains(o.Prefix, "\x00") {
		return o, fmt.Errorf("tikv: prefix %q: at most %d bytes, without a zero byte", o.Prefix, maxPrefix)
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.Name == "" {
		host, err := os.Hostname()
		if err != nil {
			host = "unknown host"
		}
		o.Name = fmt.Sprintf("%s, process %d", host, os.Getpid())
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.lease <= 0 {
		o.lease = defaultLease
	}
	return o, nil
}
