package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A guard is a file system between Pebble and the real one. An operation that lacks descriptors or space waits until
// there are some ([guard.patient]). The first other failure of a write in the store's folder puts the store in the
// failed state. From then on the guard writes nothing there: the folder stays as a crash would leave it.
//
// The guard always reports success to Pebble for a write, because Pebble ends the process after some failures.
// Callers of the store never see such a false success: after the sync that they wait for, they check for the failed
// state before they return.
type guard struct {
	vfs.FS
	store *Store

	starving  hunger        // calls that wait for descriptors or for space
	abandoned chan struct{} // closed when the store stops waiting for the engine's Open

	mu   sync.Mutex
	lock io.Closer // of the folder, once locked

	durable atomic.Pointer[mark] // how much of the current log is durable; nil before its first sync

	logsMu sync.Mutex
	logs   []string // the logs with durable updates, as SORTKEY lists them
	listed bool     // SORTKEY is in the state ready, so it lists logs
}

// ready writes the file SORTKEY in the state ready.
func (g *guard) ready() error {
	g.logsMu.Lock()
	defer g.logsMu.Unlock()
	g.listed = true
	return writeMeta(g.FS, g.store.dir, stateReady, g.logs...)
}

// isLog reports whether a file is a log of the store.
func (g *guard) isLog(name string) bool { return strings.HasSuffix(name, ".log") && g.ours(name) }

// logNumber returns the number in the name of a log.
func logNumber(name string) (uint32, error) {
	n, err := strconv.ParseUint(strings.TrimSuffix(name, ".log"), 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%q is not the name of a log", name)
	}
	return uint32(n), nil
}

// list adds a log to the list when its first updates have become durable.
func (g *guard) list(name string) error {
	g.logsMu.Lock()
	defer g.logsMu.Unlock()
	log := g.PathBase(name)
	if slices.Contains(g.logs, log) {
		return nil
	}
	return g.patient(func() error { return g.setLogs(append(slices.Clip(g.logs), log)) })
}

// unlist removes a log from the list. Callers call it before they remove the file of the log. In the failed state it
// returns errFrozen: the log stays in the list, so its file must remain.
func (g *guard) unlist(name string) error {
	if !g.isLog(name) {
		return nil
	}
	if g.frozen(name) {
		return errFrozen
	}
	g.logsMu.Lock()
	defer g.logsMu.Unlock()
	i := slices.Index(g.logs, g.PathBase(name))
	if i < 0 {
		return nil
	}
	return g.setLogs(slices.Delete(slices.Clone(g.logs), i, i+1))
}

var errFrozen = errors.New("disk: the store has failed")

// setLogs writes the list of logs to SORTKEY. If that fails, the list in memory stays as it is in the file, so that
// the next attempt finds a difference and writes the file again.
func (g *guard) setLogs(logs []string) error {
	if g.listed {
		if err := writeMeta(g.FS, g.store.dir, stateReady, logs...); err != nil {
			return err
		}
	}
	g.logs = logs
	return nil
}

// pollInterval is the interval of all loops that poll. In the failed state it slows down background work, which the
// engine would otherwise retry immediately.
const pollInterval = 20 * time.Millisecond

// ours reports whether a file is directly in the store's own folder. Files of a checkpoint are not: if the disk is
// full there, the store does not fail.
func (g *guard) ours(name string) bool { return g.PathDir(name) == g.store.dir }

func (g *guard) frozen(name string) bool { return g.ours(name) && g.store.failure.Load() != nil }

// write calls op, unless the store has failed. If op fails for a file in the store's folder, the store fails.
func (g *guard) write(what, name string, op func() error) error {
	if !g.ours(name) {
		return op()
	}
	if g.store.failure.Load() != nil {
		return nil
	}
	if err := op(); err != nil {
		g.store.fail(what, err)
	}
	return nil
}

func (g *guard) open(what, name string, op func() (vfs.File, error)) (vfs.File, error) {
	var f vfs.File
	err := g.write(what, name, func() error {
		return g.patient(func() (err error) {
			f, err = op()
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	if f == nil {
		time.Sleep(pollInterval)
	}
	return &file{File: f, guard: g, name: name}, nil
}

func (g *guard) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return g.open("create", name, func() (vfs.File, error) { return g.FS.Create(name, category) })
}

func (g *guard) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return g.open("reuse", newname, func() (vfs.File, error) {
		// when patient repeats this call, the log is no longer in the list, and unlist does nothing
		if err := g.unlist(oldname); err != nil {
			return nil, err
		}
		return g.FS.ReuseForWrite(oldname, newname, category)
	})
}

func (g *guard) OpenReadWrite(name string, category vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	var f vfs.File
	err := g.patient(func() (err error) {
		f, err = g.FS.OpenReadWrite(name, category, opts...)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &file{File: f, guard: g, name: name}, nil
}

func (g *guard) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	if g.frozen(name) {
		select {
		case <-g.abandoned:
			select {} // block, because the engine would retry for ever
		case <-time.After(pollInterval):
		}
	}
	return g.FS.Open(name, opts...)
}

// OpenDir opens a folder. Syncing it syncs the names of its files.
func (g *guard) OpenDir(name string) (vfs.File, error) {
	var f vfs.File
	err := g.patient(func() (err error) {
		f, err = g.FS.OpenDir(name)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &file{File: f, guard: g, name: g.PathJoin(name, lockName)}, nil // any file name in the folder
}

// List waits for descriptors. If it returned an error, Pebble's Open would fail, but background work that Open has
// begun would continue.
func (g *guard) List(name string) (names []string, err error) {
	err = g.patient(func() (err error) {
		names, err = g.FS.List(name)
		return err
	})
	return names, err
}

func (g *guard) Rename(oldname, newname string) error {
	return g.write("rename", newname, func() error {
		return g.patient(func() error { return g.FS.Rename(oldname, newname) })
	})
}

func (g *guard) Link(oldname, newname string) error {
	if g.frozen(newname) {
		return nil
	}
	return g.FS.Link(oldname, newname)
}

// Remove returns errors to Pebble, because a file that remains only takes up space.
func (g *guard) Remove(name string) error {
	if g.frozen(name) {
		return nil
	}
	switch err := g.patient(func() error { return g.unlist(name) }); {
	case err == errFrozen:
		return nil
	case err != nil:
		return err
	}
	return g.FS.Remove(name)
}

func (g *guard) RemoveAll(name string) error {
	if g.frozen(name) {
		return nil
	}
	return g.FS.RemoveAll(name)
}

func (g *guard) MkdirAll(dir string, perm os.FileMode) error { return g.FS.MkdirAll(dir, perm) }

func (g *guard) Unwrap() vfs.FS { return g.FS }

// Lock locks the folder. The lock can be released without Pebble.
func (g *guard) Lock(name string) (io.Closer, error) {
	c, err := g.FS.Lock(name)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lock = c
	return &unlocker{g}, nil
}

type unlocker struct{ *guard }

func (u *unlocker) Close() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.lock == nil {
		return nil
	}
	c := u.lock
	u.lock = nil
	return c.Close()
}

// A file is a file opened for writing. File is nil if Pebble created it after the store failed.
type file struct {
	vfs.File
	guard *guard
	name  string

	written atomic.Uint64 // bytes
	listed  atomic.Bool   // a log that is listed
}

// synced records that the first n bytes of a log are durable. It lists the log before the first of its updates is
// acknowledged.
func (f *file) synced(n uint64) error {
	if n == 0 || !f.guard.isLog(f.name) {
		return nil
	}
	if !f.listed.Load() {
		if err := f.guard.list(f.name); err != nil {
			return err
		}
		f.listed.Store(true)
	}
	log, err := logNumber(f.guard.PathBase(f.name))
	f.guard.durable.Store(&mark{log, n})
	return err
}

var errGone = errors.New("disk: file was not written after a failure")

func (f *file) do(what string, op func() error) error {
	return f.guard.write(what, f.name, func() error {
		if f.File == nil {
			return errGone
		}
		return op()
	})
}

// Write appends p. On a full disk it waits for space and then writes the rest.
func (f *file) Write(p []byte) (n int, err error) {
	n = len(p)
	rest := p
	appendRest := func() error {
		n, err := f.File.Write(rest)
		rest = rest[n:]
		return err
	}
	if f.guard.ours(f.name) {
		err = f.do("write", func() error { return f.guard.patient(appendRest) })
	} else if err = appendRest(); err != nil {
		n -= len(rest)
	}
	f.written.Add(uint64(n))
	return n, err
}

func (f *file) WriteAt(p []byte, off int64) (n int, err error) {
	n = len(p)
	err = f.do("write", func() error {
		write := func() (err error) { n, err = f.File.WriteAt(p, off); return err }
		if !f.guard.ours(f.name) {
			return write()
		}
		return f.guard.patient(write)
	})
	if err == nil {
		n = len(p)
	}
	return n, err
}

func (f *file) Sync() error { return f.sync(func() error { return f.File.Sync() }) }

func (f *file) SyncData() error { return f.sync(func() error { return f.File.SyncData() }) }

func (f *file) sync(op func() error) error {
	return f.do("sync", func() error {
		n := f.written.Load()
		if err := op(); err != nil {
			return err
		}
		return f.synced(n)
	})
}

func (f *file) SyncTo(length int64) (full bool, err error) {
	err = f.do("sync", func() (err error) {
		n := f.written.Load()
		if full, err = f.File.SyncTo(length); err != nil || !full {
			return err
		}
		return f.synced(n)
	})
	return full, err
}

func (f *file) Preallocate(offset, length int64) error {
	return f.do("preallocate", func() error {
		if err := f.File.Preallocate(offset, length); !noSpace(err) {
			return err
		}
		return nil // preallocating is optional, and the disk may have space for the bytes that are actually written
	})
}

// Close closes the file even in the failed state.
func (f *file) Close() error {
	if f.File == nil {
		return nil
	}
	err := f.File.Close()
	if err == nil || f.guard.frozen(f.name) {
		return nil
	}
	return f.do("close", func() error { return err })
}

func (f *file) Read(p []byte) (int, error) {
	if f.File == nil {
		return 0, errGone
	}
	return f.File.Read(p)
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	if f.File == nil {
		return 0, errGone
	}
	return f.File.ReadAt(p, off)
}

// Stat never fails, because the engine needs the size of a log that it is about to write.
func (f *file) Stat() (info vfs.FileInfo, err error) {
	err = f.do("stat", func() (err error) { info, err = f.File.Stat(); return err })
	if err == nil && info == nil {
		info = noInfo{name: f.guard.PathBase(f.name)}
	}
	return info, err
}

// noInfo describes a file that Pebble created after the store failed, and which does not exist.
type noInfo struct{ name string }

func (i noInfo) Name() string         { return i.name }
func (noInfo) Size() int64            { return 0 }
func (noInfo) Mode() fs.FileMode      { return 0o644 }
func (noInfo) ModTime() time.Time     { return time.Time{} }
func (noInfo) IsDir() bool            { return false }
func (noInfo) Sys() any               { return nil }
func (noInfo) DeviceID() vfs.DeviceID { return vfs.DeviceID{} }

func (f *file) Prefetch(offset, length int64) error {
	if f.File == nil {
		return errGone
	}
	return f.File.Prefetch(offset, length)
}

func (f *file) Fd() uintptr {
	if f.File == nil {
		return vfs.InvalidFd
	}
	return f.File.Fd()
}
