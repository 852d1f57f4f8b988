package table

import "cmp"

// A Batch counts the rows and bytes of one update, and reports when the caller should end it. An update must stay
// small, as other writers wait for it and an engine keeps all of it in memory. A batch is full once it has Rows rows
// or [BatchBytes] bytes, whichever comes first. The zero value is an empty batch.
type Batch struct {
	// Rows is the maximum number of rows. Default: BatchRows.
	Rows int

	rows, bytes int
}

// The limits of a [Batch]. The row that reaches BatchBytes still belongs to the batch, so a batch may be larger than
// BatchBytes.
const (
	BatchRows  = 1000
	BatchBytes = 4 << 20
)

// Add counts a row of the given size and reports whether the batch is now full.
func (b *Batch) Add(bytes int) (full bool) {
	b.rows++
	b.bytes += bytes
	return b.rows >= cmp.Or(b.Rows, BatchRows) || b.bytes >= BatchBytes
}

// Reset empties the batch.
func (b *Batch) Reset() { b.rows, b.bytes = 0, 0 }
