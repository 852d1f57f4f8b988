// Package snapshot copies databases on disk to folders or files, and
// restores them.
package snapshot
