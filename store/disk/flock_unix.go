//go:build unix && !aix && !solaris

package disk

import (
	"io"
	"os"
	"syscall"
)

// flockDir locks a folder for this process.
func flockDir(dir string) (io.Closer, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, &os.PathError{Op: "lock", Path: dir, Err: err}
	}
	return f, nil
}
