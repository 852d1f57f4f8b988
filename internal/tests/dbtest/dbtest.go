// Package dbtest has helpers for tests of expiring items in databases on any engine.
package dbtest

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
)

// Expiring opens a database with a table of n items that expire in a minute,
// and one item that does not expire.
func Expiring(t testing.TB, opts sortkey.Options, n int) *sortkey.DB {
	t.Helper()
	db, err := sortkey.Open(opts)
	require.NoError(t, err)
	ctx, sessions := t.Context(), sortkey.Table[session](db, "Sessions")
	byUser := sortkey.Global("ByUser", "user")
	require.NoError(t, db.CreateTable(ctx, "Sessions", "id", byUser, sortkey.TimeToLive("until")))
	until := opts.Clock().Add(time.Minute).Unix()
	for i := range n {
		require.NoError(t, sessions.Put(ctx, session{strconv.Itoa(i), "u", until}))
	}
	require.NoError(t, sessions.Put(ctx, session{ID: "stays", User: "u"}))
	return db
}

// A session is an item in the table of Expiring.
type session struct {
	ID    string `dynamodbav:"id"`
	User  string `dynamodbav:"user"`
	Until int64  `dynamodbav:"until,omitempty"`
}

// Count returns the number of items in the table of Expiring or, if index is not nil, of entries in that index.
func Count(t *testing.T, db *sortkey.DB, index *string) (n int64) {
	t.Helper()
	sessions := sortkey.Table[attr.Item](db, "Sessions")
	if index != nil {
		sessions = sessions.Index(*index)
	}
	for _, err := range sessions.Scan(t.Context()) {
		require.NoError(t, err)
		n++
	}
	return n
}
