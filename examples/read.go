package examples

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

//go:embed */model.json
var files embed.FS

// ErrUnknown is the error of [Load] for a name that is not one of [Names].
var ErrUnknown = errors.New("no such example")

// Names returns the names of the systems, sorted.
func Names() []string {
	found, err := fs.Glob(files, "*/model.json")
	if err != nil {
		return nil // the pattern is a constant
	}
	for i, name := range found {
		found[i] = path.Dir(name)
	}
	slices.Sort(found)
	return found
}

// Load returns the system of that name. The error wraps [ErrUnknown] when
// there is none.
func Load(name string) (*System, error) {
	if !slices.Contains(Names(), name) {
		return nil, fmt.Errorf("%w: %q", ErrUnknown, name)
	}
	file := path.Join(name, "model.json")
	data, err := files.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return Parse(file, data)
}

// All returns all systems, by name.
func All() ([]*System, error) {
	var all []*System
	for _, name := range Names() {
		s, err := Load(name)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// Parse reads and checks a model file. File is its name, for errors, which say
// the line where the JSON is wrong, or the pattern or item that is.
func Parse(file string, data []byte) (*System, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	s := new(System)
	if err := dec.Decode(s); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", file, lineOf(data, dec, err), plain(err))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s:%d: more text after the model", file, lineAt(data, dec.InputOffset()))
	}
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}

// plain makes an error of the decoder readable for somebody who does not know
// this package's types.
func plain(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if wrong.Field == "" {
			return fmt.Errorf("a JSON object must be here, not a JSON %s", wrong.Value)
		}
		return fmt.Errorf("%s cannot be a JSON %s", wrong.Field, wrong.Value)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the text ends before the model does")
	}
	if field, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return fmt.Errorf("unknown member %s", field)
	}
	return err
}

func lineOf(data []byte, dec *json.Decoder, err error) int {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return lineAt(data, syntax.Offset)
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return lineAt(data, wrong.Offset)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return lineAt(data, int64(len(data)))
	}
	if field, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return lineAt(data, int64(max(bytes.Index(data, []byte(field)), 0)))
	}
	return lineAt(data, dec.InputOffset())
}

func lineAt(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:min(max(offset, 0), int64(len(data)))], []byte{'\n'})
}
