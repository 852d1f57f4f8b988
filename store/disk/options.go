package disk

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Options configure [Open]. The zero value is ready to use.
type Options struct {
	// CacheBytes limits the cache of blocks read from disk. Default: 64 MiB.
	CacheBytes int64

	// MemTableBytes is the amount of written rows that is kept in memory before
	// it is written to a file. The store may use twice as much memory. Default:
	// 16 MiB.
	MemTableBytes int64

	// SyncEvery is the time between two syncs of the log. The default, 0, syncs
	// every Update before it returns. With an interval, Update does not wait. A
	// crash of the machine can then lose the updates of the last interval,
	// always the latest ones without a gap. Close syncs.
	SyncEvery time.Duration

	// ReadOnly refuses updates, does not create a store and does not write to its folder, so permission to read is
	// enough. Any number of stores, in this process and others, can have a folder open for reading only at the same
	// time, but not together with a store that writes. On systems without flock, such as Windows, only one store can
	// have a folder open, even for reading.
	ReadOnly bool

	// AcceptLoss opens a folder whose log is damaged. The store then lacks the updates that cannot be read, and logs
	// where they were. By default, [Open] refuses such a folder.
	AcceptLoss bool

	// Logger receives the engine's events: errors and slow writes at their own
	// levels, everything else at debug level. Default: discard.
	Logger *slog.Logger

	// InMemory keeps the files of the folder in memory, until the store is closed. It is for tests and measurements
	// of the engine.
	InMemory bool

	// Tests set others.
	fs      vfs.FS        // file system of the folder; nil means the machine's
	timeout time.Duration // how long opening and closing wait for descriptors and space: closeWait
}

const (
	defaultCacheBytes    = 64 << 20
	defaultMemTableBytes = 16 << 20
	minMemTableBytes     = 64 << 10
	maxMemTableBytes     = 1 << 30

	// stopWrites is the number of overlapping files at which Pebble blocks writers until it has merged some. A
	// blocked writer does not notice when the store fails, so the number is high.
	stopWrites = 1000

	// pebbleFormat is the format of Pebble's files. Changing it requires a new
	// Format, because an older Sortkey could no longer open the folder.
	pebbleFormat = pebble.FormatValueSeparation
)

func (o Options) withDefaults() Options {
	if o.CacheBytes <= 0 {
		o.CacheBytes = defaultCacheBytes
	}
	if o.MemTableBytes <= 0 {
		o.MemTableBytes = defaultMemTableBytes
	}
	o.MemTableBytes = min(max(o.MemTableBytes, minMemTableBytes), maxMemTableBytes)
	switch {
	case o.fs != nil:
	case o.InMemory:
		o.fs = vfs.NewMem()
	default:
		o.fs = privateFS{vfs.Default}
	}
	if o.timeout == 0 {
		o.timeout = closeWait
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// pebble returns Pebble's options for s. The comparer is Pebble's own, which orders rows by their bytes. Filters
// cover whole addresses: a conditional put of a new item then rarely reads a file to find that the item does not
// exist.
func (s *Store) pebble() *pebble.Options {
	logger := logger{s}
	o := &pebble.Options{
		CacheSize:             s.opts.CacheBytes,
		FS:                    s.fs,
		FormatMajorVersion:    pebbleFormat,
		L0StopWritesThreshold: stopWrites,
		Logger:                logger,
		MemTableSize:          uint64(s.opts.MemTableBytes),
		ReadOnly:              s.opts.ReadOnly,
		EventListener: &pebble.EventListener{
			BackgroundError: func(err error) {
				if passes(err) { // when opening or linking a file; the engine retries
					time.Sleep(pollInterval)
					return
				}
				s.fail("background work", err)
			},
			DataCorruption: func(info pebble.DataCorruptionInfo) {
				if s.failed() == nil { // a failed store has not written what Pebble reads
					logger.Errorf("corruption: %s", info)
				}
			},
			DiskSlow: func(info pebble.DiskSlowInfo) { s.opts.Logger.Warn("slow disk", "event", info.String()) },
			WriteStallBegin: func(info pebble.WriteStallBeginInfo) {
				s.opts.Logger.Warn("writes blocked", "reason", info.Reason)
			},
			WriteStallEnd: func() { s.opts.Logger.Warn("writes continue") },
		},
	}
	for i := range o.Levels {
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	return o
}

// logger receives Pebble's messages. Pebble calls Fatalf when it cannot continue. The store then fails, and nothing
// more reaches the disk, so it does no harm that Pebble continues.
type logger struct{ *Store }

func (l logger) Infof(format string, args ...any) {
	if l.opts.Logger.Enabled(l.background, slog.LevelDebug) {
		l.opts.Logger.Debug(fmt.Sprintf(format, args...))
	}
}

func (l logger) Errorf(format string, args ...any) {
	l.opts.Logger.Error(fmt.Sprintf(format, args...), "dir", l.dir)
}

func (l logger) Fatalf(format string, args ...any) {
	l.fail("engine", fmt.Errorf(format, args...))
}
