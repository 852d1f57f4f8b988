package serve

import (
	"context"
	"errors"
	"time"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/snapshot"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/store/disk"
)

// serveSnapshots takes snapshots of the database in a folder when sortkey snapshot asks
// for them, until end is called. End gives snapshots in progress the time of drain. It
// returns err or, if that is nil, the error of a snapshot that it has stopped.
func serveSnapshots(
	ctx context.Context, dir string, st *disk.Store, drain time.Duration, log logs,
) (end func(err error) error) {
	control, err := snapshot.Listen(ctx, dir, st, drain)
	if err != nil {
		log.Warn("snapshots are disabled", "err", err)
		return func(err error) error { return err }
	}
	return func(err error) error {
		closed := control.Close()
		if errors.Is(closed, snapshot.ErrStopped) {
			closed = advice.New("take it again; --drain gives it more time", "%w", closed)
		}
		if err == nil {
			return closed
		}
		if closed != nil {
			log.Warn("snapshot", "err", closed)
		}
		return err
	}
}
