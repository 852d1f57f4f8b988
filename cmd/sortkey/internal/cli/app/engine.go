package app

import (
	"context"
	"log/slog"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sortkey/sortkey/store"
)

// An Engine opens the databases of one kind that --store accepts, such as PostgreSQL. Such a database stores the rows
// of the tables.
type Engine struct {
	// Schemes are the schemes of the URLs that the engine opens.
	Schemes []string
	// Kind is the name of such a database in help, as in "a PostgreSQL database". Example is the URL of such a
	// database.
	Kind, Example string
	// Help says what Init does to a database and how the user writes its URL.
	Help string

	// Open opens the store in a database. Its errors have advice. Log may be nil.
	Open func(ctx context.Context, url string, log *slog.Logger) (store.Store, error)
	// Init prepares a database for Open.
	Init func(ctx context.Context, url string) error
	// Metrics returns the metrics of st, or nil if another engine has opened st. If Metrics is nil, package metrics
	// chooses the metrics by the type of the store.
	Metrics func(st store.Store) prometheus.Collector
}

// engine returns the engine for a URL.
func (e *Env) engine(url string) (*Engine, error) {
	scheme, _, ok := strings.Cut(url, "://")
	for i := range e.Engines {
		if ok && slices.Contains(e.Engines[i].Schemes, scheme) {
			return &e.Engines[i], nil
		}
	}
	// The error does not repeat the URL, which may contain a password.
	return nil, UsageError("give a URL such as "+e.join(func(e Engine) string { return e.Example }),
		"--store: the URL of a database begins with %s",
		e.join(func(e Engine) string { return e.Schemes[0] + "://" }))
}

// join calls text for all engines and joins the results with "or".
func (e *Env) join(text func(Engine) string) string {
	var texts []string
	for _, engine := range e.Engines {
		texts = append(texts, text(engine))
	}
	return strings.Join(texts, " or ")
}

// StoreKinds names the databases that --store takes, as in "a PostgreSQL database".
func (e *Env) StoreKinds() string { return e.join(func(e Engine) string { return e.Kind }) }

// StoreUsage is the help of --store.
func (e *Env) StoreUsage() string {
	return "`URL` of " + e.StoreKinds() + " for the rows, prepared by sortkey init"
}

// StoreHelp returns the Help of all engines.
func (e *Env) StoreHelp() string {
	var texts []string
	for _, engine := range e.Engines {
		texts = append(texts, engine.Help)
	}
	return strings.Join(texts, "\n\n")
}

// OpenStore opens the store at the URL of --store. Log may be nil.
func (e *Env) OpenStore(ctx context.Context, url string, log *slog.Logger) (store.Store, error) {
	engine, err := e.engine(url)
	if err != nil {
		return nil, err
	}
	return engine.Open(ctx, url, log)
}

// InitStore prepares the database at the URL of --store.
func (e *Env) InitStore(ctx context.Context, url string) error {
	engine, err := e.engine(url)
	if err != nil {
		return err
	}
	return engine.Init(ctx, url)
}

// StoreMetrics returns the metrics of the store from the engine that has opened it, or nil if that engine defines
// none.
func (e *Env) StoreMetrics(st store.Store) prometheus.Collector {
	for _, engine := range e.Engines {
		if engine.Metrics == nil {
			continue
		}
		if c := engine.Metrics(st); c != nil {
			return c
		}
	}
	return nil
}
