package table

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/store"
)

// A Stream is the log of the changes of a table's items. Each change is a row,
// written in the same Update as the change, so it is as durable and as atomic.
//
// A stream has Shards columns, each a range of the hashes of partition keys. Time
// divides a column into epochs of [shardLife]; a [Shard] is one epoch of one
// column, and its parent is the epoch before. So the shards need no list: the
// last sequence number of a column, which includes its epoch, says which of them
// have ended.
type Stream struct {
	// View is KEYS_ONLY, NEW_IMAGE, OLD_IMAGE or NEW_AND_OLD_IMAGES.
	View string
	// Created is when the stream was switched on, in whole milliseconds, and
	// Label is the same as text, for the ARN. They are unique for a table name.
	Created time.Time
	Label   string
	Space   store.Space
	Shards  int
	// Policy is the resource policy of the stream.
	Policy *Policy `json:",omitempty"`
}

// The retention of records, and the time after which a shard is closed and
// another continues it. Source: DG/Streams.html ("Shards": they are closed and
// continued at any time, which is about every four hours).
const (
	StreamRetention = 24 * time.Hour
	shardLife       = 4 * time.Hour
)

// A StreamInfo is a stream with what outlives its table.
type StreamInfo struct {
	Stream
	Table string
	Key   []KeyElement
	// Ended is when the stream was switched off, or zero.
	Ended time.Time
	days  int64 // of a history, else 0
}

// A Shard is an epoch of a column of a stream.
type Shard struct{ Epoch, Column uint32 }

// A Sequence orders the records of a column: its upper bits are the epoch, the
// others count.
type Sequence uint64

const sequenceBits = 44

// MaxShards limits the columns of a stream. In the service there is one for each
// partition of the table.
const MaxShards = 1000

// First returns the first sequence number that a shard can have.
func (sh Shard) First() Sequence { return Sequence(sh.Epoch)<<sequenceBits + 1 }

// Last returns the last sequence number that a shard can have.
func (sh Shard) Last() Sequence { return (Sequence(sh.Epoch)+1)<<sequenceBits - 1 }

func (q Sequence) epoch() uint32 { return uint32(q >> sequenceBits) }

// A StreamRecord is one change of an item.
type StreamRecord struct {
	Sequence Sequence
	Time     time.Time
	// Keys is the key of the item. Old and New are the images that the stream
	// keeps, nil for none.
	Keys, Old, New attr.Item
	// Event is INSERT, MODIFY or REMOVE.
	Event string
	// Expired is true for an item deleted by time to live.
	Expired bool
}

// Bytes is the size of the record: of its key and images.
// Source: API_streams_StreamRecord, SizeBytes.
func (r *StreamRecord) Bytes() int { return r.Keys.Size() + r.Old.Size() + r.New.Size() }

// The rows of a stream's space are its records, by shard and sequence number; in
// columnsPartition the last sequence number of each column; and in
// trimmedPartition the first epoch that may have records, and the last sequence
// number removed from each column.
var (
	columnsPartition = []byte("columns")
	trimmedPartition = []byte("trimmed")
	endedPartition   = []byte("streams") // of the catalogue: streams switched off
)

func (sh Shard) partition() []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, sh.Epoch), sh.Column)
}

func (q Sequence) row() []byte { return binary.BigEndian.AppendUint64(nil, uint64(q)) }

func columnRow(column uint32) []byte { return binary.BigEndian.AppendUint32(nil, column) }

func endedRow(table, label string) []byte { return []byte(table + "\x00" + label) }

// EpochOf returns the epoch of a moment.
func (st *Stream) EpochOf(at time.Time) uint32 {
	return uint32(max(0, at.Sub(st.Created)) / shardLife)
}

// Begins returns when a shard begins.
func (st *Stream) Begins(sh Shard) time.Time {
	return st.Created.Add(time.Duration(sh.Epoch) * shardLife)
}

// The names of the attributes of a stored record.
const (
	recordTime    = "t" // milliseconds
	recordKeys    = "k"
	recordOld     = "o"
	recordNew     = "n"
	recordEvent   = "e"
	recordExpired = "x"
)

// record appends the change of an item to a stream of its table. An item that is
// put as it was is no change. Source: DG/Streams.html.
func (tx *Tx) record(t *Table, st *Stream, partition []byte, old, item attr.Item) error {
	if bytes.Equal(old, item) {
		return nil
	}
	now := tx.db.Clock()
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
	b.Add(recordKeys, attr.NewMap(keyOf(image, t.attributes)))
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

// lastSequence returns the last sequence number of a column.
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

// Stream returns the stream of a table with a label, also if it was switched off
// or the table deleted in the last 24 hours. The error has kind [NotFound].
func (s *View) Stream(table, label string) (*StreamInfo, error) {
	if t := s.db.tables[table]; t != nil && t.def.Stream != nil && t.def.Stream.Label == label {
		return t.def.stream(), nil
	}
	value, ok, err := s.r.Get(catalogueSpace, endedPartition, endedRow(table, label))
	if err != nil {
		return nil, err
	}
	info := new(StreamInfo)
	if ok {
		if err := json.Unmarshal(value, info); err != nil {
			return nil, fmt.Errorf("damaged catalogue: stream %s of table %s: %w", label, table, err)
		}
	}
	if !ok || s.db.trimmed(info.Ended) {
		return nil, &Error{Kind: NotFound, Msg: "Requested resource not found: Stream: " + label + " not found"}
	}
	return info, nil
}

// trimmed reports whether records of a moment are no longer kept.
func (db *DB) trimmed(at time.Time) bool { return db.Clock().Sub(at) > StreamRetention }

// stream returns the stream of a definition that has one.
func (d *Definition) stream() *StreamInfo {
	return &StreamInfo{Stream: *d.Stream, Table: d.Name, Key: d.Key}
}

// Streams returns the streams of a table, or of all tables if the name is empty,
// ordered by table and label.
func (s *View) Streams(table string) (list []*StreamInfo, err error) {
	for name, t := range s.db.tables {
		if t.def.Stream != nil && (table == "" || table == name) {
			list = append(list, t.def.stream())
		}
	}
	for row, err := range s.r.Query(catalogueSpace, endedPartition, store.Range{}, false) {
		if err != nil {
			return nil, err
		}
		info := new(StreamInfo)
		if err := json.Unmarshal(row.Value, info); err != nil {
			return nil, fmt.Errorf("damaged catalogue: stream %q: %w", row.Sort, err)
		}
		if (table == "" || table == info.Table) && !s.db.trimmed(info.Ended) {
			list = append(list, info)
		}
	}
	slices.SortStableFunc(list, func(a, b *StreamInfo) int {
		if c := strings.Compare(a.Table, b.Table); c != 0 {
			return c
		}
		return strings.Compare(a.Label, b.Label)
	})
	// A stream that is being switched off is in both lists until that is done.
	return slices.CompactFunc(list, func(a, b *StreamInfo) bool { return a.Space == b.Space }), nil
}

// Roll closes the shards of a stream whose time is over. A record of a write that
// is under way then goes to the next shard, so a reader that has seen the end of
// a shard has seen all of it.
func (db *DB) Roll(ctx context.Context, st *StreamInfo) error {
	if !st.Ended.IsZero() {
		return nil
	}
	late := func(r store.Reader) (columns []uint32, err error) {
		for column := range uint32(st.Shards) {
			last, err := lastSequence(r, &st.Stream, column)
			if err != nil {
				return nil, err
			}
			if last.epoch() < st.EpochOf(db.Clock()) {
				columns = append(columns, column)
			}
		}
		return columns, nil
	}
	var columns []uint32
	err := db.View(ctx, func(s *View) (err error) {
		columns, err = late(s.r)
		return err
	})
	if err != nil || len(columns) == 0 {
		return err
	}
	err = db.change(ctx, func(w store.Writer) error {
		columns, err := late(w)
		if err != nil {
			return err
		}
		for _, column := range columns {
			begun := Shard{st.EpochOf(db.Clock()), column}.First() - 1
			if err := w.Put(st.Space, columnsPartition, columnRow(column), begun.row()); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, store.ErrReadOnly) {
		return nil // nobody writes
	}
	return err
}

// A ShardInfo describes a shard.
type ShardInfo struct {
	Shard
	// Closed is true for a shard that gets no more records.
	Closed bool
	column Sequence // the last sequence number of its column
}

// End returns the sequence number of the last record, or the one before the
// first if the shard has none yet. Closed shards end with the last number that
// they can have.
func (sh *ShardInfo) End() Sequence { return max(sh.First()-1, min(sh.column, sh.Last())) }

// Shards returns the shards of a stream that are kept: by epoch, then by column.
func (s *View) Shards(st *StreamInfo) (list []ShardInfo, err error) {
	lasts := make([]Sequence, st.Shards)
	epochs := uint32(0)
	for column := range lasts {
		if lasts[column], err = lastSequence(s.r, &st.Stream, uint32(column)); err != nil {
			return nil, err
		}
		epochs = max(epochs, lasts[column].epoch())
	}
	first := min(st.EpochOf(s.db.Clock().Add(-StreamRetention)), epochs)
	for epoch := first; epoch <= epochs; epoch++ {
		for column, last := range lasts {
			if epoch <= last.epoch() {
				list = append(
					list, ShardInfo{Shard{epoch, uint32(column)}, epoch < last.epoch() || !st.Ended.IsZero(), last},
				)
			}
		}
	}
	return list, nil
}

// Records returns records of a shard from a sequence number on, the oldest first:
// at most limit of them, and no more than 1 MB but for the first. Next is the
// sequence number to continue at, and more reports whether there are records from
// there on. Records that are older than [StreamRetention] are passed over.
func (s *View) Records(
	st *StreamInfo, sh Shard, from Sequence, limit int,
) (list []StreamRecord, next Sequence, more bool, err error) {
	next = max(from, sh.First())
	size := 0
	for row, err := range s.r.Query(st.Space, sh.partition(), store.Range{Lo: next.row()}, false) {
		if err != nil {
			return nil, 0, false, err
		}
		if len(list) == limit {
			return list, next, true, nil
		}
		r, err := decodeRecord(row)
		if err != nil {
			return nil, 0, false, err
		}
		if !s.db.trimmed(r.Time) {
			if size += r.Bytes(); size > PageBytes && len(list) > 0 {
				return list, next, true, nil
			}
			list = append(list, r)
		}
		next = r.Sequence + 1
	}
	return list, next, false, nil
}

// From returns the sequence number of the first record of a shard that is not
// older than a moment, or the one after the last record. It reads the records
// before that.
func (s *View) From(st *StreamInfo, sh ShardInfo, at time.Time) (Sequence, error) {
	for row, err := range s.r.Query(st.Space, sh.partition(), store.Range{}, false) {
		if err != nil {
			return 0, err
		}
		r, err := decodeRecord(row)
		if err != nil {
			return 0, err
		}
		if !r.Time.Before(at) {
			return r.Sequence, nil
		}
	}
	return sh.End() + 1, nil
}

// Trimmed reports whether the record with a sequence number that its shard has
// used is not kept any more.
func (s *View) Trimmed(st *StreamInfo, sh Shard, q Sequence) (bool, error) {
	value, ok, err := s.r.Get(st.Space, sh.partition(), q.row())
	if err != nil || !ok {
		return !ok, err
	}
	r, err := decodeRecord(store.Row{Sort: q.row(), Value: value})
	return err == nil && s.db.trimmed(r.Time), err
}

// Missed reports whether a reader of a shard that continues at a sequence number
// would pass over records that are not kept any more. A number before the first is
// the oldest record that is kept. Of a shard that the next epoch closed, nothing
// says where it ended, so once all its records are gone no reader has missed any.
func (s *View) Missed(st *StreamInfo, sh ShardInfo, from Sequence) (bool, error) {
	if from < sh.First() {
		return false, nil
	}
	for row, err := range s.r.Query(st.Space, sh.partition(), store.Range{Lo: from.row()}, false) {
		if err != nil {
			return false, err
		}
		r, err := decodeRecord(row)
		return err == nil && (r.Sequence > from || s.db.trimmed(r.Time)), err
	}
	return from <= sh.End() && sh.End() < sh.Last(), nil
}

// Horizon returns a sequence number of a column that lies behind the records that are not
// kept any more, and before those that are.
func (s *View) Horizon(st *StreamInfo, column uint32) (Sequence, error) {
	last, err := lastSequence(s.r, &st.Stream, column)
	if err != nil {
		return 0, err
	}
	oldest := s.db.Clock().Add(-StreamRetention)
	from, err := s.From(st, ShardInfo{Shard: Shard{st.EpochOf(oldest), column}, column: last}, oldest)
	return from - 1, err
}

// Lost reports whether a record of a column behind a sequence number is not kept any more.
func (s *View) Lost(st *StreamInfo, column uint32, q Sequence) (bool, error) {
	value, ok, err := s.r.Get(st.Space, trimmedPartition, columnRow(column))
	if err != nil {
		return false, err
	}
	if ok && len(value) == 8 && Sequence(binary.BigEndian.Uint64(value)) > q {
		return true, nil
	}

	// What was not removed yet: the first record behind q is the oldest.
	last, err := lastSequence(s.r, &st.Stream, column)
	if err != nil {
		return false, err
	}
	horizon := min(last.epoch(), st.EpochOf(s.db.Clock().Add(-StreamRetention)))
	for epoch := q.epoch(); epoch <= horizon; epoch++ {
		sh := Shard{epoch, column}
		for row, err := range s.r.Query(st.Space, sh.partition(), store.Range{Lo: (q + 1).row()}, false) {
			if err != nil {
				return false, err
			}
			r, err := decodeRecord(row)
			return err == nil && s.db.trimmed(r.Time), err
		}
	}
	return false, nil
}

// endStream keeps the stream of a definition in the catalogue if its successor,
// nil for none, does not have it.
func (db *DB) endStream(w store.Writer, old, def *Definition) error {
	if old.Stream == nil || def != nil && def.Stream != nil && def.Stream.Space == old.Stream.Space {
		return nil
	}
	st := old.stream()
	st.Ended = db.Clock().UTC()
	value, err := json.Marshal(st)
	if err != nil {
		return err
	}
	return w.Put(catalogueSpace, endedPartition, endedRow(st.Table, st.Label), value)
}

// labelForm is the time in the ARN of a stream.
const labelForm = "2006-01-02T15:04:05.000"

// begin gives a new stream a label that no stream of the table has.
func (st *Stream) begin(r store.Reader, table string) error {
	for {
		st.Label = st.Created.UTC().Format(labelForm)
		_, taken, err := r.Get(catalogueSpace, endedPartition, endedRow(table, st.Label))
		if err != nil || !taken {
			return err
		}
		st.Created = st.Created.Add(time.Millisecond)
	}
}

// retention is how long records of a stream are kept, or of a history.
func (st *StreamInfo) retention() time.Duration {
	if st.days > 0 {
		return time.Duration(st.days) * 24 * time.Hour
	}
	return StreamRetention
}

// trimRows is how many records one update removes.
const trimRows = 1000

// trimStreams removes the records of streams and histories that are too old, and the
// streams that were switched off longer than [StreamRetention] ago.
func (db *DB) trimStreams(ctx context.Context) error {
	var list []*StreamInfo
	err := db.View(ctx, func(s *View) (err error) {
		list, err = s.Streams("")
		for name, t := range db.tables {
			if h := t.def.history(); h != nil {
				list = append(list, &StreamInfo{Stream: *h, Table: name, days: t.def.Recovery.Days})
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, st := range list {
		if err := db.trimStream(ctx, st); err != nil {
			return err
		}
	}
	return db.clearStreams(ctx)
}

func (db *DB) trimStream(ctx context.Context, st *StreamInfo) error {
	for {
		var old []store.Position
		var from, to uint32
		err := db.View(ctx, func(s *View) (err error) {
			old, from, to, err = s.findTrimmed(st)
			return err
		})
		if err != nil || len(old) == 0 && from == to {
			return err
		}
		err = db.change(ctx, func(w store.Writer) error {
			for i, at := range old {
				if err := w.Delete(st.Space, at.Partition, at.Sort); err != nil {
					return err
				}
				if i+1 < len(old) && bytes.Equal(old[i+1].Partition, at.Partition) {
					continue
				}
				column := at.Partition[len(at.Partition)-len(columnRow(0)):]
				if err := w.Put(st.Space, trimmedPartition, column, at.Sort); err != nil {
					return err
				}
			}
			return w.Put(st.Space, trimmedPartition, nil, binary.BigEndian.AppendUint32(nil, to))
		})
		if err != nil || len(old) < trimRows {
			return err
		}
	}
}

// findTrimmed returns up to trimRows records of a stream that are too old. Epochs
// before from had no records; once those returned are removed, neither have the
// epochs before to.
func (s *View) findTrimmed(st *StreamInfo) (old []store.Position, from, to uint32, err error) {
	value, ok, err := s.r.Get(st.Space, trimmedPartition, nil)
	if err != nil {
		return nil, 0, 0, err
	}
	if ok && len(value) == 4 {
		from = binary.BigEndian.Uint32(value)
	}
	horizon := max(from, st.EpochOf(s.db.Clock().Add(-st.retention())))
	for to = from; ; to++ {
		for column := range uint32(st.Shards) {
			partition := Shard{to, column}.partition()
			for row, err := range s.r.Query(st.Space, partition, store.Range{}, false) {
				if err != nil {
					return nil, 0, 0, err
				}
				if r, err := decodeRecord(row); err != nil {
					return nil, 0, 0, err
				} else if s.db.Clock().Sub(r.Time) <= st.retention() {
					break
				}
				old = append(old, store.Position{Partition: partition, Sort: slices.Clone(row.Sort)})
				if len(old) == trimRows {
					return old, from, to, nil
				}
			}
		}
		if to == horizon {
			return old, from, to, nil
		}
	}
}

// clearStreams removes the streams that were switched off longer than
// [StreamRetention] ago.
func (db *DB) clearStreams(ctx context.Context) error {
	var gone []StreamInfo
	err := db.store.View(ctx, func(r store.Reader) error {
		for row, err := range r.Query(catalogueSpace, endedPartition, store.Range{}, false) {
			if err != nil {
				return err
			}
			var st StreamInfo
			if err := json.Unmarshal(row.Value, &st); err != nil {
				return fmt.Errorf("damaged catalogue: stream %q: %w", row.Sort, err)
			}
			if db.trimmed(st.Ended) {
				gone = append(gone, st)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, st := range gone {
		var listed []store.Space
		err := db.change(ctx, func(w store.Writer) (err error) {
			if err := w.Delete(catalogueSpace, endedPartition, endedRow(st.Table, st.Label)); err != nil {
				return err
			}
			listed, err = db.drop(w, st.Space)
			return err
		})
		if err != nil {
			return err
		}
		db.clearDropped(ctx, listed)
	}
	return nil
}
