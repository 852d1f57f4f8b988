package disk_test

import (
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A crashFS is a file system in memory that can be cloned in the state that a crash would leave. It replaces the
// engine's own, whose Link takes a read lock twice: a CrashClone between the two would wait for ever, and block
// everybody else.
type crashFS struct {
	*vfs.MemFS
	linking sync.Mutex
}

func newCrashFS() *crashFS { return &crashFS{MemFS: vfs.NewCrashableMem()} }

func (f *crashFS) Link(oldname, newname string) error {
	f.linking.Lock()
	defer f.linking.Unlock()
	return f.MemFS.Link(oldname, newname)
}

func (f *crashFS) CrashClone(cfg vfs.CrashCloneCfg) *crashFS {
	f.linking.Lock()
	defer f.linking.Unlock()
	return &crashFS{MemFS: f.MemFS.CrashClone(cfg)}
}
