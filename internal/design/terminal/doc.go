// Package terminal lays out text in the columns of a terminal: widths, lines of limited
// width, carets under errors, colours.
package terminal
