package table_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/tabletest"
	"github.com/sortkey/sortkey/store"
)

// TestJoined checks what the operations of a joined update see, and that all or none of them are applied.
func TestJoined(t *testing.T) {
	f := tabletest.Open(t)
	f.Create("T", "PK:S SK:S")
	db := f.DB
	putTx := func(tx *table.Tx, sk, n string) error {
		tab, err := tx.Table("T")
		if err != nil {
			return err
		}
		_, err = tx.Put(tab, tabletest.Item(t, "{'PK':{'S':'a'},'SK':{'S':'"+sk+"'},'n':{'N':'"+n+"'}}"), nil)
		return err
	}
	put := func(ctx context.Context, sk, n string) error {
		return db.Update(ctx, func(tx *table.Tx) error { return putTx(tx, sk, n) })
	}
	get := func(ctx context.Context, sk string) (n string) {
		require.NoError(t, db.ViewItem(ctx, func(view *table.View) error {
			tab, err := view.Table("T")
			if err != nil {
				return err
			}
			it, err := view.Get(tab, tabletest.Item(t, "{'PK':{'S':'a'},'SK':{'S':'"+sk+"'}}"))
			if it != nil {
				n = string(it.Get("n").AppendNumber(nil))
			}
			return err
		}))
		return n
	}

	var kept context.Context
	require.NoError(t, db.UpdateJoined(t.Context(), func(ctx context.Context) error {
		require.NoError(t, put(ctx, "x", "1"))
		require.Equal(t, "1", get(ctx, "x"), "its own write")
		require.Empty(t, get(t.Context(), "x"), "others see nothing yet")
		require.NoError(t, db.UpdateJoined(ctx, func(ctx context.Context) error { return put(ctx, "y", "2") }),
			"it joins")
		require.ErrorContains(t, db.ViewJoined(ctx, func(ctx context.Context) error { return put(ctx, "z", "3") }),
			"only reads")
		_, err := db.Create(ctx, &table.Definition{Name: "Other"})
		require.ErrorContains(t, err, "not created, changed or deleted in a transaction")
		kept = ctx
		return nil
	}))
	require.Equal(t, "1", get(t.Context(), "x"))
	require.Equal(t, "2", get(t.Context(), "y"))
	require.ErrorIs(t, put(kept, "x", "9"), table.ErrEnded)

	undone := errors.New("no")
	require.ErrorIs(t, db.UpdateJoined(t.Context(), func(ctx context.Context) error {
		require.NoError(t, put(ctx, "x", "7"))
		return undone
	}), undone)
	require.Equal(t, "1", get(t.Context(), "x"))

	// If an operation fails after it has written, the function cannot recover.
	late := errors.New("late")
	require.ErrorIs(t, db.UpdateJoined(t.Context(), func(ctx context.Context) error {
		err := db.Update(ctx, func(tx *table.Tx) error {
			return errors.Join(putTx(tx, "x", "8"), late)
		})
		require.ErrorIs(t, err, late)
		require.ErrorIs(t, put(ctx, "y", "8"), late)
		return nil
	}), late)
	require.Equal(t, "1", get(t.Context(), "x"))

	require.NoError(t, db.ViewJoined(t.Context(), func(ctx context.Context) error {
		require.NoError(t, put(t.Context(), "x", "5"))
		require.Equal(t, "1", get(ctx, "x"), "the state of its beginning")
		return nil
	}))
	require.NoError(t, db.Close(t.Context()))
	require.ErrorIs(t, db.UpdateJoined(t.Context(), func(context.Context) error { return nil }), store.ErrClosed)
}
