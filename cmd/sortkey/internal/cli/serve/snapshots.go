package serve

import (
	"context"
	"time"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/snapshot"
	"github.com/sortkey/sortkey/store/disk"
)

// serveSnapshots takes snapshots of the database in a folder when sortkey snapshot asks for them, until end is called.
// End gives snapshots in progress the time of drain.
func serveSnapshots(ctx context.Context, dir string, st *disk.Store, drain time.Duration, log logs) (end func()) {
	control, err := snapshot.Listen(ctx, dir, st, drain)
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
