//go:build !linux

package snapshot

import "errors"

// exchange swaps two folders at once, where the system can.
func exchange(_, _ string) error { return errors.ErrUnsupported }
