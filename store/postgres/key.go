package postgres

import "github.com/sortkey/sortkey/store/internal/remote"

// An entry of a B-tree of PostgreSQL has at most 2704 bytes, but the longest address, that of an index row, has more
// than 6000. Source: PostgreSQL, btree, "index entry cannot exceed approximately one-third of a page". So keys makes
// the primary keys of rows. The column tail has the rest of a longer address.
var keys = remote.Keys{Longest: 2560}
