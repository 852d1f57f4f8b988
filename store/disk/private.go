package disk

import (
	"io"
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A privateFS is the machine's file system. Only the owner can read the files and folders that it creates, whatever
// the umask.
type privateFS struct{ vfs.FS }

// Unwrap implements [vfs.FS].
func (p privateFS) Unwrap() vfs.FS { return p.FS }

// Create implements [vfs.FS].
func (p privateFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := p.FS.Create(name, category)
	return private(f, name, err)
}

// OpenReadWrite implements [vfs.FS].
func (p privateFS) OpenReadWrite(
	name string, category vfs.DiskWriteCategory, opts ...vfs.OpenOption,
) (vfs.File, error) {
	f, err := p.FS.OpenReadWrite(name, category, opts...)
	return private(f, name, err)
}

// Lock implements [vfs.FS].
func (p privateFS) Lock(name string) (io.Closer, error) {
	f, err := p.FS.Lock(name)
	return private(f, name, err)
}

// MkdirAll implements [vfs.FS].
func (p privateFS) MkdirAll(dir string, _ os.FileMode) error { return p.FS.MkdirAll(dir, 0o700) }

// private makes a file that was just opened readable by its owner only.
func private[F io.Closer](f F, name string, err error) (F, error) {
	if err != nil {
		return f, err
	}
	if err = os.Chmod(name, 0o600); err != nil {
		_ = f.Close()
		var none F
		return none, err
	}
	return f, nil
}
