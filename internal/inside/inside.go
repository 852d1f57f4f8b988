// Package inside gives packages of this module access to the typed operations
// of a database. Programs use the clients of package sdk.
package inside

import (
	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/table"
)

// Service returns the operations of a *sortkey.DB. Package sortkey sets it.
var Service func(db any) *api.Service

// RequestID returns the id of the next request of a *sortkey.DB, for those without
// HTTP. Package sortkey sets it.
var RequestID func(db any) string

// Credentials returns an access key and its secret that the server of a *sortkey.DB
// accepts. Package sortkey sets it.
var Credentials func(db any) (key, secret string)

// Watched reports whether going over HTTP makes a difference to a request of a
// *sortkey.DB: an observer sees the HTTP fields, or the server checks signatures or has
// its own limits. Package sortkey sets it.
var Watched func(db any) bool

// Trace returns the sortkey.Trace of what a query or scan has read. Package sortkey sets it.
var Trace func(tr *table.Trace) any
