package sortkey

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

// A Change is one change of an item, from the stream of its table. [TableOf.Changes] yields it.
type Change[T any] struct {
	// Key is the primary key of the item.
	Key attr.Item
	// Old is the item before the change, nil if the change made it; New is the item after
	// the change, nil if the change deleted it. With a [*DecodeError], what does not fit is nil.
	Old, New *T
	// At is when the change was made, to the second.
	At time.Time
	// Cursor is where the next change begins, for [TableOf.Changes].
	Cursor string
}

// poll is how often Changes looks for new changes.
const poll = 50 * time.Millisecond

// Changes yields the changes of the table's items: those of one item in their order, those
// of different partition keys in any. It begins after the change with the cursor; with "" at
// the oldest change, which is at most 24 hours old. It waits for new changes until its
// context ends, and then yields the cause as the last error; with [UntilNow] it ends after
// the changes so far. The table needs a stream; see [Stream].
//
// An error is the last thing that the loop yields, but for a [*DecodeError]: it comes with
// the key and the cursor of a change that does not fit T, and the loop goes on behind it. The
// error is [ErrTrimmed] if changes behind the cursor are older than 24 hours.
func (t *TableOf[T]) Changes(ctx context.Context, cursor string, opts ...Option) iter.Seq2[Change[T], error] {
	var c call
	c.operation = &opChanges
	refused := c.options(opts)
	untilNow := c.untilNow

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
		timer := time.NewTimer(poll)
		defer timer.Stop()
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
			timer.Reset(poll)
			select {
			case <-ctx.Done():
			case <-timer.C:
			}
		}
	}
}

// errStop says that the loop over the changes has ended.
var errStop = errors.New("stop")

// A feed reads the shards of a stream.
type feed[T any] struct {
	table  *TableOf[T]
	stream *table.StreamInfo
	place  feedCursor
	// iterators are the positions in the shards, by shard; "" for one that has ended.
	iterators map[string]string
}

// A feedCursor is the place of a feed, as JSON in base64.
type feedCursor struct {
	Stream string `json:"s"`
	// Read are the sequence numbers of the last changes read, by column of the stream. Before
	// the first it is the horizon that the column had when the feed began.
	Read []table.Sequence `json:"r"`
}

func (t *TableOf[T]) feed(ctx context.Context, cursor string) (*feed[T], error) {
	f := &feed[T]{table: t, iterators: map[string]string{}}
	described, err := t.db.service.DescribeTable(ctx, &wire.DescribeTableInput{TableName: &t.name})
	if err != nil {
		return nil, err
	}
	stream := described.Table.LatestStreamArn
	if stream == nil {
		return nil, misuse("table %s has no stream: create it with sortkey.Stream()", t.name)
	}
	if cursor != "" {
		text, err := base64.RawURLEncoding.DecodeString(cursor)
		if err == nil {
			err = json.Unmarshal(text, &f.place)
		}
		if err != nil || len(f.place.Read) == 0 {
			return nil, badCursor("Changes(%q): this is not the cursor of a change", cursor)
		}
		if f.place.Stream != *stream {
			return nil, badCursor(
				"the cursor is of stream %s, not of %s, the stream of table %s", f.place.Stream, *stream, t.name,
			)
		}
	}

	f.place.Stream = *stream
	err = t.db.tables.View(ctx, func(v *table.View) (err error) {
		if f.stream, err = v.Stream(t.name, value(described.Table.LatestStreamLabel)); err != nil || cursor != "" {
			return err
		}
		f.place.Read = make([]table.Sequence, f.stream.Shards)
		for column := range f.place.Read {
			if f.place.Read[column], err = v.Horizon(f.stream, uint32(column)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(f.place.Read) != f.stream.Shards {
		return nil, badCursor("Changes(%q): this is not the cursor of a change", cursor)
	}
	return f, f.checkLost(ctx, 0, uint32(f.stream.Shards))
}

// checkLost returns an error if changes of the columns from low to high are gone that were
// not read.
func (f *feed[T]) checkLost(ctx context.Context, low, high uint32) error {
	var lost []uint32
	err := f.table.db.tables.View(ctx, func(v *table.View) error {
		lost = nil
		for column := low; column < high; column++ {
			is, err := v.Lost(f.stream, column, f.place.Read[column])
			if err != nil {
				return err
			}
			if is {
				lost = append(lost, column)
			}
		}
		return nil
	})
	if err == nil && lost != nil {
		err = f.trimmed(lost[0])
	}
	return err
}

// trimmed returns the error for changes of a column that are gone.
func (f *feed[T]) trimmed(column uint32) error {
	return fmt.Errorf("%w: table %s has lost changes behind sequence number %d of column %d of its stream, "+
		"as they are older than %d hours; read the table, and go on with the cursor \"\", the oldest change",
		ErrTrimmed, f.table.name, f.place.Read[column], column, table.StreamRetention/time.Hour)
}

// round reads what is new in each shard and returns how many changes it was.
func (f *feed[T]) round(ctx context.Context, yield func(Change[T], error) bool) (n int, err error) {
	shards, err := f.shards(ctx)
	if err != nil {
		return 0, err
	}
	f.forget(shards)
	for _, shard := range shards {
		// The changes of a parent come first.
		if parent, ok := f.iterators[value(shard.ParentShardId)]; ok && parent != "" {
			continue
		}
		read, err := f.read(ctx, *shard.ShardId, yield)
		n += read
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// forget drops the iterators of shards that the stream no longer has.
func (f *feed[T]) forget(shards []wire.Shard) {
	has := func(id string) bool {
		return slices.ContainsFunc(shards, func(s wire.Shard) bool { return *s.ShardId == id })
	}
	maps.DeleteFunc(f.iterators, func(id, _ string) bool { return !has(id) })
}

// shards returns the shards of the stream.
func (f *feed[T]) shards(ctx context.Context) (all []wire.Shard, err error) {
	in := &wire.DescribeStreamInput{StreamArn: &f.place.Stream}
	for {
		out, err := f.table.db.service.DescribeStream(ctx, in)
		if err != nil {
			return nil, err
		}
		all = append(all, out.StreamDescription.Shards...)
		if in.ExclusiveStartShardId = out.StreamDescription.LastEvaluatedShardId; in.ExclusiveStartShardId == nil {
			return all, nil
		}
	}
}

// read yields what is new in a shard.
func (f *feed[T]) read(ctx context.Context, id string, yield func(Change[T], error) bool) (n int, err error) {
	shard, ok := api.ParseShardID(f.stream, id)
	if !ok || int(shard.Column) >= len(f.place.Read) {
		return 0, fmt.Errorf("stream %s has shard %s", f.place.Stream, id)
	}
	at, known := f.iterators[id]
	if !known {
		if at, err = f.iterator(ctx, id, shard); err != nil {
			return 0, err
		}
		f.iterators[id] = at
	}

	for at != "" {
		out, err := f.table.db.service.GetRecords(ctx, &wire.GetRecordsInput{ShardIterator: &at})
		switch {
		case isCode(err, codeExpired), isCode(err, codeNoShard):
			// The loop has worked on a change for longer than an iterator lives, or a shard.
			if at, err = f.iterator(ctx, id, shard); err != nil {
				return n, err
			}
			f.iterators[id] = at
			continue
		case isCode(err, codeTrimmed):
			return n, f.trimmed(shard.Column)
		case err != nil:
			return n, err
		}

		at = value(out.NextShardIterator)
		f.iterators[id] = at
		for i := range out.Records {
			if err := f.table.db.ended(ctx, nil); err != nil {
				return n, err
			}
			n++
			if !yield(f.change(shard.Column, &out.Records[i])) {
				return n, errStop
			}
		}
		if len(out.Records) == 0 {
			break
		}
	}

	return n, nil
}

// iterator returns the position in a shard from which to read on, "" if there is nothing to
// read any more.
func (f *feed[T]) iterator(ctx context.Context, id string, shard table.Shard) (string, error) {
	if err := f.checkLost(ctx, shard.Column, shard.Column+1); err != nil {
		return "", err
	}
	last := f.place.Read[shard.Column]
	if last >= shard.Last() {
		return "", nil
	}

	service := f.table.db.service
	in := &wire.GetShardIteratorInput{StreamArn: &f.place.Stream, ShardId: &id, ShardIteratorType: new("TRIM_HORIZON")}
	if last >= shard.First() {
		after := *in
		after.ShardIteratorType, after.SequenceNumber = new("AFTER_SEQUENCE_NUMBER"), new(api.Sequence(last))
		out, err := service.GetShardIterator(ctx, &after)
		if err == nil {
			return value(out.ShardIterator), nil
		}
		if !isCode(err, codeTrimmed) && !isCode(err, codeNoShard) {
			return "", err
		}
		// The last change read is gone, and none behind it: the oldest is the next one.
	}
	out, err := service.GetShardIterator(ctx, in)
	switch {
	case isCode(err, codeNoShard): // nothing of it is left to read
		return "", nil
	case err != nil:
		return "", err
	}
	return value(out.ShardIterator), nil
}

// Codes of errors that a slow loop meets.
const (
	codeExpired = "ExpiredIteratorException"
	codeNoShard = codeNotFound
	codeTrimmed = "TrimmedDataAccessException"
)

// isCode reports whether an error of the service has a code.
func isCode(err error, code string) bool {
	e, ok := err.(*wire.Error)
	return ok && e.Code == code
}

// change returns a change. The error is a [*DecodeError]; the change has its key and its
// cursor then.
func (f *feed[T]) change(column uint32, r *wire.Record) (c Change[T], err error) {
	d := r.Dynamodb
	f.place.Read[column], _ = api.ParseSequence(value(d.SequenceNumber))
	place, err := json.Marshal(f.place)
	if err != nil {
		return c, err
	}
	c = Change[T]{Key: d.Keys, Cursor: base64.RawURLEncoding.EncodeToString(place)}
	if d.ApproximateCreationDateTime != nil {
		c.At = time.Unix(int64(*d.ApproximateCreationDateTime), 0).UTC()
	}
	for _, image := range []struct {
		item attr.Item
		to   **T
	}{{d.OldImage, &c.Old}, {d.NewImage, &c.New}} {
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

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
