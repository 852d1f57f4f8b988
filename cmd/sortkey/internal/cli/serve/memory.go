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
func returnMemory(ctx context.Context, st store.Store, quiet time.Duration) {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/goal:bytes"}}
	allocated := func() uint64 {
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	var seen, returned uint64
	tick := time.NewTicker(quiet)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := allocated()
		if isOver(now-seen, now-returned, sample[1].Value.Uint64()) {
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
			now = allocated()
			returned = now
		}
		seen = now
	}
}

// isOver reports whether a burst of requests is over: the process has allocated many bytes since it last returned
// memory, but few in the last interval. The goal is the size of the heap at the next garbage collection.
func isOver(lately, since, goal uint64) bool { return since >= goal/4 && lately < goal/32 }

// inMemory reports whether the rows of a store are in memory. Compacting such a store takes little time.
func inMemory(st store.Store) bool {
	forker, ok := st.(store.Forker)
	return ok && forker.ForksInstantly()
}
