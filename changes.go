package sortkey

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

// A Change is one change of an item, read from the stream of its table. [TableOf.Changes] yields it.
type Change[T any] struct {
	// Key is the primary key of the item.
	Key attr.Item
	// Old is the item before the change, or nil if the change created the item. New is the item after the change, or
	// nil if the change deleted it. If the loop yields a [*DecodeError] with the change, an item that does not fit T
	// is nil too.
	Old, New *T
	// At is the time of the change, in whole seconds.
	At time.Time
	// Cursor makes [TableOf.Changes] continue after this change.
	Cursor string
}

// poll is how often Changes looks for new changes.
const poll = 50 * time.Millisecond

// Changes yields the changes of the table's items. Changes of one item come in their order; changes of different
// partition keys may not. The cursor is that of the change after which Changes begins. If it is "", Changes begins
// with the oldest change of the last 24 hours. After the last change it waits for new ones until its context ends,
// and then yields the cause of the context as its last error. With [UntilNow] it ends instead of waiting. The table
// must have a stream; see [Stream].
//
// An error ends the loop, except a [*DecodeError]. That error comes with the key and the cursor of a change that does
// not fit T, and the loop continues after that change. The error is [ErrTrimmed] if the stream has dropped changes
// after the cursor because they are older than 24 hours.
func (t *TableOf[T]) Changes(ctx context.Context, cursor string, opts ...Option) iter.Seq2[Change[T], error] {
	var c call
	c.operation = &opChanges
	refused := c.options(opts)
	untilNow := c.given&kindUntilNow != 0

	return func(yield func(Change[T], error) bool) {
		fail := func(err error) { yield(Change[T]{}, failed(err)) }
		if ctx == nil {
			fail(noContext("TableOf.Changes"))
			return
		}
		if err := cmp.Or(refused, t.notIndex()); err != nil {
			fail(err)
			return
		}
		f, err := t.feed(ctx, cursor)
		if err != nil {
			fail(t.db.ended(ctx, err))
			return
		}
		for {
			n, err := f.round(ctx, yield)
			if errors.Is(err, errStop) {
				return
			}
			if err = t.db.ended(ctx, err); err != nil {
				fail(err)
				return
			}
			switch {
			case n > 0:
				continue
			case untilNow:
				return
			}
			_ = table.Sleep(ctx, poll) // the next round returns the end of ctx
		}
	}
}

// errStop means that the body of the caller's loop over the changes has ended the loop.
var errStop = errors.New("stop")

// A feed reads the changes of all columns of a stream. A column holds the changes of one range of partition keys.
type feed[T any] struct {
	table  *TableOf[T]
	stream *table.StreamInfo
	place  feedCursor
}

// A feedCursor is the position of a feed. The text of a cursor is its JSON in base64.
type feedCursor struct {
	Stream string `json:"s"`
	// Read has a sequence number for each column of the stream: that of the last change that the feed has read. If
	// the feed has read no change of a column yet, it is the number before the oldest record that the stream had when
	// the feed began.
	Read []table.Sequence `json:"r"`
}

func (t *TableOf[T]) feed(ctx context.Context, cursor string) (*feed[T], error) {
	f := &feed[T]{table: t}
	described, err := t.db.service.DescribeTable(ctx, &wire.DescribeTableInput{TableName: &t.name})
	if err != nil {
		return nil, err
	}
	stream := described.Table.LatestStreamArn
	if stream == nil {
		return nil, misuse("table %s has no stream: create it with sortkey.Stream()", t.name)
	}
	if cursor != "" {
		if decodeCursor(cursor, &f.place) != nil || len(f.place.Read) == 0 {
			return nil, badCursor("Changes(%q): this is not the cursor of a change", cursor)
		}
		if f.place.Stream != *stream {
			return nil, badCursor(
				"the cursor is of stream %s, not of %s, the stream of table %s", f.place.Stream, *stream, t.name,
			)
		}
	}

	f.place.Stream = *stream
	var refused error // kept here, as the caller's transaction would fail if the View returned it
	err = t.db.tables.View(ctx, func(v *table.View) (err error) {
		if f.stream, err = v.Stream(t.name, *described.Table.LatestStreamLabel); err != nil {
			return err
		}
		if cursor != "" && len(f.place.Read) != f.stream.Shards {
			refused = badCursor("Changes(%q): this is not the cursor of a change", cursor)
			return nil
		}
		f.place.Read = slices.Grow(f.place.Read, f.stream.Shards)[:f.stream.Shards]
		for column := range uint32(f.stream.Shards) {
			if cursor == "" {
				f.place.Read[column], err = v.Horizon(f.stream, column)
			}
			if err == nil {
				refused, err = f.trimmed(v, column)
			}
			if refused != nil || err != nil {
				return err
			}
		}
		return nil
	})
	return f, cmp.Or(err, refused)
}

// trimmed returns an [ErrTrimmed] if the column has lost changes that the feed has not read.
func (f *feed[T]) trimmed(v *table.View, column uint32) (trimmed, err error) {
	lost, err := v.Lost(f.stream, column, f.place.Read[column])
	if !lost {
		return nil, err
	}
	trimmed = fmt.Errorf("%w: table %s has lost changes behind sequence number %d of column %d of its stream, "+
		"as they are older than %d hours; read the table, and go on with the cursor \"\", the oldest change",
		ErrTrimmed, f.table.name, f.place.Read[column], column, table.StreamRetention/time.Hour)
	return trimmed, nil
}

// round yields the new changes of each column and returns how many it has yielded.
func (f *feed[T]) round(ctx context.Context, yield func(Change[T], error) bool) (n int, err error) {
	for column := range uint32(len(f.place.Read)) {
		for {
			records, err := f.next(ctx, column)
			if err != nil {
				return n, err
			}
			if len(records) == 0 {
				break
			}
			for i := range records {
				if err := f.table.db.ended(ctx, nil); err != nil {
					return n, err
				}
				n++
				if !yield(f.change(column, &records[i])) {
					return n, errStop
				}
			}
		}
	}
	return n, nil
}

// next returns at most recordsAtOnce records of a column, beginning with the first that the feed has not read. The
// error is [ErrTrimmed] if the stream no longer has some of the unread records.
func (f *feed[T]) next(ctx context.Context, column uint32) (records []table.StreamRecord, err error) {
	var refused error // kept here for the same reason as in TableOf.feed
	err = f.table.db.tables.View(ctx, func(v *table.View) (err error) {
		if _, err = v.Stream(f.stream.Table, f.stream.Label); err == nil {
			refused, err = f.trimmed(v, column)
		}
		if refused == nil && err == nil {
			records, err = v.After(f.stream, column, f.place.Read[column], recordsAtOnce)
		}
		return err
	})
	if e, ok := err.(*table.Error); ok { // the stream ended more than 24 hours ago
		err = wire.NewError(codeNotFound, e.Msg)
	}
	return records, cmp.Or(err, refused)
}

// recordsAtOnce is how many records of a stream next reads at once. Source: API_streams_GetRecords.
const recordsAtOnce = 1000

// change converts a record and moves the feed's position to it. If an item does not fit T, the error is a
// [*DecodeError], and the change still has its key and its cursor.
func (f *feed[T]) change(column uint32, r *table.StreamRecord) (c Change[T], err error) {
	f.place.Read[column] = r.Sequence
	c = Change[T]{Key: r.Keys, At: r.Time.Truncate(time.Second), Cursor: encodeCursor(f.place)}
	for _, image := range []struct {
		item attr.Item
		to   **T
	}{{r.Old, &c.Old}, {r.New, &c.New}} {
		if image.item == nil {
			continue
		}
		item := new(T)
		if wrong := decode(image.item, item); wrong != nil {
			err = &DecodeError{f.table.name, c.Key, wrong}
			continue
		}
		*image.to = item
	}

	return c, err
}
