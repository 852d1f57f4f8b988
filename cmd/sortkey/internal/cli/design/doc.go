// Package design implements the command design and its subcommands.
package design
