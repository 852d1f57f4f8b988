// Package examples holds seven key designs, each a model file with what is
// stored, under which keys, and the access patterns that the keys were made
// for, with the answers that are right.
//
//	file, data, err := examples.Read("file-tree")
//	m, err := design.Parse(file, data)
//
// Beside each model.yaml is a page of text that teaches with it.
package examples

import (
	"embed"
	"io/fs"
	"path"
	"slices"
)

//go:embed */model.yaml
var files embed.FS

// Names returns the names of the examples, sorted.
func Names() []string {
	found, err := fs.Glob(files, "*/model.yaml")
	if err != nil {
		return nil // the pattern is a constant
	}
	for i, name := range found {
		found[i] = path.Dir(name)
	}
	slices.Sort(found)
	return found
}

// Read returns the model file of an example, with its path in the repository.
// The error of a name that is not one of [Names] is an [fs.ErrNotExist].
func Read(name string) (file string, data []byte, err error) {
	if !slices.Contains(Names(), name) {
		return "", nil, &fs.PathError{Op: "read example", Path: name, Err: fs.ErrNotExist}
	}
	file = path.Join(name, "model.yaml")
	data, err = files.ReadFile(file)
	return path.Join("design/examples", file), data, err
}
