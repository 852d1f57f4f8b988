// Package snapshot copies databases on disk to folders or archive files, and
// restores them.
package snapshot
