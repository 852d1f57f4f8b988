// Package bench implements the command bench and its subcommands.
package bench
