package examples

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/sortkey/sortkey/internal/design"
)

//go:embed */model.yaml
var files embed.FS

// ErrUnknown is the error of [Load] for a name that is not one of [Names].
var ErrUnknown = errors.New("no such example")

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

// Load returns the example of that name. Places in it begin with the file's
// path in the repository. The error wraps [ErrUnknown] when there is none.
func Load(name string) (*design.Model, error) {
	if !slices.Contains(Names(), name) {
		return nil, fmt.Errorf("%w: %q", ErrUnknown, name)
	}
	file := path.Join(name, "model.yaml")
	data, err := files.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return design.Parse(path.Join("design/examples", file), data)
}

// All returns all examples, by name.
func All() ([]*design.Model, error) {
	var all []*design.Model
	for _, name := range Names() {
		m, err := Load(name)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}
