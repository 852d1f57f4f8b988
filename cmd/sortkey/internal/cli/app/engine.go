package app

import (
	"context"
	"log/slog"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sortkey/sortkey/store"
)

// An Engine keeps the rows of --store in databases of one kind.
type Engine struct {
	// Schemes begin the URLs of its databases.
	Schemes []string
	// Kind names a database in help, with the article, and Example is the URL of one.
	Kind, Example string
	// Help says what Init does with a database and how to write its URL.
	Help string

	// Open opens the rows of a database. Its error says what to do. Log may be nil.
	Open func(ctx context.Context, url string, log *slog.Logger) (store.Store, error)
	// Init prepares a database for Open.
	Init func(ctx context.Context, url string) error
	// Metrics returns the metrics of a store that Open has opened, or nil for another
	// store. Default: those that package metrics knows.
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
	// The text does not repeat the URL, which may have a password.
	return nil, UsageError("give a URL such as "+e.join(func(e Engine) string { return e.Example }),
		"--store: the URL of a database begins with %s",
		e.join(func(e Engine) string { return e.Schemes[0] + "://" }))
}

// join returns texts of all engines, with "or" between them.
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

// StoreHelp says of each engine what init does and how its URLs are written.
func (e *Env) StoreHelp() string {
	var texts []string
	for _, engine := range e.Engines {
		texts = append(texts, engine.Help)
	}
	return strings.Join(texts, "\n\n")
}

// OpenStore opens the rows of --store. Log may be nil.
func (e *Env) OpenStore(ctx context.Context, url string, log *slog.Logger) (store.Store, error) {
	engine, err := e.engine(url)
	if err != nil {
		return nil, err
	}
	return engine.Open(ctx, url, log)
}

// InitStore prepares the database of --store.
func (e *Env) InitStore(ctx context.Context, url string) error {
	engine, err := e.engine(url)
	if err != nil {
		return err
	}
	return engine.Init(ctx, url)
}

// StoreMetrics returns the metrics of a store that its engine declares, or nil.
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
