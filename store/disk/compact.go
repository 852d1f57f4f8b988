package disk

import (
	"context"
	"fmt"
	"time"

	"github.com/sortkey/sortkey/internal/capability"
)

var _ capability.Compactor = (*Store)(nil)

// behind is greater than every address, because no space has so large a number.
var behind = []byte{0xFF}

// Compact implements [capability.Compactor]: it merges all files into one sorted run, so that the space of
// rows that were replaced or deleted is free again, and reads look into fewer files. It reads and writes
// the whole store, and needs as much free space as its largest part for a while. Updates need not wait,
// but share the disk. When ctx ends, or the store is closed, it returns at once, and the engine completes
// the files that it has begun. For a store that is open for reading only, the error is [ErrReadOnly].
func (s *Store) Compact(ctx context.Context) error {
	if err := s.begin(); err != nil {
		return s.closedOr(err)
	}
	defer s.end()
	switch {
	case s.opts.ReadOnly:
		return ErrReadOnly
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() { // the engine would not end when the store fails, and Close would wait for it
		tick := time.NewTicker(pollInterval)
		defer tick.Stop()
		for ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case <-tick.C:
				if err := s.closedOr(s.failed()); err != nil {
					cancel(err)
				}
			}
		}
	}()

	var refused error // such as a file that cannot be opened now; the store goes on
	err := s.protect(func() error {
		refused = s.db.Compact(ctx, nil, behind, true)
		return nil
	})
	switch {
	case err != nil || refused == nil:
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return fmt.Errorf("disk: compact: %w", refused)
}
