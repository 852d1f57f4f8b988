package staging

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// RenameNew renames a file or folder. It returns an error if the new name exists, or [errors.ErrUnsupported] if the
// file system cannot check that and rename in one atomic step.
func RenameNew(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) {
		return errors.ErrUnsupported
	}
	return os.NewSyscallError("rename", err)
}
