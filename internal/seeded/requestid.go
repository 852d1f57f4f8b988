package seeded

import (
	"encoding/base32"
)

var idEncoding = base32.StdEncoding.WithPadding(base32.NoPadding)

// RequestIDs returns a generator of request ids like the service's: 52
// upper-case letters and digits. Equal seeds give equal ids. The generator is
// safe for concurrent use.
func RequestIDs(seed [32]byte) func() string {
	source := NewReader(seed)
	return func() string {
		var raw [32]byte
		_, _ = source.Read(raw[:]) // never fails
		var text [52]byte
		idEncoding.Encode(text[:], raw[:])
		return string(text[:])
	}
}
