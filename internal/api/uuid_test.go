package api_test

import (
	"bytes"
	"testing"

	"github.com/sortkey/sortkey/internal/api"
)

func TestNewUUID(t *testing.T) {
	got, err := api.NewUUID(bytes.NewReader(bytes.Repeat([]byte{0xff}, 16)))
	if want := "ffffffff-ffff-4fff-bfff-ffffffffffff"; got != want || err != nil {
		t.Errorf("NewUUID = %s, %v, want %s", got, err, want)
	}
	if _, err := api.NewUUID(bytes.NewReader(nil)); err == nil {
		t.Error("NewUUID without randomness has no error")
	}
}
