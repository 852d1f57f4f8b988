// Package models finds model files by name or path, creates their tables and
// writes their items through a client, and describes the keys of tables.
package models
