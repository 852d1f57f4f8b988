package postgres_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/pgtest"
	"github.com/sortkey/sortkey/store/postgres"
)

// TestEmbedded holds that transactions of two programs that read and then write one item do
// not lose a step: the one that loses a conflict runs again.
func TestEmbedded(t *testing.T) {
	type counter struct {
		Name  string `dynamodbav:"name"`
		Steps int    `dynamodbav:"steps"`
	}
	pgtest.Shared(t)
	ctx, url := t.Context(), database(t)
	open := func() (*sortkey.DB, *sortkey.TableOf[counter]) {
		st, err := postgres.Open(ctx, url, postgres.Options{})
		require.NoError(t, err)
		db, err := sortkey.Open(sortkey.Options{Store: st})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, db.Close()) })
		return db, sortkey.Table[counter](db, "Counters")
	}
	db, counters := open()
	require.NoError(t, db.CreateTable(ctx, "Counters", "name"))
	require.NoError(t, counters.Put(ctx, counter{Name: "a"}))

	const steps = 20
	var wg sync.WaitGroup
	step := func(db *sortkey.DB, counters *sortkey.TableOf[counter]) {
		for range steps {
			err := db.Update(ctx, func(ctx context.Context) error {
				c, err := counters.Get(ctx, "a")
				if err != nil {
					return err
				}
				c.Steps++
				return counters.Put(ctx, c)
			})
			if err != nil {
				t.Error(err)
				return
			}
		}
	}
	other, theirs := open()
	wg.Go(func() { step(db, counters) })
	wg.Go(func() { step(other, theirs) })
	wg.Wait()
	c, err := theirs.Get(ctx, "a")
	require.NoError(t, err)
	require.Equal(t, 2*steps, c.Steps)
}
