package main

import (
	"context"
	"errors"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/metrics"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/tikv"
)

// An opener opens a store in a cluster, as [tikv.Open] does.
type opener func(ctx context.Context, endpoints []string, opts tikv.Options) (*tikv.Store, error)

// connect is the opener that the command uses. It also redirects the log of TiKV's client. Tests use other openers.
func connect(ctx context.Context, endpoints []string, opts tikv.Options) (*tikv.Store, error) {
	logClient(opts.Logger)
	return tikv.Open(ctx, endpoints, opts)
}

// engine returns the engine for TiKV. The engine opens its stores with the function open.
func engine(open opener) app.Engine {
	openStore := func(ctx context.Context, url string, log *slog.Logger) (*tikv.Store, error) {
		endpoints, opts, err := parse(url)
		if err != nil {
			return nil, app.UsageError("give a URL such as "+example, "--store: %v", err)
		}
		opts.Logger = log
		st, err := open(ctx, endpoints, opts)
		if err != nil {
			return nil, explain(err)
		}
		return st, nil
	}

	return app.Engine{
		Schemes: []string{scheme},
		Kind:    "a TiKV cluster",
		Example: example,
		Help: `In a TiKV cluster, init only checks that the cluster answers and that no server uses
the tables: the first server creates them. The URL names the placement drivers (PD),
as in tikv://pd1:2379,pd2:2379/app?ca=ca.pem&cert=client.pem&key=client-key.pem. After
the slash it has the prefix of the keys (default sortkey), so one cluster can hold
several independent Sortkeys. The parameters name the files for TLS. One command at a
time can have the tables of a prefix open.`,

		Open: func(ctx context.Context, url string, log *slog.Logger) (store.Store, error) {
			st, err := openStore(ctx, url, log)
			if err != nil {
				return nil, err // not st: a nil *tikv.Store in an interface is not nil
			}
			return st, nil
		},
		Init: func(ctx context.Context, url string) error {
			st, err := openStore(ctx, url, nil)
			if err != nil {
				return err
			}
			return st.Close()
		},
		Metrics: func(st store.Store) prometheus.Collector {
			if st, ok := st.(*tikv.Store); ok {
				return metrics.Figures(st.Stats, figures)
			}
			return nil
		},
	}
}

// figures are the metrics of a TiKV store. Where the PostgreSQL engine has the same metric, both use the same name.
var figures = []metrics.Figure{
	{Field: "Running", Name: "store_calls_running", Help: "Reads and updates in progress."},
	{
		Field: "Conflicts", Name: "store_conflicts_total",
		Help: "Attempts of updates that conflicted with another transaction.",
	},
	{
		Field: "Refused", Name: "store_refused_total",
		Help: "Attempts of updates that the cluster did not commit for another reason.",
	},
	{Field: "Resolved", Name: "store_resolved_total", Help: "Commits that got no answer and were looked up."},
}

// explain adds advice to an error from opening a cluster.
func explain(err error) error {
	e := &advice.Error{
		Msg: "--store: " + err.Error(), Err: err,
		Advice: "check that the cluster runs, with http://PD:PORT/pd/api/v1/health of a placement driver, and that " +
			"this machine reaches the drivers and the stores; a cluster with TLS needs ca, cert and key in the URL",
	}
	switch {
	case errors.Is(err, tikv.ErrLocked):
		e.Advice = "stop that server, or give this one tables of its own, " +
			"with another prefix after the slash of the URL"
	case errors.Is(err, tikv.ErrFormat):
		e.Advice = "use the version of Sortkey that created the tables, or another prefix after the slash of the URL"
	case errors.Is(err, context.Canceled):
		return err
	}
	return e
}
