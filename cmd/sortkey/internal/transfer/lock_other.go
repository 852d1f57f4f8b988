//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package transfer

import (
	"errors"
	"os"
)

// noFollow is 0, because these systems have no flag with which opening a symbolic link fails. Only openOwn detects
// links there.
const noFollow = 0

func lockFile(*os.File) error { return nil }

func unlockFile(*os.File) {}

// unlockBefore unlocks and closes a file, and then calls do, which moves or removes the file. It does not call do
// first, because these systems cannot move an open file.
func unlockBefore(f *os.File, do func() error) error {
	return errors.Join(unlock(f), do())
}
