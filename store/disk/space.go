package disk

import (
	"context"
	"errors"
	"fmt"
	"math"
	"syscall"
	"time"

	"github.com/sortkey/sortkey/store"
)

// A full disk does not stop a store, because somebody may free space. Before an update writes anything, the store
// checks that there is space, and refuses the whole update if there is not. Updates that have begun, and background
// work, wait for space. They can continue, because the engine appends to its files: a write that was cut off
// continues where it stopped. Only a failed sync stops the store, because then nobody knows what is on the disk.

// errSpace is the error of an update that the store refuses because the disk is full. It is syscall.ENOSPC.
var errSpace = fmt.Errorf("disk: too little free disk space: %w", syscall.ENOSPC)

const (
	// leastWrite is the free disk space, in bytes, that an update must leave free. The engine needs it to write its
	// list of files, and the rows that are in memory.
	leastWrite = 8 << 20
	// The store uses a freeSpace for the time spaceAge, and for updates of at most spaceBytes in all. Then it asks
	// the file system again.
	spaceAge   = 100 * time.Millisecond
	spaceBytes = 1 << 20
)

func noSpace(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// A freeSpace caches what the file system says about free disk space. The write lock guards it.
type freeSpace struct {
	checked time.Time
	left    int64 // bytes that updates may write before the store asks the file system again
}

// full returns the error for updates while the disk is full.
func (s *Store) full() error {
	return fmt.Errorf("%w: free some on the disk of %s; writes go on then, without a restart", errSpace, s.dir)
}

// free returns the free bytes of the disk, or the largest int64 if the file system cannot tell.
func (s *Store) free() int64 {
	usage, err := s.opts.fs.GetDiskUsage(s.dir)
	if err != nil || usage.TotalBytes == 0 {
		return math.MaxInt64
	}
	return int64(min(usage.AvailBytes, math.MaxInt64)) //nolint:gosec // bounded
}

// reserveSpace returns an error if the disk lacks the space for an update of the given size in bytes.
func (s *Store) reserveSpace(bytes int) error {
	r, n := &s.freeSpace, int64(bytes)
	if now := time.Now(); r.left < n || now.Sub(r.checked) > spaceAge {
		free := s.free()
		if free-n < leastWrite {
			r.left = 0
			return s.full()
		}
		r.checked, r.left = now, max(n, spaceBytes)
	}
	r.left -= n
	return nil
}

// Health implements [capability.HealthChecker], for probes of a server. It returns an error while the disk is full:
// the store can then read, but not write.
func (s *Store) Health(ctx context.Context) error {
	if err := s.View(ctx, func(store.Reader) error { return nil }); err != nil || s.opts.ReadOnly {
		return err
	}
	if err := s.fs.starving.refusal(); noSpace(err) {
		return err
	}
	if s.free() < leastWrite {
		return s.full()
	}
	return nil
}
