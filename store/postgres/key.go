package postgres

import "github.com/sortkey/sortkey/store/internal/remote"

// Keys are the primary keys of rows. An entry of a B-tree of PostgreSQL has at most 2704
// bytes, but an address of the longest keys of an index has more than 6000. Source:
// PostgreSQL, btree, "index entry cannot exceed approximately one-third of a page".
//
// The tail of a longer address has a column.
var keys = remote.Keys{Longest: 2560}
