package live

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/sortkey/sortkey/internal/text"
)

// A file is the model file of a [Server].
type file interface {
	name() string
	read() ([]byte, error)
	// replace replaces the text. The file is complete at every moment.
	replace(data []byte) error
	// shared reports whether other programs can change the file.
	shared() bool
}

// An osFile is a file at a path.
type osFile string

func (f osFile) name() string { return filepath.Base(string(f)) }

func (f osFile) shared() bool { return true }

func (f osFile) read() ([]byte, error) {
	opened, err := os.Open(string(f))
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	data, err := io.ReadAll(io.LimitReader(opened, MaxFile+1))
	if err == nil && len(data) > MaxFile {
		err = fmt.Errorf("%s is larger than %s", string(f), text.Size(MaxFile))
	}
	return data, err
}

func (f osFile) replace(data []byte) error {
	info, err := os.Stat(string(f))
	if err != nil {
		return err
	}
	next, err := os.CreateTemp(filepath.Dir(string(f)), ".sortkey-*")
	if err != nil {
		return err
	}
	defer os.Remove(next.Name()) // in vain once it is renamed
	_, err = next.Write(data)
	err = errors.Join(err, next.Chmod(info.Mode().Perm()), next.Sync(), next.Close())
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

func (d *draft) replace(data []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.text = bytes.Clone(data)
	return nil
}
