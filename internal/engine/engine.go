// Package engine has the type of the database that a sortkey.DB wraps. Other packages of this module reach that
// database with [Of]. Programs use the clients of package sdk instead.
package engine

import (
	"context"
	"log/slog"
	"time"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/api/event"
	"github.com/sortkey/sortkey/internal/api/fault"
	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/life"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store"
)

// A DB is an open database.
type DB struct {
	Store    store.Store
	Tables   *life.DB
	Service  *api.Service // implements the operations
	Logger   *slog.Logger
	Clock    func() time.Time
	Observer event.Observer // or nil
	// RequestID generates the id of the next request.
	RequestID func() string
}

// healthTimeout is how long a health check waits for the store.
const healthTimeout = time.Second

// Health returns nil if the database can be used, or the reason why not.
func (db *DB) Health() error {
	ctx, cancel := context.WithTimeout(context.Background(), healthTimeout)
	defer cancel()
	return capability.Health(ctx, db.Store)
}

// Fail injects a fault into requests until the caller calls lift.
func (db *DB) Fail(f fault.Fault) (rule *fault.Rule, lift func()) {
	rule = &fault.Rule{Fault: f}
	set := db.Service.Faults()
	set.Add(rule)
	return rule, func() { set.Remove(rule) }
}

// A Handle gives this module's packages access to the database that a sortkey.DB wraps. A sortkey.DB embeds it. Its
// method is unexported, so only this package can call it.
type Handle struct{ db *DB }

// HandleOf returns the handle of a database.
func HandleOf(db *DB) Handle { return Handle{db} }

func (h Handle) engine() *DB { return h.db }

// Of returns the database that a sortkey.DB wraps.
func Of(db interface{ engine() *DB }) *DB { return db.engine() }

// A Trace has the fields of sortkey.Trace, which documents them.
type Trace struct {
	Operation          string
	Table              string
	Index              string
	Partition          []attr.Attribute
	SortKey            []string
	Low, High          *keycond.Bound
	Span               store.Span
	Reverse            bool
	Consistent         bool
	Examined, Returned int
	Bytes, Fetched     int
	Units              float64
	Stop               keycond.Stop
}

// NewTrace converts a trace of package table.
func NewTrace(tr *table.Trace) Trace {
	t := Trace{
		Operation: tr.Operation, Table: tr.Table, Index: tr.Index, Reverse: tr.Reverse, Consistent: tr.Consistent,
		Examined: tr.Examined, Returned: tr.Returned, Bytes: tr.Bytes, Fetched: tr.Fetched, Units: tr.Units,
		Stop: tr.Stop,
	}
	if tr.Operation == "Scan" {
		t.Span = tr.Span
		return t
	}
	t.Partition, t.SortKey = tr.Key.PartitionKey(tr.Partition), tr.Key.SortNames()
	t.Low, t.High = tr.Key.Bounds(tr.Range)
	return t
}
