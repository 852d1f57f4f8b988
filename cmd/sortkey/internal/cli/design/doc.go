// Package design implements the command design and those below it.
package design
