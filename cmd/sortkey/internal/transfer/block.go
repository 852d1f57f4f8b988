package transfer

import (
	"github.com/sortkey/sortkey/attr"
)

const (
	blockRecords = 1024
	blockBytes   = 128 << 10
)

// A block is some records of a file, one after the other, which can be decoded apart from
// reading it.
type block struct {
	records []rawRecord
	data    []byte // JSON of records
	types   Types
	form    form
	count   int64 // of the records of the file up to the end of the block
	line    int64 // of the last one
}

// A rawRecord is a record of a block: JSON in its data or, if it had to be decoded by the
// reader of the file, the record itself.
type rawRecord struct {
	Record
	from, to int
	decoded  bool
}

// readBlock reads the next records into b, at most the given number and at least one unless there is an error: the one
// that [Reader.Next] returns for the record after them.
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

// decode returns a record of the block. Its item may be changed by the next call.
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
