package live

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"

	"github.com/sortkey/sortkey/internal/design/files"
)

// A file is the path of the model file that a [Server] serves.
type file string

func (f file) name() string { return filepath.Base(string(f)) }

// read returns the text of the file with LF at the end of each line, as a browser has it. If the file has CRLF, a
// save thus replaces CRLF by LF.
func (f file) read() ([]byte, error) {
	data, err := files.Read(string(f), MaxFile)
	return bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), err
}

// replace writes data to the file if the text of the file still has the given version, and otherwise returns
// errChanged. It writes a new file and renames it, so nobody reads an incomplete file. If another program saves the
// file after replace has checked the version, the text of that program is lost.
func (f file) replace(version string, data []byte) error {
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
	defer os.Remove(next.Name()) // does nothing after the renaming
	_, err = next.Write(data)
	err = errors.Join(err, next.Chmod(info.Mode().Perm()), next.Sync(), next.Close())
	if now, again := f.read(); err == nil && (again != nil || versionOf(now) != version) {
		err = errors.Join(again, errChanged) // since save read it
	}
	if err != nil {
		return err
	}
	return os.Rename(next.Name(), string(f))
}
