//go:build !linux

package staging

import "errors"

// RenameNew is not supported.
func RenameNew(_, _ string) error { return errors.ErrUnsupported }
