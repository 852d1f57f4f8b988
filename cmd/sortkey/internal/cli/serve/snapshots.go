package serve

import (
	"context"
	"time"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/snapshot"
	"github.com/sortkey/sortkey/store/disk"
)

// serveSnapshots takes a snapshot of the database in the folder dir whenever sortkey snapshot asks for one. It stops
// when the caller calls end. A snapshot in progress then has the time drain to finish.
func serveSnapshots(ctx context.Context, dir string, st *disk.Store, drain time.Duration, log logs) (end func()) {
	control, err := snapshot.Listen(ctx, dir, st, drain, 5*time.Second)
	if err != nil {
		log.Warn("snapshots are disabled", "err", err)
		return func() {}
	}
	return func() {
		if err := control.Close(); err != nil {
			log.Warn("snapshots", "err", err)
		}
	}
}
