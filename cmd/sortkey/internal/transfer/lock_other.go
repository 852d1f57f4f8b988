//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package transfer

import (
	"errors"
	"os"
)

// noFollow is 0: only openOwn's own check refuses links here.
const noFollow = 0

func lockFile(*os.File) error { return nil }

func unlockFile(*os.File) {}

// unlockBefore calls do on the folder of a locked file. It closes the file
// first: an open file cannot be moved.
func unlockBefore(f *os.File, do func() error) error {
	return errors.Join(unlock(f), do())
}
