// Package inside is the way from a database to its operations in typed form, for
// packages of this module. Programs have the clients of package sdk.
package inside

import "github.com/sortkey/sortkey/internal/api"

// Service returns the operations of a *sortkey.DB. Package sortkey sets it.
var Service func(db any) *api.Service
