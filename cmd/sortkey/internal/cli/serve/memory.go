package serve

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/store"
)

// returnMemory waits until a burst of requests is over and then returns free memory to the operating system. It does
// so after each burst, until ctx ends. If the rows are in memory, it compacts them first. Without returnMemory, an
// idle process would keep the memory until the runtime collects garbage, which may take two minutes.
//
// A burst is over when the garbage collector has run since returnMemory last returned memory, and the process has
// allocated less than a 32nd of its heap during the last interval of length quiet.
func returnMemory(ctx context.Context, st store.Store, quiet time.Duration) {
	sample := []metrics.Sample{
		{Name: "/gc/cycles/automatic:gc-cycles"}, {Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/goal:bytes"},
	}
	read := func() (cycles, allocated, heap uint64) {
		metrics.Read(sample)
		return sample[0].Value.Uint64(), sample[1].Value.Uint64(), sample[2].Value.Uint64()
	}
	var seen, returned uint64 // bytes and cycles
	tick := time.NewTicker(quiet)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		cycles, allocated, heap := read()
		if cycles != returned && allocated-seen < heap/32 {
			if c, ok := st.(capability.Compactor); ok && inMemory(st) {
				// Compact copies the rows. Collect garbage whenever the heap has grown by a quarter, so that the
				// process does not hold all rows twice.
				percent := debug.SetGCPercent(25)
				err := c.Compact(ctx)
				debug.SetGCPercent(percent)
				if err != nil {
					return // the store is closed, or the server ends
				}
			}
			debug.FreeOSMemory()
			returned, allocated, _ = read()
		}
		seen = allocated
	}
}

// inMemory reports whether the rows of a store are in memory. Compacting such a store takes little time.
func inMemory(st store.Store) bool {
	forker, ok := st.(store.Forker)
	return ok && forker.ForksInstantly()
}
