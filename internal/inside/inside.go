// Package inside gives packages of this module access to the typed operations
// of a database. Programs use the clients of package sdk.
package inside

import (
	"log/slog"
	"time"

	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/api/event"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/store"
)

// Service returns the operations of a *sortkey.DB. Package sortkey sets it.
var Service func(db any) *api.Service

// A Side is what the HTTP face of a database needs of it.
type Side struct {
	Logger   *slog.Logger
	Clock    func() time.Time
	Observer event.Observer // or nil
	// RequestID returns the id of the next request.
	RequestID func() string
	// Health returns why the database cannot be used, or nil.
	Health func() error
}

// SideOf returns the side of a *sortkey.DB. Package sortkey sets it.
var SideOf func(db any) Side

// Store returns the store of a *sortkey.DB. Package sortkey sets it.
var Store func(db any) store.Store

// Trace returns the sortkey.Trace of what a query or scan has read. Package sortkey sets it.
var Trace func(tr *table.Trace) any

// A RequestKeeper is a sortkey.Observer that wants the bodies of requests, those of at most so many bytes:
// see [RequestOf].
type RequestKeeper interface{ RequestBytes() int }

// RequestOf returns the body of the request of a *sortkey.Event in JSON, or nil. Nobody changes it.
// Package sortkey sets it.
var RequestOf func(event any) []byte

// ItemsOf returns how many items the reads of a *sortkey.Event have named by their keys, and how many of them there
// are. Package sortkey sets it.
var ItemsOf func(event any) (asked, found int)

// Control returns the http.Handler with which tests in other languages control the databases of a
// *server.Server. Package server sets it.
var Control func(server any) any

// A Test is the test that owns a *sortkeytest.DB.
type Test interface {
	Helper()
	Logf(format string, args ...any)
	// Reason returns the code and the message of an error of one of the test's own
	// operations.
	Reason(err error) string
	// End fails the test and ends it. After the end of the test it returns.
	End(message string)
}

// TestOf returns the test of a *sortkeytest.DB. Package sortkeytest sets it.
var TestOf func(db any) Test
