package snapshot

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// exchange swaps two folders at once. The error is [errors.ErrUnsupported]
// where the file system cannot.
func exchange(a, b string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) {
		return errors.ErrUnsupported
	}
	return os.NewSyscallError("exchange", err)
}
