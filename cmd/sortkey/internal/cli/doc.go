// Package cli is the command line: its commands, their flags and completion,
// and the way errors and answers reach a person.
package cli
