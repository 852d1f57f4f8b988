package main

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
)

func Example() {
	main()
	// Unordered output:
	// 12 × Feeling Good
	// 10 × Sinnerman
	// Miles: So What
	// + Sinnerman
	// + Feeling Good
	// + So What
	// ~ Sinnerman: 9 → 10 plays
	// - So What
	// + So What
}

// TestUndo tests that Undo undoes each change exactly, also when many changes run concurrently.
func TestUndo(t *testing.T) {
	ctx := t.Context()
	db, err := sortkey.Open(sortkey.Options{})
	require.NoError(t, err)
	defer db.Close()
	l, err := NewLibrary(ctx, db)
	require.NoError(t, err)
	require.NoError(t, l.Put(ctx, Song{"Nina", "Sinnerman", 1965, 0}))

	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() { _ = l.Play(ctx, "Nina", "Sinnerman") })
	}
	wg.Wait()
	song, err := l.songs.Get(ctx, "Nina", "Sinnerman")
	require.NoError(t, err)
	require.Equal(t, 20, song.Plays)

	require.ErrorIs(t, l.Play(ctx, "Nobody", "Nothing"), sortkey.ErrConditionFailed)
	for range 20 {
		require.NoError(t, l.Undo(ctx))
	}
	song, err = l.songs.Get(ctx, "Nina", "Sinnerman")
	require.NoError(t, err)
	require.Zero(t, song.Plays, "a change that was refused is not among the steps")
	require.NoError(t, l.Undo(ctx))
	require.ErrorIs(t, l.Undo(ctx), ErrNothing)
	_, err = l.songs.Get(ctx, "Nina", "Sinnerman")
	require.ErrorIs(t, err, sortkey.ErrNotFound)
}

// TestFeed tests that a feed continues after its cursor.
func TestFeed(t *testing.T) {
	ctx := t.Context()
	db, err := sortkey.Open(sortkey.Options{})
	require.NoError(t, err)
	defer db.Close()
	l, err := NewLibrary(ctx, db)
	require.NoError(t, err)
	require.NoError(t, l.Put(ctx, Song{"Nina", "Sinnerman", 1965, 0}))
	var out bytes.Buffer
	cursor, err := l.Feed(ctx, &out, "")
	require.NoError(t, err)
	require.NoError(t, l.Play(ctx, "Nina", "Sinnerman"))
	_, err = l.Feed(ctx, &out, cursor)
	require.NoError(t, err)
	require.Equal(t, "+ Sinnerman\n~ Sinnerman: 0 → 1 plays\n", out.String())

	ended, cancel := context.WithCancelCause(ctx)
	cancel(errors.New("enough"))
	_, err = l.Feed(ended, &out, cursor)
	require.Error(t, err)
}
