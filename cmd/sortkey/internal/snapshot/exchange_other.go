//go:build !linux

package snapshot

import "errors"

// exchange swaps two folders at once, where the system can.
func exchange(_, _ string) error { return errors.ErrUnsupported }

// renameNew renames a file or folder to a name that nothing has, where the
// system can tell.
func renameNew(_, _ string) error { return errors.ErrUnsupported }
