package sortkey_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/api/fault"
	"github.com/sortkey/sortkey/internal/engine"
	"github.com/sortkey/sortkey/internal/tests/apitest"
)

// TestMain runs all tests of the package with [sortkey.Poison], so that operations overwrite their pooled memory when
// they end. Benchmarks run without it.
func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() == "" {
		sortkey.Poison()
	}
	os.Exit(m.Run())
}

// A keeper is an observer that keeps all events, with copies of their texts from the time when they ended.
type keeper struct {
	mu     sync.Mutex
	events []*sortkey.Event
	texts  []string
}

func (k *keeper) Begin(context.Context, *sortkey.Event) {}

func (k *keeper) End(_ context.Context, e *sortkey.Event) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.events, k.texts = append(k.events, e), append(k.texts, textOf(e))
}

func textOf(e *sortkey.Event) string {
	return fmt.Sprint(e.Operation, e.Tables, e.Units, e.Examined, e.Returned, e.Error, e.Message, e.Traces())
}

// check compares the events with the copies, after later operations have reused memory.
func (k *keeper) check(t *testing.T) {
	t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, e := range k.events {
		require.Equal(t, k.texts[i], textOf(e))
	}
}

// TestBehaviourOfPools runs the scripts of the operations through the Go API, together with everything that reads
// inputs: an observer that keeps its events, faults that match keys, and stale reads.
func TestBehaviourOfPools(t *testing.T) {
	var k keeper
	apitest.Run(t, "sdk/testdata/behaviour", func(t *testing.T, opts sortkey.Options) *sortkey.DB {
		opts.Observer = &k
		db := open(t, opts)
		engine.Of(db).Fail(fault.Fault{Key: "no such key*", Code: "InternalServerError"})
		return db
	})
	require.Greater(t, len(k.events), 1000)
	k.check(t)
}
