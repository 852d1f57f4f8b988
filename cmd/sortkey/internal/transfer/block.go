package transfer

import (
	"github.com/sortkey/sortkey/attr"
)

const (
	blockRecords = 1024
	blockBytes   = 128 << 10
)

// A block is a sequence of consecutive records of a file. One goroutine reads the blocks of a file, and others decode
// them.
type block struct {
	records []rawRecord
	data    []byte // JSON of records
	types   Types
	form    form
	count   int64 // records from the beginning of the file to the end of the block
	line    int64 // of the last one
}

// A rawRecord is a record of a block. If decoded is set, the reader of the file has already decoded it. Otherwise its
// JSON is data[from:to] of the block.
type rawRecord struct {
	Record
	from, to int
	decoded  bool
}

// readBlock reads up to most records into b. If it returns an error, b has the records before the error, and there
// may be none. At the end of the file the error is io.EOF.
func (r *Reader) readBlock(b *block, most int) error {
	b.records, b.data = b.records[:0], b.data[:0]
	for len(b.records) < most && len(b.data) < blockBytes {
		rec, err := r.read(b)
		if err != nil {
			return err
		}
		b.records = append(b.records, rec)
		b.count, b.line = r.count, rec.Line
	}
	return nil
}

// decode returns the item of a record of the block. If d.reuse is set, the item is valid until the next call.
func (b *block) decode(rec *rawRecord, d *decoder) (it attr.Item, remove bool, err error) {
	if rec.decoded {
		return rec.Item, rec.Delete, rec.Err
	}
	d.types, d.form = b.types, b.form
	if it, remove, err = d.item(b.data[rec.from:rec.to]); err != nil {
		return nil, false, rejectf("%s", reason(err))
	}
	return it, remove, nil
}
