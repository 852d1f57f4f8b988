package sortkey

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/wire"
)

// A Change is one change of an item, from the stream of its table.
type Change[T any] struct {
	// Key is the primary key of the item.
	Key attr.Item
	// Old is the item before the change, nil if the change made it; New is the item after
	// the change, nil if the change deleted it.
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
func (t *TableOf[T]) Changes(ctx context.Context, cursor string, opts ...Option) iter.Seq2[Change[T], error] {
	return func(yield func(Change[T], error) bool) {
		fail := func(err error) { yield(Change[T]{}, failed(err)) }
		c := call{operation: &opChanges}
		if err := c.options(opts); err != nil {
			fail(err)
			return
		}
		f, err := t.feed(ctx, cursor)
		if err != nil {
			fail(err)
			return
		}
		timer := time.NewTimer(poll)
		defer timer.Stop()
		for {
			n, err := f.round(ctx, yield)
			switch {
			case errors.Is(err, errStop):
				return
			case ctx.Err() != nil:
				fail(context.Cause(ctx))
				return
			case err != nil:
				fail(err)
				return
			case n > 0:
				continue
			case c.untilNow:
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
	table *TableOf[T]
	place feedCursor
	// iterators are the positions in the shards, by shard; "" for one that has ended.
	iterators map[string]string
}

// A feedCursor is the place of a feed, as JSON in base64.
type feedCursor struct {
	Stream string `json:"s"`
	// Read are the sequence numbers of the last changes read, by shard.
	Read map[string]string `json:"r"`
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
	f.place = feedCursor{Stream: *stream, Read: map[string]string{}}
	if cursor == "" {
		return f, nil
	}

	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err == nil {
		err = json.Unmarshal(text, &f.place)
	}
	if err != nil || f.place.Read == nil {
		return nil, misuse("Changes(%q): this is not the cursor of a change", cursor)
	}
	if f.place.Stream != *stream {
		return nil, misuse("the cursor is of stream %s, not of %s, the stream of table %s", f.place.Stream, *stream, t.name)
	}
	return f, nil
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
		read, err := f.shard(ctx, *shard.ShardId, yield)
		n += read
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// forget drops what is known of shards that the stream no longer has, so that the cursor
// of a table that lives long stays small.
func (f *feed[T]) forget(shards []wire.Shard) {
	has := func(id string) bool {
		return slices.ContainsFunc(shards, func(s wire.Shard) bool { return *s.ShardId == id })
	}
	maps.DeleteFunc(f.place.Read, func(id, _ string) bool { return !has(id) })
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

// shard reads what is new in a shard.
func (f *feed[T]) shard(ctx context.Context, id string, yield func(Change[T], error) bool) (n int, err error) {
	at, known := f.iterators[id]
	if !known {
		if at, err = f.iterator(ctx, id); err != nil {
			return 0, err
		}
		f.iterators[id] = at
	}
	for at != "" {
		out, err := f.table.db.service.GetRecords(ctx, &wire.GetRecordsInput{ShardIterator: &at})
		if isExpired(err) { // the loop has worked on a change for longer than an iterator lives
			if at, err = f.iterator(ctx, id); err != nil {
				return n, err
			}
			continue
		}
		if err != nil {
			return n, err
		}
		at = value(out.NextShardIterator)
		f.iterators[id] = at
		for i := range out.Records {
			change, err := f.change(id, &out.Records[i])
			if err != nil {
				return n, err
			}
			n++
			if !yield(change, nil) {
				return n, errStop
			}
		}
		if len(out.Records) == 0 {
			break
		}
	}
	return n, nil
}

// iterator returns the position in a shard from which to read on.
func (f *feed[T]) iterator(ctx context.Context, id string) (string, error) {
	in := &wire.GetShardIteratorInput{
		StreamArn: &f.place.Stream, ShardId: &id, ShardIteratorType: new("TRIM_HORIZON"),
	}
	if last, ok := f.place.Read[id]; ok {
		in.ShardIteratorType, in.SequenceNumber = new("AFTER_SEQUENCE_NUMBER"), &last
	}
	out, err := f.table.db.service.GetShardIterator(ctx, in)
	if err != nil {
		return "", err
	}
	return value(out.ShardIterator), nil
}

func isExpired(err error) bool {
	e, ok := err.(*wire.Error)
	return ok && e.Code == "ExpiredIteratorException"
}

func (f *feed[T]) change(shard string, r *wire.Record) (Change[T], error) {
	d := r.Dynamodb
	f.place.Read[shard] = value(d.SequenceNumber)
	place, err := json.Marshal(f.place)
	if err != nil {
		return Change[T]{}, err
	}
	c := Change[T]{Key: d.Keys, Cursor: base64.RawURLEncoding.EncodeToString(place)}
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
		if err := decode(image.item, item); err != nil {
			return c, err
		}
		*image.to = item
	}
	return c, nil
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
