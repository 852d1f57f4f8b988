// Package show formats items as tables for people.
package show
