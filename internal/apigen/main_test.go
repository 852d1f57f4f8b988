package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestGeneratedFilesAreFresh checks that the generated files in package wire are what the generator would write now.
func TestGeneratedFilesAreFresh(t *testing.T) {
	files, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join("..", "wire")
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Errorf("%v; run go generate ./internal/wire", err)
		} else if !bytes.Equal(got, want) {
			t.Errorf("%s is stale; run go generate ./internal/wire", name)
		}
	}
	old, err := filepath.Glob(filepath.Join(dir, "*_gen.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range old {
		if files[filepath.Base(path)] == nil {
			t.Errorf("%s is no longer generated; run go generate ./internal/wire", path)
		}
	}
}

func TestGenerateIsDeterministic(t *testing.T) {
	first, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	second, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	if len(first) != len(second) {
		t.Fatalf("generate wrote %d files, then %d", len(first), len(second))
	}
	for name, data := range first {
		if !bytes.Equal(data, second[name]) {
			t.Errorf("%s differs between two runs", name)
		}
	}
}

func TestTablesNameWhatTheModelHas(t *testing.T) {
	m, err := load()
	if err != nil {
		t.Fatal(err)
	}
	for shape, members := range memberOrder {
		for _, member := range members {
			if _, ok := m.Shapes[shape].Members[member]; !ok {
				t.Errorf("memberOrder: the model has no %s.%s", shape, member)
			}
		}
	}
	for shape, order := range enumOrder {
		got, want := slices.Sorted(slices.Values(order)), slices.Sorted(slices.Values(m.Shapes[shape].Enum))
		if !slices.Equal(got, want) {
			t.Errorf("enumOrder: the values of %s are %q, want %q in another order", shape, got, want)
		}
	}
}
