//go:build !linux

package staging

import "errors"

// Exchange is not supported.
func Exchange(_, _ string) error { return errors.ErrUnsupported }

// RenameNew is not supported.
func RenameNew(_, _ string) error { return errors.ErrUnsupported }
