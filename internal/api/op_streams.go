package api

import (
	"context"
	"crypto/md5" //nolint:gosec // makes ids of events, not secrets
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

// Limits of the operations on streams. Sources: API_streams_ListStreams,
// API_streams_DescribeStream, API_streams_GetRecords.
const (
	maxStreams = 100
	maxShards  = 100
	maxRecords = 1000
)

// iteratorLife is how long a shard iterator is valid. Source: API_streams_GetShardIterator.
const iteratorLife = 15 * time.Minute

// listStreams lists the streams of a table, or of all tables, in the order of their ARNs.
func (s *Service) listStreams(ctx context.Context, in *wire.ListStreamsInput) (*wire.ListStreamsOutput, error) {
	limit, err := limitOf(wire.OpListStreams, in.Limit, maxStreams)
	if err != nil {
		return nil, err
	}
	name, err := s.tableName(in.TableName)
	if err != nil {
		return nil, err
	}
	if in.ExclusiveStartStreamArn != nil {
		if _, err := parseStreamARN(*in.ExclusiveStartStreamArn); err != nil {
			return nil, err
		}
	}
	var list []*table.StreamInfo
	if err := s.db.View(ctx, func(v *table.View) (err error) {
		list, err = v.Streams(name)
		return err
	}); err != nil {
		return nil, err
	}

	if in.ExclusiveStartStreamArn != nil {
		at := slices.IndexFunc(list, func(st *table.StreamInfo) bool {
			return s.streamARN(st) == *in.ExclusiveStartStreamArn
		})
		if at < 0 {
			return nil, noSuchStream(*in.ExclusiveStartStreamArn)
		}
		list = list[at+1:]
	}

	out := &wire.ListStreamsOutput{Streams: []wire.Stream{}}
	for _, st := range list[:min(limit, len(list))] {
		out.Streams = append(
			out.Streams,
			wire.Stream{StreamArn: new(s.streamARN(st)), StreamLabel: new(st.Label), TableName: new(st.Table)},
		)
	}

	if len(list) > limit {
		out.LastEvaluatedStreamArn = out.Streams[limit-1].StreamArn
	}
	return out, nil
}

// limitOf returns the limit of a request, or most if the request has none. It returns an error for a limit above
// most, as the service model has only minimums for limits. Sources: API_streams_ListStreams,
// API_streams_DescribeStream, API_streams_GetRecords; alternator, test_streams.py, for the ValidationException.
func limitOf(op wire.Op, limit *int64, most int) (int, error) {
	switch {
	case limit == nil:
		return most, nil
	case *limit > int64(most):
		return 0, op.Invalid(fmt.Sprintf("1 validation error detected: "+
			"Value '%d' at 'limit' failed to satisfy constraint: Member must have value less than or equal to %d",
			*limit, most))
	}
	return int(*limit), nil
}

// parseStreamARN parses an ARN. It returns an error unless the ARN is that of a stream.
func parseStreamARN(arn string) (TableRef, error) {
	ref, err := ParseARN(arn)
	if err != nil || ref.Stream == "" {
		return ref, wire.Validation("Invalid StreamArn")
	}
	return ref, nil
}

func (s *Service) streamARN(st *table.StreamInfo) string { return s.arns.Stream(st.Table, st.Label) }

func noSuchStream(arn string) error {
	return wire.NewError("ResourceNotFoundException", "Requested resource not found: Stream: "+arn+" not found")
}

func noSuchShard(id, arn string) error {
	return wire.NewError(
		"ResourceNotFoundException", "Requested resource not found: Shard: "+id+" in Stream: "+arn+" not found",
	)
}

// onStream closes the shards of a stream whose time is over. It then calls fn with the stream in a view.
func (s *Service) onStream(ctx context.Context, arn string, fn func(*table.View, *table.StreamInfo) error) error {
	ref, err := parseStreamARN(arn)
	if err != nil {
		return err
	}
	if !s.arns.Local(ref) {
		return noSuchStream(arn)
	}
	var st *table.StreamInfo
	find := func(v *table.View) (err error) {
		if st, err = v.Stream(ref.Name, ref.Stream); isNotFound(err) {
			err = noSuchStream(arn)
		}
		return err
	}
	if err := s.db.View(ctx, find); err != nil {
		return err
	}
	if err := s.db.Roll(ctx, st); err != nil {
		return err
	}
	return s.db.View(ctx, func(v *table.View) error {
		if err := find(v); err != nil {
			return err
		}
		return fn(v, st)
	})
}

// describeStream describes a stream and its shards.
func (s *Service) describeStream(
	ctx context.Context, in *wire.DescribeStreamInput,
) (*wire.DescribeStreamOutput, error) {
	limit, err := limitOf(wire.OpDescribeStream, in.Limit, maxShards)
	if err != nil {
		return nil, err
	}
	if err := checkShardFilter(in.ShardFilter); err != nil {
		return nil, err
	}

	arn := value(in.StreamArn)
	var st *table.StreamInfo
	var shards []table.ShardInfo
	err = s.onStream(ctx, arn, func(v *table.View, found *table.StreamInfo) (err error) {
		st = found
		shards, err = v.Shards(st)
		return err
	})
	if err != nil {
		return nil, err
	}
	if f := in.ShardFilter; f != nil {
		parent, ok := parseShardID(st, *f.ShardId)
		if !ok {
			return nil, noSuchShard(*f.ShardId, arn)
		}
		shards = slices.DeleteFunc(shards, func(sh table.ShardInfo) bool {
			return sh.Column != parent.Column || sh.Epoch != parent.Epoch+1
		})
	}
	if in.ExclusiveStartShardId != nil {
		at := slices.IndexFunc(shards, func(sh table.ShardInfo) bool {
			return shardID(st, sh.Shard) == *in.ExclusiveStartShardId
		})
		if at < 0 {
			// If the shard does not exist or has been removed, no shard follows it. Source: alternator,
			// test_streams.py, test_describe_stream_with_nonexistent_last_shard.
			at = len(shards) - 1
		}
		shards = shards[at+1:]
	}
	d := &wire.StreamDescription{
		CreationRequestDateTime: seconds(st.Created), KeySchema: keySchema(st.Key), StreamArn: new(s.streamARN(st)),
		StreamLabel:  new(st.Label),
		StreamStatus: enabled(st.Ended.IsZero()), StreamViewType: new(st.View), TableName: new(st.Table),
		Shards: []wire.Shard{},
	}
	for _, sh := range shards[:min(limit, len(shards))] {
		x := wire.Shard{
			ShardId:             new(shardID(st, sh.Shard)),
			SequenceNumberRange: &wire.SequenceNumberRange{StartingSequenceNumber: new(sequenceText(sh.First()))},
		}
		if sh.Closed {
			x.SequenceNumberRange.EndingSequenceNumber = new(sequenceText(sh.End()))
		}
		if sh.Epoch > 0 {
			x.ParentShardId = new(shardID(st, table.Shard{Epoch: sh.Epoch - 1, Column: sh.Column}))
		}
		d.Shards = append(d.Shards, x)
	}
	if len(shards) > limit {
		d.LastEvaluatedShardId = d.Shards[limit-1].ShardId
	}
	return &wire.DescribeStreamOutput{StreamDescription: d}, nil
}

// checkShardFilter returns an error for a filter without a type or a shard id, although neither is required in the
// service model. Source of the ValidationException: alternator, test_streams.py,
// test_stream_shard_filtering_missing_shard_id. The text is the usual text for a missing member, as the service's own
// text is not known.
func checkShardFilter(f *wire.ShardFilter) error {
	const missing = "1 validation error detected: " +
		"Value null at 'shardFilter.%s' failed to satisfy constraint: Member must not be null"
	switch {
	case f == nil:
		return nil
	case f.Type == nil:
		return wire.OpDescribeStream.Invalid(fmt.Sprintf(missing, "type"))
	case f.ShardId == nil:
		return wire.OpDescribeStream.Invalid(fmt.Sprintf(missing, "shardId"))
	}
	return nil
}

// shardIDForm is the form of a shard id. The id has the time when the shard began, in milliseconds with 20 digits,
// and the column of the shard in hexadecimal.
const shardIDForm = "shardId-%020d-%08x"

func shardID(st *table.StreamInfo, sh table.Shard) string {
	return fmt.Sprintf(shardIDForm, st.Begins(sh).UnixMilli(), sh.Column)
}

// parseShardID returns the shard with an id. The shard may not exist yet. If the stream cannot have such a shard,
// parseShardID returns false.
func parseShardID(st *table.StreamInfo, id string) (table.Shard, bool) {
	var sh table.Shard
	begin, column, _ := strings.Cut(strings.TrimPrefix(id, "shardId-"), "-")
	ms, err1 := strconv.ParseInt(begin, 10, 64)
	n, err2 := strconv.ParseUint(column, 16, 32)
	if err1 != nil || err2 != nil {
		return sh, false
	}
	sh.Column = uint32(n)
	sh.Epoch = st.EpochOf(time.UnixMilli(ms))
	return sh, shardID(st, sh) == id
}

// sequenceText returns a sequence number in the form that clients get: with 21 digits, the minimum in the service
// model.
func sequenceText(q table.Sequence) string { return fmt.Sprintf("1%020d", q) }

// parseSequence parses a sequence number that [sequenceText] has made.
func parseSequence(text string) (table.Sequence, bool) {
	digits, ok := strings.CutPrefix(strings.TrimLeft(text, "0"), "1")
	n, err := strconv.ParseUint(digits, 10, 64)
	return table.Sequence(n), ok && len(digits) == 20 && err == nil
}

// An iterator is a position in a shard.
type iterator struct {
	arn   string
	shard string
	// next is the sequence number of the next record to return. It is 0 if the iterator begins at the oldest record.
	next   table.Sequence
	issued time.Time
}

// String encodes the iterator as the ShardIterator that clients get.
func (i iterator) String() string {
	text := fmt.Sprintf("%s %d %d", i.shard, i.next, i.issued.UnixMilli())
	return i.arn + "|1|" + base64.StdEncoding.EncodeToString([]byte(text))
}

func parseIterator(text string) (i iterator, err error) {
	arn, rest, ok := strings.Cut(text, "|1|")
	inner, bad := base64.StdEncoding.DecodeString(rest)
	parts := strings.Split(string(inner), " ")
	if !ok || bad != nil || len(parts) != 3 {
		return i, wire.Validation("Invalid ShardIterator")
	}
	next, err1 := strconv.ParseUint(parts[1], 10, 64)
	issued, err2 := strconv.ParseInt(parts[2], 10, 64)
	if err1 != nil || err2 != nil {
		return i, wire.Validation("Invalid ShardIterator")
	}
	return iterator{arn, parts[0], table.Sequence(next), time.UnixMilli(issued)}, nil
}

// getShardIterator returns an iterator over a shard that begins where the client asks.
func (s *Service) getShardIterator(
	ctx context.Context, in *wire.GetShardIteratorInput,
) (*wire.GetShardIteratorOutput, error) {
	kind := value(in.ShardIteratorType)
	given := kind == "AT_SEQUENCE_NUMBER" || kind == "AFTER_SEQUENCE_NUMBER"
	switch {
	case given && in.SequenceNumber == nil:
		return nil, wire.Validation("SequenceNumber must be provided when ShardIteratorType is " + kind)
	case !given && in.SequenceNumber != nil:
		return nil, wire.Validation("SequenceNumber must not be provided when ShardIteratorType is " + kind)
	case kind == "AT_TIMESTAMP" && in.Timestamp == nil:
		return nil, wire.Validation("Timestamp must be provided when ShardIteratorType is " + kind)
	case kind != "AT_TIMESTAMP" && in.Timestamp != nil:
		return nil, wire.Validation("Timestamp must not be provided when ShardIteratorType is " + kind)
	}

	i := iterator{arn: value(in.StreamArn), shard: value(in.ShardId), issued: s.now()}
	err := s.onStream(ctx, i.arn, func(v *table.View, st *table.StreamInfo) error {
		sh, err := findShard(v, st, i.arn, i.shard)
		if err != nil {
			return err
		}
		switch kind {
		case "TRIM_HORIZON":
			return nil
		case "LATEST":
			i.next = sh.End() + 1
			return nil
		case "AT_TIMESTAMP":
			if at := timeOf(*in.Timestamp); s.now().Sub(at) <= table.StreamRetention {
				i.next, err = v.From(st, sh, at)
			}
			return err
		}

		q, ok := parseSequence(*in.SequenceNumber)
		if !ok || q < sh.First()-1 || q > sh.Shard.Last() {
			return wire.Validation("Invalid SequenceNumber: " + *in.SequenceNumber + " is not in shard " + i.shard)
		}
		if i.next = q; kind == "AFTER_SEQUENCE_NUMBER" {
			i.next++
		}
		if q < sh.First() || q > sh.End() || q == sh.Last() {
			return nil // no record has this number, so no such record can have been trimmed
		}
		if gone, err := v.Trimmed(st, sh.Shard, q); err != nil || !gone {
			return err
		}
		return trimmed()
	})
	return &wire.GetShardIteratorOutput{ShardIterator: new(i.String())}, err
}

func trimmed() error {
	return wire.NewError(
		"TrimmedDataAccessException", "The operation attempted to read past the oldest stream record in a shard.",
	)
}

// findShard returns the shard with this id. arn is the ARN of the stream, for the error.
func findShard(v *table.View, st *table.StreamInfo, arn, id string) (sh table.ShardInfo, err error) {
	shards, err := v.Shards(st)
	if err != nil {
		return sh, err
	}
	want, ok := parseShardID(st, id)
	at := slices.IndexFunc(shards, func(sh table.ShardInfo) bool { return sh.Shard == want })
	if !ok || at < 0 {
		return sh, noSuchShard(id, arn)
	}
	return shards[at], nil
}

// getRecords returns the next records of a shard iterator.
func (s *Service) getRecords(ctx context.Context, in *wire.GetRecordsInput) (*wire.GetRecordsOutput, error) {
	limit, err := limitOf(wire.OpGetRecords, in.Limit, maxRecords)
	if err != nil {
		return nil, err
	}
	i, err := parseIterator(value(in.ShardIterator))
	if err != nil {
		return nil, err
	}
	now := s.now()
	if now.Sub(i.issued) > iteratorLife {
		return nil, wire.NewError(
			"ExpiredIteratorException",
			"The shard iterator has expired: it was issued at "+i.issued.UTC().Format(time.RFC3339)+
				" and can be used for 15 minutes",
		)
	}

	out := &wire.GetRecordsOutput{Records: []wire.Record{}}
	err = s.onStream(ctx, i.arn, func(v *table.View, st *table.StreamInfo) error {
		sh, err := findShard(v, st, i.arn, i.shard)
		if err != nil {
			return err
		}
		// Return an error if the next records of the iterator have been trimmed. Source: API_streams_GetRecords,
		// TrimmedDataAccessException.
		missed, err := v.Missed(st, sh, i.next)
		if err != nil {
			return err
		}
		if missed {
			return trimmed()
		}

		list, next, more, err := v.Records(st, sh.Shard, i.next, limit)
		if err != nil {
			return err
		}

		// End the response before a record that might not fit. The next iterator begins with that record.
		var a answer
		for _, r := range list {
			if a.full() {
				next, more = r.Sequence, true
				break
			}
			a.add(r.Keys, 0)
			a.add(r.Old, 0)
			a.add(r.New, 0)
			out.Records = append(out.Records, s.streamRecord(st, i.shard, &r))
		}

		// After the last record of a closed shard, return no next iterator. Clients then continue with the child
		// shards.
		if !sh.Closed || more {
			out.NextShardIterator = new(iterator{i.arn, i.shard, next, now}.String())
		}
		return a.reserve(ctx)
	})
	return out, err
}

// streamRecord converts a record to the form that clients get. Source: API_streams_StreamRecord;
// DG/time-to-live-ttl-streams.html for userIdentity.
func (s *Service) streamRecord(st *table.StreamInfo, shard string, r *table.StreamRecord) wire.Record {
	number := sequenceText(r.Sequence)
	id := md5.Sum([]byte(s.streamARN(st) + shard + number)) //nolint:gosec // as above
	out := wire.Record{
		AwsRegion: new(s.opts.Region), EventID: new(hex.EncodeToString(id[:])), EventName: new(r.Event),
		EventSource: new("aws:dynamodb"), EventVersion: new("1.1"),
		Dynamodb: &wire.StreamRecord{
			ApproximateCreationDateTime: seconds(r.Time.Truncate(time.Second)), Keys: r.Keys, NewImage: r.New,
			OldImage:       r.Old,
			SequenceNumber: &number, SizeBytes: new(int64(r.Bytes())), StreamViewType: new(st.View),
		},
	}
	if r.Expired {
		out.UserIdentity = &wire.Identity{PrincipalId: new("dynamodb.amazonaws.com"), Type: new("Service")}
	}
	return out
}
