// Package remote has code for engines that keep their rows in a database of another process. [Keys] makes keys for a
// database that limits their length. [Query] and [Scan] fetch rows in chunks. [Changes] holds the changes of an
// Update in memory until its commit, and shows them to its reads.
package remote
