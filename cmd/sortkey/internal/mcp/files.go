package mcp

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/text"
)

// maxFile is the size of the largest file that tools read, in bytes.
const maxFile = 16 << 20

// inFolder says which files tools may name.
const inFolder = "name a file in the working folder by its path from there, such as models/shop.yaml"

// readFile reads a file of the folder.
func (s *Server) readFile(name string) ([]byte, error) {
	if s.o.Folder == nil {
		return nil, noFolder(name)
	}

	name = filepath.FromSlash(name)
	// A pipe would block until somebody writes to it.
	info, err := s.o.Folder.Stat(name)
	if err != nil {
		return nil, fileError(name, err)
	}

	switch {
	case info.IsDir():
		return nil, advice.New(inFolder, "%s is a folder", text.Quote(name))
	case !info.Mode().IsRegular():
		return nil, advice.New(inFolder, "%s is not a regular file", text.Quote(name))
	}

	f, err := s.o.Folder.Open(name)
	if err != nil {
		return nil, fileError(name, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("longer than %s", text.Size(maxFile))
	}
	if err != nil {
		return nil, fileError(name, err)
	}
	return data, nil
}

func noFolder(name string) error {
	return advice.New(
		"ask the user to start sortkey mcp with --dir and the folder of the models",
		"cannot use %s: there is no working folder", text.Quote(name),
	)
}

// fileError returns an error about a file without the path of the working folder.
func fileError(name string, err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return &advice.Error{Msg: fmt.Sprintf("cannot use %s: %v", text.Quote(name), err), Advice: inFolder, Err: err}
}

// writeFile writes a file of the folder, whole or not at all. One that is there is replaced only if asked.
func (s *Server) writeFile(name string, data []byte, replace bool) error {
	if s.o.Folder == nil {
		return noFolder(name)
	}

	name = filepath.FromSlash(name)
	target, mode := name, fs.FileMode(0o644)
	if replace { // under a new name: a process that was killed may have left a file behind
		target = filepath.Join(filepath.Dir(name), ".sortkey-"+rand.Text())
		if info, err := s.o.Folder.Stat(name); err == nil {
			mode = info.Mode().Perm()
		}
	}

	f, err := s.o.Folder.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if errors.Is(err, fs.ErrExist) && !replace {
		return &advice.Error{
			Msg:    "nothing is written: " + text.Quote(name) + " is there",
			Advice: "write another file, or give overwrite: true", Err: err,
		}
	}
	if err != nil {
		return fileError(name, err)
	}

	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil && replace {
		err = s.o.Folder.Rename(target, name)
	}
	if err != nil {
		return errors.Join(fileError(name, err), s.o.Folder.Remove(target))
	}
	return nil
}
