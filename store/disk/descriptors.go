package disk

import (
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// errDescriptors is returned by Update while the process, or the machine, has no free file descriptor. The store
// drops that update, and accepts updates again once there are descriptors.
var errDescriptors = fmt.Errorf("disk: no free file descriptor: %w", syscall.EMFILE)

// closeWait is how long a store that is being opened or closed waits for descriptors, or for space.
const closeWait = 5 * time.Second

func noDescriptors(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// passes reports whether err is a lack of descriptors or of disk space. Both can end without a restart.
func passes(err error) bool { return noDescriptors(err) || noSpace(err) }

// patient repeats op while it fails for a lack of descriptors or of space, because the engine would treat the failure
// as final. If op fails, it must not have changed a file, unless repeating it makes the same change. While patient
// waits, the store refuses new updates.
func (g *guard) patient(op func() error) error {
	err := op()
	if !passes(err) {
		return err
	}

	refusal := starved()
	if noSpace(err) {
		refusal = g.store.full()
	}
	g.starving.begin(refusal)
	defer g.starving.end()
	g.store.opts.Logger.Warn("writes wait", "dir", g.store.dir, "err", err.Error(), "refused", refusal.Error())
	for left := g.store.opts.timeout; left > 0 && passes(err); err = op() {
		time.Sleep(pollInterval)
		if g.store.failure.Load() != nil { // a failed store writes nothing more
			return err
		}
		if !g.store.opened.Load() || g.store.closing() {
			left -= pollInterval
		}
	}
	if err == nil {
		g.store.opts.Logger.Warn("writes continue", "dir", g.store.dir)
	}
	return err
}

func (s *Store) closing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// A hunger counts the calls that wait for descriptors or for space.
type hunger struct {
	mu    sync.Mutex
	n     int
	err   error         // returned by updates meanwhile
	begun chan struct{} // closed while calls wait
}

// channel returns a channel that is closed as soon as calls wait.
func (h *hunger) channel() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.begun == nil {
		h.begun = make(chan struct{})
	}
	return h.begun
}

// refusal returns the error for new updates, or nil if no call waits.
func (h *hunger) refusal() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.n == 0 {
		return nil
	}
	return h.err
}

func (h *hunger) begin(refusal error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.err = refusal
	if h.begun == nil {
		h.begun = make(chan struct{})
	}
	if h.n++; h.n == 1 {
		close(h.begun)
	}
}

func (h *hunger) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.n--; h.n == 0 {
		h.begun = make(chan struct{})
	}
}

// starved returns the error for updates while the store waits for descriptors.
func starved() error {
	return fmt.Errorf("%w: raise the limit (ulimit -n), or use fewer connections", errDescriptors)
}

// The engine keeps files open to read them. They get at most a quarter of the descriptors; connections, logs, and
// files that the engine is writing need the rest.
const (
	readShare    = 4
	maxReadFiles = 990 // of the engine's own default
	minReadFiles = 8
)

// readFiles returns how many files the engine may keep open for reading if the process may have limit descriptors. A
// limit of 0 means that the limit is unknown.
func readFiles(limit uint64) int {
	if limit == 0 || limit/readShare >= maxReadFiles {
		return maxReadFiles
	}
	return max(int(limit/readShare), minReadFiles)
}

// fileCache returns the engine's cache of open files, with at most eight shards.
func fileCache() *pebble.FileCache {
	files := readFiles(descriptorLimit())
	return pebble.NewFileCache(min(files/minReadFiles, 8), files)
}
