package models

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/sortkey/sortkey/design/examples"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
)

// ErrNotFound is the error of [Find] for a name that is neither an example nor a
// file.
var ErrNotFound = errors.New("neither an example nor a file")

// Find returns the embedded example called name, or the model file at the path name. For a folder, it returns the
// model.yaml in it. If a folder has the name of an example, Find returns the example: write ./shop for the folder
// shop.
func Find(name string) (*model.Model, error) {
	if slices.Contains(examples.Names(), name) {
		return Example(name)
	}
	path := name
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, "model.yaml")
	}
	m, err := modelfile.Load(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is %w", path, ErrNotFound)
	}
	return m, err
}

// Example returns one of the embedded examples.
func Example(name string) (*model.Model, error) {
	file, data, err := examples.Read(name)
	if err != nil {
		return nil, err
	}
	return modelfile.Parse(file, data)
}

// Examples returns all embedded examples, sorted by name.
func Examples() (all []*model.Model, err error) {
	for _, name := range examples.Names() {
		m, err := Example(name)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}
