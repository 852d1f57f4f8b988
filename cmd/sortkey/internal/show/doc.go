// Package show writes values, rows and marks for people: aligned tables cut to
// the width of a terminal, text with its odd bytes escaped, and colour where
// there is somebody to see it.
package show
