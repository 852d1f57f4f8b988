// Package remote has what engines share whose rows are in a database of another
// process: [Keys], which a database limits in length; [Query] and [Scan], which fetch
// rows in chunks; and [Changes], which an Update keeps in memory until its commit and
// its reads see.
package remote
