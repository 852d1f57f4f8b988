// Package snapshot makes copies of databases in folders, as folders or as
// files, and puts them back.
package snapshot
