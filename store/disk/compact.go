package disk

import (
	"context"
	"fmt"
	"time"

	"github.com/sortkey/sortkey/internal/capability"
)

var _ capability.Compactor = (*Store)(nil)

// behind is greater than every address, because no store uses a space whose number begins with 0xFF.
var behind = []byte{0xFF}

// Compact implements [capability.Compactor]. It merges all files into one sorted run. That frees the disk space of
// rows that were replaced or deleted, and reads then look into fewer files. Compact reads and writes the whole store,
// and for a while needs as much free space as the largest part of the store takes. Updates do not wait for it, but
// share the disk with it. When ctx ends, or the store is closed, Compact returns at once, and the engine completes
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
	go func() { // Cancel when the store fails. Otherwise the engine would not return, and Close would wait for it.
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

	var refused error // an error that does not fail the store, such as a file that cannot be opened now
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
