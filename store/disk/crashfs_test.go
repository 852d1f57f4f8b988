package disk_test

import (
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A crashFS is a file system in memory that can be cloned as a crash would leave it. In the engine's own, Link takes
// a lock for reading twice, so a CrashClone between the two waits for ever, and so does everybody else.
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
