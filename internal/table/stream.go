package table

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/store"
)

// StreamRetention is how long a stream keeps records. shardLife is the time after which a shard is closed and another
// shard continues it. Source: DG/Streams.html ("Shards": the service closes them at any time, in practice about every
// four hours).
const (
	StreamRetention = 24 * time.Hour
	shardLife       = 4 * time.Hour
)

// A StreamInfo is a stream with the facts about its table that readers need. A stream may outlive its table, so the
// catalogue keeps these facts.
type StreamInfo struct {
	Stream
	Table string
	Key   []KeyElement
	// Ended is when the stream was switched off, or the zero time while it is on.
	Ended time.Time
	days  int64 // retention of a history; 0 for a stream
}

// A Shard is one epoch of one column of a stream.
type Shard struct{ Epoch, Column uint32 }

// A Sequence is the number of a record in a column. Its upper bits are the epoch. Its lower bits are the number of
// the record in that epoch.
type Sequence uint64

const sequenceBits = 44

// MaxShards is the maximum number of columns of a stream. A stream of the service has a column for each partition of
// the table.
const MaxShards = 1000

// First returns the lowest sequence number that a record of the shard can have.
func (sh Shard) First() Sequence { return Sequence(sh.Epoch)<<sequenceBits + 1 }

// Last returns the highest sequence number that a record of the shard can have.
func (sh Shard) Last() Sequence { return (Sequence(sh.Epoch)+1)<<sequenceBits - 1 }

func (q Sequence) epoch() uint32 { return uint32(q >> sequenceBits) }

// A StreamRecord is one change of an item.
type StreamRecord struct {
	Sequence Sequence
	Time     time.Time
	// Keys is the key of the item. Old and New are the images that the stream keeps, or nil.
	Keys, Old, New attr.Item
	// Event is INSERT, MODIFY or REMOVE.
	Event string
	// Expired is true for an item deleted by time to live.
	Expired bool
}

// Bytes returns the size of the record: the sum of the sizes of its key and images. Source: API_streams_StreamRecord,
// SizeBytes.
func (r *StreamRecord) Bytes() int { return r.Keys.Size() + r.Old.Size() + r.New.Size() }

// The space of a stream has three kinds of rows. The records are in a partition for each shard, by sequence number.
// columnsPartition has the last sequence number of each column. trimmedPartition has the first epoch that may have
// records, and the last sequence number that was removed from each column.
var (
	columnsPartition = []byte("columns")
	trimmedPartition = []byte("trimmed")
)

func (sh Shard) partition() []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, sh.Epoch), sh.Column)
}

func (q Sequence) row() []byte { return binary.BigEndian.AppendUint64(nil, uint64(q)) }

func columnRow(column uint32) []byte { return binary.BigEndian.AppendUint32(nil, column) }

// EndedStreamRow returns the row of a stream in [EndedStreams].
func EndedStreamRow(table, label string) []byte { return []byte(table + "\x00" + label) }

// EpochOf returns the epoch of the stream that contains a time.
func (st *Stream) EpochOf(at time.Time) uint32 {
	return uint32(max(0, at.Sub(st.Created)) / shardLife)
}

// Begins returns when a shard begins.
func (st *Stream) Begins(sh Shard) time.Time {
	return st.Created.Add(time.Duration(sh.Epoch) * shardLife)
}

// The attribute names of a stored record.
const (
	recordTime    = "t" // milliseconds
	recordKeys    = "k"
	recordOld     = "o"
	recordNew     = "n"
	recordEvent   = "e"
	recordExpired = "x"
)

// recordedAt is the time that a transaction gives to all its records of one table.
type recordedAt struct {
	table *Table
	time  time.Time
}

// now returns the time for the records of a table in this transaction, which is the time of its first change. All
// these records have the same time, so that a restore to a point in time has all changes of a transaction or none. No
// other transaction can write the table when now reads the clock, so the times in a stream never decrease.
func (tx *Tx) now(t *Table) time.Time {
	for _, r := range tx.times {
		if r.table == t {
			return r.time
		}
	}
	at := tx.db.Clock()
	tx.times = append(tx.times, recordedAt{t, at})
	return at
}

// record appends the change of an item to a stream of its table. It skips a write that does not change the item.
// Source: DG/Streams.html.
func (tx *Tx) record(t *Table, st *Stream, partition []byte, old, item attr.Item) error {
	if bytes.Equal(old, item) {
		return nil
	}
	now := tx.now(t)
	column := uint32(uint64(store.Hash(partition)) * uint64(st.Shards) / (store.MaxHash + 1))
	last, err := lastSequence(tx.w, st, column)
	if err != nil {
		return err
	}
	next := max(last+1, Shard{st.EpochOf(now), column}.First())
	if err := tx.w.Put(st.Space, columnsPartition, columnRow(column), next.row()); err != nil {
		return err
	}

	event, image := "MODIFY", item
	switch {
	case old == nil:
		event = "INSERT"
	case item == nil:
		event, image = "REMOVE", old
	}

	var b attr.Builder
	b.Add(recordTime, attr.NewBinary(binary.BigEndian.AppendUint64(nil, uint64(now.UnixMilli()))))
	b.Add(recordKeys, attr.NewMap(t.key.Key(image)))
	b.Add(recordEvent, attr.NewString(event))
	if old != nil && (st.View == "OLD_IMAGE" || st.View == "NEW_AND_OLD_IMAGES") {
		b.Add(recordOld, attr.NewMap(old))
	}
	if item != nil && (st.View == "NEW_IMAGE" || st.View == "NEW_AND_OLD_IMAGES") {
		b.Add(recordNew, attr.NewMap(item))
	}
	if tx.expiring {
		b.Add(recordExpired, attr.NewBool(true))
	}
	shard := Shard{next.epoch(), column}
	return tx.w.Put(st.Space, shard.partition(), next.row(), b.Item())
}

// lastSequence returns the last sequence number of a column, or 0 if the column has had no record.
func lastSequence(r store.Reader, st *Stream, column uint32) (Sequence, error) {
	value, ok, err := r.Get(st.Space, columnsPartition, columnRow(column))
	if err != nil || !ok {
		return 0, err
	}
	if len(value) != 8 {
		return 0, fmt.Errorf("damaged stream %s: last sequence number %x", st.Label, value)
	}
	return Sequence(binary.BigEndian.Uint64(value)), nil
}

// records yields the records of a shard from the sequence number from on. If reverse is set, it yields the same
// records in reverse order. It ends after an error.
func records(r store.Reader, st *Stream, sh Shard, from Sequence, reverse bool) iter.Seq2[StreamRecord, error] {
	return func(yield func(StreamRecord, error) bool) {
		for row, err := range r.Query(st.Space, sh.partition(), store.Range{Lo: from.row()}, reverse) {
			var record StreamRecord
			if err == nil {
				record, err = decodeRecord(row)
			}
			if !yield(record, err) || err != nil {
				return
			}
		}
	}
}

func decodeRecord(row store.Row) (StreamRecord, error) {
	it := itemOf(slices.Clone(row.Value))
	at := it.Get(recordTime).Raw()
	if len(at) != 8 || len(row.Sort) != 8 {
		return StreamRecord{}, fmt.Errorf("damaged record %x of a stream", row.Sort)
	}
	return StreamRecord{
		Sequence: Sequence(binary.BigEndian.Uint64(row.Sort)),
		Time:     time.UnixMilli(int64(binary.BigEndian.Uint64(at))).UTC(),
		Keys:     it.Get(recordKeys).Map(), Old: it.Get(recordOld).Map(), New: it.Get(recordNew).Map(),
		Event: string(it.Get(recordEvent).Raw()), Expired: it.Get(recordExpired).Bool(),
	}, nil
}

// StreamInfo returns the stream of a definition whose Stream is not nil.
func (d *Definition) StreamInfo() *StreamInfo {
	return &StreamInfo{Stream: *d.Stream, Table: d.Name, Key: d.Key}
}
