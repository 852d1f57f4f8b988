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
	// CacheBytes bounds the cache of blocks read from disk. Default: 64 MiB.
	CacheBytes int64

	// MemTableBytes is the memory that written rows collect in before they
	// become a file. Up to twice as much is used. Default: 16 MiB.
	MemTableBytes int64

	// SyncEvery is the time between two syncs of the log. The default, 0,
	// syncs every Update before it returns. With an interval an Update does
	// not wait, and a crash of the machine can lose those of the last
	// interval, though never one without all that came after it. Close syncs.
	SyncEvery time.Duration

	// ReadOnly refuses updates, and creates no store where there is none. The
	// folder is locked all the same.
	ReadOnly bool

	// FS is the file system the folder lies in. Default: the machine's.
	FS vfs.FS

	// Logger receives the engine's events: errors and slow writes at their
	// levels, everything else at debug. Default: discard.
	Logger *slog.Logger
}

const (
	defaultCacheBytes    = 64 << 20
	defaultMemTableBytes = 16 << 20
	minMemTableBytes     = 64 << 10
	maxMemTableBytes     = 1 << 30

	// stopWrites is the number of overlapping files at which Pebble holds up
	// writers until it has merged some. A writer held up cannot be told of a
	// failure, so this is a last resort.
	stopWrites = 1000

	// pebbleFormat is the format of Pebble's files. To raise it is to raise
	// our own format: an older Sortkey could no longer open the folder.
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
	if o.FS == nil {
		o.FS = vfs.Default
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// pebble returns Pebble's options for s. The comparer is Pebble's own: rows
// are ordered by their bytes, and filters are over whole addresses, which is
// what a conditional put of a new item asks for.
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
			BackgroundError: func(err error) { s.fail("background work", err) },
			DataCorruption:  func(info pebble.DataCorruptionInfo) { logger.Errorf("corruption: %s", info) },
			DiskSlow:        func(info pebble.DiskSlowInfo) { s.opts.Logger.Warn("slow disk", "event", info.String()) },
			WriteStallBegin: func(info pebble.WriteStallBeginInfo) {
				s.opts.Logger.Warn("writes held up", "reason", info.Reason)
			},
			WriteStallEnd: func() { s.opts.Logger.Warn("writes go on") },
		},
	}
	for i := range o.Levels {
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	return o
}

// logger takes Pebble's messages. Pebble calls Fatalf where it cannot go on;
// the store is then failed, nothing more reaches the disk, and Pebble may do
// what it likes with the rest.
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
