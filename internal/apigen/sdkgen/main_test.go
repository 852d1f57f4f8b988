package main

import (
	"bytes"
	"os"
	"testing"
)

// TestGeneratedFileIsFresh checks that the generated file in package sdk is what the generator would write now.
func TestGeneratedFileIsFresh(t *testing.T) {
	want, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../../sdk/convert_gen.go")
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("sdk/convert_gen.go is stale (%v); run go generate ./sdk", err)
	}
}
