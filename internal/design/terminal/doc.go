// Package terminal lays out text for a terminal: widths in columns, wrapping, carets under errors, and colours.
package terminal
