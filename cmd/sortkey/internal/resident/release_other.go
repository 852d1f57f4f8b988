//go:build !linux

package resident

// release does nothing where the system does not say what is mapped.
func release() {}
