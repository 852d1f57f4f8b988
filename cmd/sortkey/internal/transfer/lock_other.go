//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package transfer

import (
	"errors"
	"os"
)

// noFollow is 0, because there is no such flag here: only openOwn's own check rejects links.
const noFollow = 0

func lockFile(*os.File) error { return nil }

func unlockFile(*os.File) {}

// unlockBefore unlocks a file and then calls do, which moves or removes it. It closes the file first because an open
// file cannot be moved.
func unlockBefore(f *os.File, do func() error) error {
	return errors.Join(unlock(f), do())
}
