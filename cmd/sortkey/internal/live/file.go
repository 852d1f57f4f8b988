package live

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"github.com/sortkey/sortkey/internal/design/files"
)

// A file is the model file of a [Server].
type file interface {
	name() string
	read() ([]byte, error)
	// replace replaces the text if it has a version, or else fails with errChanged. The file is complete at
	// every moment.
	replace(version string, data []byte) error
	// shared reports whether other programs can change the file.
	shared() bool
}

// An osFile is a file at a path.
type osFile string

func (f osFile) name() string { return filepath.Base(string(f)) }

func (f osFile) shared() bool { return true }

func (f osFile) read() ([]byte, error) {
	return files.Read(string(f), MaxFile)
}

// replace implements file. A program that saves the file within the moment of the renaming loses what it saved.
func (f osFile) replace(version string, data []byte) error {
	info, err := os.Stat(string(f))
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o222 == 0 {
		return errReadOnly
	}
	next, err := os.CreateTemp(filepath.Dir(string(f)), ".sortkey-*")
	if err != nil {
		return err
	}
	defer os.Remove(next.Name()) // in vain once it is renamed
	_, err = next.Write(data)
	err = errors.Join(err, next.Chmod(info.Mode().Perm()), next.Sync(), next.Close())
	if now, again := f.read(); err == nil && (again != nil || versionOf(now) != version) {
		err = errors.Join(again, errChanged) // meanwhile
	}
	if err != nil {
		return err
	}
	return os.Rename(next.Name(), string(f))
}

// A draft is a file in memory.
type draft struct {
	called string

	mu   sync.Mutex
	text []byte
}

func (d *draft) name() string { return d.called }

func (d *draft) shared() bool { return false }

func (d *draft) read() ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text, nil
}

func (d *draft) replace(version string, data []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if versionOf(d.text) != version {
		return errChanged
	}
	d.text = bytes.Clone(data)
	return nil
}
