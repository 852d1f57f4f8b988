// Package cli implements the command line: commands, flags, completion, and the
// output of answers and errors.
package cli
