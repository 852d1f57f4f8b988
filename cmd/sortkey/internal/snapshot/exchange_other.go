//go:build !linux

package snapshot

import "errors"

// exchange is not supported.
func exchange(_, _ string) error { return errors.ErrUnsupported }

// renameNew is not supported.
func renameNew(_, _ string) error { return errors.ErrUnsupported }
