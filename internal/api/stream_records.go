package api

import (
	"context"

	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

// A StreamShard is a shard of a stream with those of its records that have not been trimmed.
type StreamShard struct {
	ID      string
	Records []wire.Record
}

// LastStream returns the ARN of the current stream of a table, or of its latest one. arn is "" if the table has never
// had a stream. ok is false if the table does not exist. A deleted table counts as existing until its stream records
// are gone.
func (s *Service) LastStream(ctx context.Context, name string) (arn string, ok bool, err error) {
	err = s.db.View(ctx, func(v *table.View) error {
		if t, err := v.Defined(name); err == nil {
			ok = true
			if label := t.Definition().LastStream; label != "" {
				arn = s.arns.Stream(name, label)
			}
			return nil
		}
		list, err := v.Streams(name)
		if len(list) > 0 {
			arn, ok = s.streamARN(list[len(list)-1]), true
		}
		return err
	})
	return arn, ok, err
}

// StreamShards returns the shards of a stream, parents before children. Their records are all from one snapshot. If
// the stream no longer exists, it returns no shards.
func (s *Service) StreamShards(ctx context.Context, arn string) (shards []StreamShard, err error) {
	ref, err := parseStreamARN(arn)
	if err != nil {
		return nil, err
	}
	err = s.db.View(ctx, func(v *table.View) error {
		st, err := v.Stream(ref.Name, ref.Stream)
		if isNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		list, err := v.Shards(st)
		if err != nil {
			return err
		}

		for _, sh := range list {
			shard := StreamShard{ID: shardID(st, sh.Shard)}
			next, more := sh.First(), true
			for more {
				var page []table.StreamRecord
				if page, next, more, err = v.Records(st, sh.Shard, next, maxRecords); err != nil {
					return err
				}
				for i := range page {
					shard.Records = append(shard.Records, s.streamRecord(st, shard.ID, &page[i]))
				}
			}
			shards = append(shards, shard)
		}

		return nil
	})

	return shards, err
}
