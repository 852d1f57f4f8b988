// Package examples contains seven key designs. Each is a model file with
// entities, their keys, and access patterns with the expected results.
//
//	file, data, err := examples.Read("file-tree")
//	m, err := design.Parse(file, data)
//
// A README beside each model.yaml explains the design.
package examples

import (
	"embed"
	"io/fs"
	"path"
	"slices"
)

//go:embed */model.yaml
var files embed.FS

// Names returns the sorted names of the examples. [Read] takes such a name.
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

// Read returns the model file of an example and its path in the repository. For an unknown name, the error is an
// [fs.ErrNotExist].
func Read(name string) (file string, data []byte, err error) {
	if !slices.Contains(Names(), name) {
		return "", nil, &fs.PathError{Op: "read example", Path: name, Err: fs.ErrNotExist}
	}
	file = path.Join(name, "model.yaml")
	data, err = files.ReadFile(file)
	return path.Join("design/examples", file), data, err
}
