package main

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/bench"
	"github.com/sortkey/sortkey/bench/contest"
	shape "github.com/sortkey/sortkey/bench/work"
)

// TestMain runs the program instead of tests when the test binary is started with the program's arguments.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == "list" || os.Args[1] == "run") {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestAllStores runs every work on every store. The run compares the answers of the stores.
func TestAllStores(t *testing.T) {
	exe, err := os.Executable()
	require.NoError(t, err)
	c := bench.Config{
		Size: shape.Size{Items: 2 * perSensor}, Rounds: 1, Duration: time.Millisecond, Dir: t.TempDir(),
	}
	r, err := bench.RunEmbedded(t.Context(), c, exe)
	require.NoError(t, err)

	var stores []string
	for _, s := range r.Stores {
		if s.Skipped == "" {
			stores = append(stores, s.Name)
			require.NotEmpty(t, s.Version)
			require.NotEqual(t, "unknown", s.Version)
		}
	}
	require.Contains(t, stores, "sqlite-modernc")
	require.Len(t, r.Results, 2*len(works(newDataset(perSensor))))
	for _, x := range r.Results {
		for _, name := range stores {
			f := x.On(name)
			require.NotNil(t, f, "%s, %s, %s", x.Engine, x.Workload, name)
			require.Positive(t, f.NsPerOp)
			require.Positive(t, f.Elapsed)
			require.Positive(t, f.Allocs)
		}
	}
	require.Positive(t, r.Results[0].On("table").Ratio)
}

// forgetful is a store that loses one put.
type forgetful struct{ store }

func (forgetful) put(context.Context, Reading) error { return nil }

func TestAnswersTellStoresApart(t *testing.T) {
	d := newDataset(perSensor)
	var all [][]string
	for _, wrap := range []func(store) store{
		func(s store) store { return s }, func(s store) store { return s }, func(s store) store { return forgetful{s} },
	} {
		s, err := sortkeyContender.open(contest.Memory, "")
		require.NoError(t, err)
		require.NoError(t, load(t.Context(), s, d))
		lines, err := answers(t.Context(), wrap(s), d)
		require.NoError(t, err)
		require.NoError(t, s.close())
		all = append(all, lines)
	}
	require.Equal(t, all[0], all[1])
	require.NotEqual(t, all[0], all[2])
}

func TestDataset(t *testing.T) {
	d := newDataset(2 * perSensor)
	places := map[string]bool{}
	for i := range 2 * d.items {
		r := d.reading(i / 2)
		if i%2 == 1 {
			r = d.moved(i / 2)
		}
		key := fmt.Sprint(r.Place, " ", r.At)
		require.False(t, places[key], "two readings at %s", key)
		places[key] = true
		size := len("sensor") + len("at") + len("place") + len("value") + len("note") + len(r.Sensor) + len(r.At) +
			len(r.Place) + len(r.Note)
		require.InDelta(t, 200, size, 10)
	}
}
