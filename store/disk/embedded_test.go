package disk_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/store/disk"
)

// TestEmbedded holds that a program finds after a restart what its transactions applied, and
// nothing of the one that failed.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	type account struct {
		Name    string `dynamodbav:"name"`
		Balance int    `dynamodbav:"balance"`
	}
	ctx := t.Context()
	folder := filepath.Join(t.TempDir(), "db")
	open := func() (*sortkey.DB, *sortkey.TableOf[account]) {
		st, err := disk.Open(folder, disk.Options{})
		require.NoError(t, err)
		db, err := sortkey.Open(sortkey.Options{Store: st})
		require.NoError(t, err)
		return db, sortkey.Table[account](db, "Accounts")
	}

	db, accounts := open()
	require.NoError(t, db.CreateTable(ctx, "Accounts", "name"))
	require.NoError(t, accounts.Put(ctx, account{"a", 10}))
	require.NoError(t, accounts.Put(ctx, account{"b", 0}))
	move := func(amount int) error {
		return db.Update(ctx, func(ctx context.Context) error {
			_, to := accounts.Update(ctx, sortkey.Key{"b"}, "SET balance = balance + :n", amount)
			_, from := accounts.Update(ctx, sortkey.Key{"a"}, "SET balance = balance - :n", amount,
				sortkey.If("balance >= :n", amount))
			return errors.Join(to, from)
		})
	}
	require.NoError(t, move(7))
	require.ErrorIs(t, move(7), sortkey.ErrConditionFailed)
	require.NoError(t, db.Close())

	db, accounts = open()
	defer db.Close()
	var all []account
	for a, err := range accounts.Scan(ctx) {
		require.NoError(t, err)
		all = append(all, a)
	}
	require.ElementsMatch(t, []account{{"a", 3}, {"b", 7}}, all)
}
