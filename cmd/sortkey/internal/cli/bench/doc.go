// Package bench implements the command bench and those below it.
package bench
