package staging

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Exchange swaps two folders atomically. The error is [errors.ErrUnsupported] if
// the file system cannot.
func Exchange(a, b string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) {
		return errors.ErrUnsupported
	}
	return os.NewSyscallError("exchange", err)
}

// RenameNew renames a file or folder, and fails if the new name exists. The error
// is [errors.ErrUnsupported] if the file system cannot do both atomically.
func RenameNew(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) {
		return errors.ErrUnsupported
	}
	return os.NewSyscallError("rename", err)
}
