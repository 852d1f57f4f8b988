package table

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store"
)

// Stream returns the stream of a table that has the given label. The stream may have been switched off, or its table
// deleted, in the last 24 hours. The error has kind [NotFound].
func (s *View) Stream(table, label string) (*StreamInfo, error) {
	if t := s.tables.ByName[table]; t != nil && t.def.Stream != nil && t.def.Stream.Label == label {
		return t.def.StreamInfo(), nil
	}
	value, ok, err := s.r.Get(CatalogueSpace, EndedStreams, EndedStreamRow(table, label))
	if err != nil {
		return nil, err
	}
	info := new(StreamInfo)
	if ok {
		if err := json.Unmarshal(value, info); err != nil {
			return nil, fmt.Errorf("damaged catalogue: stream %s of table %s: %w", label, table, err)
		}
	}
	if !ok || s.db.Trimmed(info.Ended) {
		return nil, &Error{Kind: NotFound, Msg: "Requested resource not found: Stream: " + label + " not found"}
	}
	return info, nil
}

// Trimmed reports whether a record of the given time is older than [StreamRetention].
func (db *DB) Trimmed(at time.Time) bool { return db.Clock().Sub(at) > StreamRetention }

// Streams returns the streams of a table, or of all tables if the name is empty,
// ordered by table and label.
func (s *View) Streams(table string) (list []*StreamInfo, err error) {
	for name, t := range s.tables.ByName {
		if t.def.Stream != nil && (table == "" || table == name) {
			list = append(list, t.def.StreamInfo())
		}
	}
	ended, err := ReadEndedStreams(s.r)
	if err != nil {
		return nil, err
	}
	for _, info := range ended {
		if (table == "" || table == info.Table) && !s.db.Trimmed(info.Ended) {
			list = append(list, info)
		}
	}

	slices.SortStableFunc(list, func(a, b *StreamInfo) int {
		return cmp.Or(strings.Compare(a.Table, b.Table), strings.Compare(a.Label, b.Label))
	})
	// While a stream is being switched off, both the table and EndedStreams have it.
	return slices.CompactFunc(list, func(a, b *StreamInfo) bool { return a.Space == b.Space }), nil
}

// ReadEndedStreams returns the streams that were switched off and are still in the catalogue.
func ReadEndedStreams(r store.Reader) (list []*StreamInfo, err error) {
	for row, err := range RowsOf(r, EndedStreams) {
		if err != nil {
			return nil, err
		}
		info := new(StreamInfo)
		if err := json.Unmarshal(row.Value, info); err != nil {
			return nil, fmt.Errorf("damaged catalogue: stream %q: %w", row.Sort, err)
		}
		list = append(list, info)
	}
	return list, nil
}

// Roll closes the shards of a stream whose epoch is over, even if there are no new records. A write that is still
// running then appends its record to the next shard, so a closed shard gets no more records.
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
	err = db.Change(ctx, func(w store.Writer) error {
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
	// Closed is true if the shard gets no more records.
	Closed bool
	column Sequence // the last sequence number of its column
}

// End returns the sequence number of the last record of an open shard. If the shard has no record yet, End returns
// the number before its first. For a closed shard it returns the highest number that a record of the shard can have.
func (sh *ShardInfo) End() Sequence { return max(sh.First()-1, min(sh.column, sh.Last())) }

// Shards returns the shards of a stream that may still have records, ordered by epoch and then by column.
func (s *View) Shards(st *StreamInfo) (list []ShardInfo, err error) {
	lasts := make([]Sequence, st.Shards)
	epochs := uint32(0)
	for column := range lasts {
		if lasts[column], err = lastSequence(s.r, &st.Stream, uint32(column)); err != nil {
			return nil, err
		}
		epochs = max(epochs, lasts[column].epoch())
	}
	first := min(s.oldest(st), epochs)
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

// Records returns records of a shard, the oldest first, beginning with the sequence number from. It returns at most
// limit records, and at most 1 MB unless the first record is larger. It skips records that are older than
// [StreamRetention]. next is the sequence number for the next call, and more reports whether that call will find
// records.
func (s *View) Records(
	st *StreamInfo, sh Shard, from Sequence, limit int,
) (list []StreamRecord, next Sequence, more bool, err error) {
	next = max(from, sh.First())
	size := 0
	for r, err := range records(s.r, &st.Stream, sh, next, false) {
		if err != nil {
			return nil, 0, false, err
		}
		if len(list) == limit {
			return list, next, true, nil
		}
		if !s.db.Trimmed(r.Time) {
			if size += r.Bytes(); size > keycond.PageBytes && len(list) > 0 {
				return list, next, true, nil
			}
			list = append(list, r)
		}
		next = r.Sequence + 1
	}

	return list, next, false, nil
}

// After returns up to limit records of a column that follow the sequence number q, the oldest first; see
// [View.Records].
func (s *View) After(st *StreamInfo, column uint32, q Sequence, limit int) (list []StreamRecord, err error) {
	last, err := lastSequence(s.r, &st.Stream, column)
	epoch := max(q.epoch(), s.oldest(st))
	for ; err == nil && len(list) == 0 && epoch <= last.epoch(); epoch++ {
		list, _, _, err = s.Records(st, Shard{epoch, column}, q+1, limit)
	}
	return list, err
}

// From returns the sequence number of the first record of a shard that is not older than at. If there is none, it
// returns the number after the last record. From reads all records up to that one.
func (s *View) From(st *StreamInfo, sh ShardInfo, at time.Time) (Sequence, error) {
	for r, err := range records(s.r, &st.Stream, sh.Shard, 0, false) {
		if err != nil || !r.Time.Before(at) {
			return r.Sequence, err
		}
	}
	return sh.End() + 1, nil
}

// Trimmed reports whether a record was removed or is older than [StreamRetention]. The caller makes sure that the
// shard has had a record with this sequence number.
func (s *View) Trimmed(st *StreamInfo, sh Shard, q Sequence) (bool, error) {
	value, ok, err := s.r.Get(st.Space, sh.partition(), q.row())
	if err != nil || !ok {
		return !ok, err
	}
	r, err := decodeRecord(store.Row{Sort: q.row(), Value: value})
	return err == nil && s.db.Trimmed(r.Time), err
}

// Missed reports whether a reader that continues a shard at the sequence number from would skip records that are no
// longer kept. It returns false for a number before the first of the shard, as the reader then starts at the oldest
// record that is kept. It also returns false once all records of a closed shard are gone, as no row says which number
// was the last.
func (s *View) Missed(st *StreamInfo, sh ShardInfo, from Sequence) (bool, error) {
	if from < sh.First() {
		return false, nil
	}
	for r, err := range records(s.r, &st.Stream, sh.Shard, from, false) {
		return err == nil && (r.Sequence > from || s.db.Trimmed(r.Time)), err
	}
	return from <= sh.End() && sh.End() < sh.Last(), nil
}

// Horizon returns a sequence number of a column. All records up to this number are older than [StreamRetention], and
// all later ones are not.
func (s *View) Horizon(st *StreamInfo, column uint32) (Sequence, error) {
	last, err := lastSequence(s.r, &st.Stream, column)
	if err != nil {
		return 0, err
	}
	oldest := s.db.Clock().Add(-StreamRetention)
	from, err := s.From(st, ShardInfo{Shard: Shard{st.EpochOf(oldest), column}, column: last}, oldest)
	return from - 1, err
}

// Lost reports whether a record of a column with a higher number than q is no longer kept.
func (s *View) Lost(st *StreamInfo, column uint32, q Sequence) (bool, error) {
	value, ok, err := s.r.Get(st.Space, trimmedPartition, columnRow(column))
	if err != nil {
		return false, err
	}
	if ok && len(value) == 8 && Sequence(binary.BigEndian.Uint64(value)) > q {
		return true, nil
	}

	// A record that is too old counts as lost even before TrimStreams removes it. The first record after q is the
	// oldest, so it is enough to check the time of that record.
	last, err := lastSequence(s.r, &st.Stream, column)
	if err != nil {
		return false, err
	}
	horizon := min(last.epoch(), s.oldest(st))
	for epoch := q.epoch(); epoch <= horizon; epoch++ {
		for r, err := range records(s.r, &st.Stream, Shard{epoch, column}, q+1, false) {
			return err == nil && s.db.Trimmed(r.Time), err
		}
	}
	return false, nil
}

// oldest returns the first epoch of the stream, or of the history, that has records which are kept.
func (s *View) oldest(st *StreamInfo) uint32 { return st.EpochOf(s.db.Clock().Add(-st.retention())) }

// retention returns how long the records of the stream, or of the history, are kept.
func (st *StreamInfo) retention() time.Duration {
	if st.days > 0 {
		return time.Duration(st.days) * 24 * time.Hour
	}
	return StreamRetention
}

// trimRows is the maximum number of records that one update removes.
const trimRows = 1000

// TrimStreams removes the records of streams and histories that are past their retention.
func (db *DB) TrimStreams(ctx context.Context) error {
	var list []*StreamInfo
	err := db.View(ctx, func(s *View) (err error) {
		list, err = s.Streams("")
		for name, t := range s.tables.ByName {
			if h := t.def.History(); h != nil {
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
	return nil
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
		err = db.Change(ctx, func(w store.Writer) error {
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

// findTrimmed returns up to trimRows records of a stream that are past their retention. Epochs before from have no
// records. Epochs before to have none once the caller has removed the returned ones.
func (s *View) findTrimmed(st *StreamInfo) (old []store.Position, from, to uint32, err error) {
	value, ok, err := s.r.Get(st.Space, trimmedPartition, nil)
	if err != nil {
		return nil, 0, 0, err
	}
	if ok && len(value) == 4 {
		from = binary.BigEndian.Uint32(value)
	}
	horizon := max(from, s.oldest(st))
	for to = from; ; to++ {
		for column := range uint32(st.Shards) {
			sh := Shard{to, column}
			for r, err := range records(s.r, &st.Stream, sh, 0, false) {
				if err != nil {
					return nil, 0, 0, err
				}
				if s.db.Clock().Sub(r.Time) <= st.retention() {
					break
				}
				old = append(old, store.Position{Partition: sh.partition(), Sort: r.Sequence.row()})
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
