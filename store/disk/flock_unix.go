//go:build unix && !aix && !solaris

package disk

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// flockDir locks a folder for one store, or for several that share it.
func flockDir(dir string, shared bool) (io.Closer, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	how := syscall.LOCK_EX
	if shared {
		how = syscall.LOCK_SH
	}
	if err := flock(f, how|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, err
	}
	return lockedFolder{f}, nil
}

// A lockedFolder is an open folder with a lock on it.
type lockedFolder struct{ *os.File }

// Close unlocks the folder, then closes it. Closing alone is not enough. While this process starts another one, the
// new process has a copy of every descriptor until it runs its own program, and the copy keeps the lock (flock(2)),
// so the next Open could fail with [ErrLocked].
func (l lockedFolder) Close() error {
	return errors.Join(flock(l.File, syscall.LOCK_UN), l.File.Close())
}

func flock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how)
		if err == nil {
			return nil
		}
		if !errors.Is(err, syscall.EINTR) {
			return &os.PathError{Op: "lock", Path: f.Name(), Err: err}
		}
	}
}
