package designtest_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sortkeydesign "github.com/sortkey/sortkey/design"
	"github.com/sortkey/sortkey/design/designtest"
	"github.com/sortkey/sortkey/design/examples"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

func load(name string) (*model.Model, error) {
	file, data, err := examples.Read(name)
	if err != nil {
		return nil, err
	}
	return modelfile.Parse(file, data)
}

// TestExamples checks every example, as sortkey design check does. A short run generates fewer items.
func TestExamples(t *testing.T) {
	o := sortkeydesign.Options{MaxItems: 1000}
	if proptest.Long() {
		o.MaxItems = 100_000
	}
	for _, name := range examples.Names() {
		t.Run(name, func(t *testing.T) {
			designtest.Run(t, filepath.Join("..", "examples", name, "model.yaml"), o)
		})
	}
}

// TestAll checks that each example has a description and a README. It also checks that each expected row is in the
// file, so that nobody mistakes a typing error in the file for a bug in the database.
func TestAll(t *testing.T) {
	if got := len(examples.Names()); got != 7 {
		t.Errorf("%d examples, want 7", got)
	}
	for _, name := range examples.Names() {
		t.Run(name, func(t *testing.T) {
			m, err := load(name)
			if err != nil {
				t.Fatal(err)
			}
			if m.Name != name {
				t.Errorf("its name is %q", m.Name)
			}
			if m.About == "" {
				t.Error("it does not say what it is about")
			}
			if _, err := os.Stat(filepath.Join("..", "examples", m.Name, "README.md")); err != nil {
				t.Error(err)
			}
			if want := filepath.ToSlash(filepath.Join("design", "examples", m.Name, "model.yaml")); m.Pos.File != want {
				t.Errorf("its place is %s, want %s", m.Pos.File, want)
			}
			keysExist(t, m)
		})
	}
}

func keysExist(t *testing.T, m *model.Model) {
	t.Helper()
	w, err := dataset.Build(t.Context(), m, dataset.Options{MaxItems: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	have := map[string]bool{}
	for _, it := range w.Items {
		var key model.Key
		for _, a := range it.Table.Keys() {
			key = append(key, it.Attributes.Get(a.Name))
		}
		have[it.Table.Name+text(key)] = true
		if it.Entity != nil && m.Classify(it.Table, it.Attributes) != it.Entity {
			t.Errorf("an item of %s is taken for another entity: %s", it.Entity.Name, it.Attributes.AppendJSON(nil))
		}
	}
	for _, p := range m.Patterns {
		x := p.Expect
		if p.IsWrite() { // it has no answer
			continue
		}
		if x.Rows == nil && x.MaxRows == nil && x.Keys == nil && x.Item == nil && !x.NoItem && x.Error == "" {
			t.Errorf("%s: %s expects nothing of the answer", p.Pos, p.Name)
		}
		for _, key := range x.Keys {
			if !have[p.Table.Name+text(key)] {
				t.Errorf("%s: %s: no item has the key %s", p.Pos, p.Name, text(key))
			}
		}
	}
}

func text(key model.Key) string {
	var b []byte
	for _, v := range key {
		b = append(v.AppendJSON(b), ' ')
	}
	return string(b)
}

func TestReadUnknown(t *testing.T) {
	for _, name := range []string{"", "nothing", "../examples", "file-tree/model.yaml"} {
		if _, _, err := examples.Read(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Read(%q) = %v, want %v", name, err, fs.ErrNotExist)
		}
	}
}

func ExampleRead() {
	file, data, err := examples.Read("file-tree")
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := sortkeydesign.Parse(file, data)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(file)
	fmt.Println(strings.Join(m.Patterns()[:2], "\n"))
	// Output:
	// design/examples/file-tree/model.yaml
	// everything under root/photos/
	// everything that starts with root/photos
}

func ExampleNames() {
	fmt.Println(strings.Join(examples.Names(), "\n"))
	// Output:
	// composite-patterns
	// content-management
	// employees
	// file-tree
	// product-catalog
	// shop
	// task-management
}
