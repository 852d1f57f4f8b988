package sortkeytest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/engine"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

// The rules of event sources come from the Lambda developer guide: docs.aws.amazon.com/lambda/latest/dg/
// with-ddb.html (batches, order), services-ddb-params.html (parameters), services-dynamodb-errors.html (retries,
// splitting, discarded records), services-ddb-batchfailurereporting.html (how a response reports failures).

const (
	maxEvent = 6 << 20 // bytes of an event
	retained = 24 * time.Hour

	// These limits end a Deliver and fail the test, where Lambda would retry for a day.
	maxCalls  = 100 // failed calls in a row for the same records
	maxRounds = 100 // reads of the stream; it can get new records without end, as the handler may make changes
)

// An EventSource delivers the changes of a table to the handler of a function, as the event source mapping of an AWS
// Lambda function does. The fields are the parameters of the mapping. Set them in the functions that you pass to
// [DB.EventSource].
//
// The records of a shard come in order, in batches. If the handler fails, it gets the batch again, until it succeeds
// or the records are discarded. The event source reads one shard after the other. Only one call of
// [EventSource.Deliver] runs at a time.
type EventSource struct {
	// BatchSize is the largest number of records in an event, at most 10,000. An event also has at most 6 MB.
	// Default: 100.
	BatchSize int
	// StartingPosition is TRIM_HORIZON, for all records in the stream, or LATEST, for
	// the changes after the call to [DB.EventSource]. Default: TRIM_HORIZON.
	StartingPosition types.ShardIteratorType
	// MaximumRetryAttempts is how often the handler gets a failed batch again, at most 10,000. Default: -1, which
	// means that it gets the batch until the records expire. A test does not wait that long: with -1 it fails once
	// the handler has failed 100 times in a row for the same records.
	MaximumRetryAttempts int
	// MaximumRecordAge is the age at which records are discarded, from a minute to seven days, on the clock of the
	// database. Default: 24 hours, the age at which the records of a stream expire.
	MaximumRecordAge time.Duration
	// BisectBatchOnFunctionError splits a failed batch into two. The split does not count as a retry.
	BisectBatchOnFunctionError bool
	// ReportBatchItemFailures makes the event source read the handler's response. Records before the lowest sequence
	// number in batchItemFailures are done, and it delivers the others again. By default it ignores the response.
	ReportBatchItemFailures bool
	// Filters are the patterns of FilterCriteria, such as {"eventName": ["INSERT"]}. The handler gets only records
	// that match at least one of them. Lambda allows 5, or up to 10 if the quota of the account has been increased.
	// Default: the handler gets every record.
	Filters []string
	// OnFailure receives a message for each discarded batch, as an SQS queue does. The message is JSON that names the
	// position of the records in the stream, but does not contain them. Without OnFailure, the test fails when
	// records are discarded.
	OnFailure func(message []byte)

	running sync.Mutex // held by Deliver
	db      *DB
	table   string
	arn     string
	handler handler
	filter  filter            // nil for all records
	done    map[string]string // by shard: the sequence number of the last record that was delivered or discarded
}

// A handler is the interface lambda.Handler of aws-lambda-go: it takes the JSON of an event and returns the JSON of a
// response.
type handler = interface {
	Invoke(ctx context.Context, event []byte) (response []byte, err error)
}

// EventSource connects a Lambda function to the stream of a table. The program passes a function to lambda.Start.
// Pass the same function to lambda.NewHandler of aws-lambda-go to get the handler:
//
//	db.EventSource("Orders", lambda.NewHandler(HandleOrders))
//
// The handler gets no records before [EventSource.Deliver].
func (db *DB) EventSource(table string, handler handler, optFns ...func(*EventSource)) *EventSource {
	db.t.Helper()
	s := &EventSource{
		BatchSize: 100, StartingPosition: types.ShardIteratorTypeTrimHorizon,
		MaximumRetryAttempts: -1, MaximumRecordAge: retained,
		db: db, table: table, arn: db.stream(quiet, table), handler: handler, done: map[string]string{},
	}
	for i, fn := range optFns {
		if fn == nil {
			db.t.Fatalf("sortkeytest: option %d of EventSource is nil", i+1)
		}
		fn(s)
	}

	err := s.check()
	if err == nil {
		s.filter, err = parseFilters(s.Filters)
	}
	if err != nil {
		db.t.Fatalf("sortkeytest: %v", err)
	}
	if s.StartingPosition == types.ShardIteratorTypeLatest {
		for _, sh := range db.shards(quiet, s.arn) {
			if n := len(sh.Records); n > 0 {
				s.done[sh.ID] = *sh.Records[n-1].Dynamodb.SequenceNumber
			}
		}
	}

	return s
}

func (s *EventSource) check() error {
	switch {
	case s.handler == nil:
		return errors.New("handler is nil, want what lambda.NewHandler returns")
	case s.BatchSize < 1 || s.BatchSize > 10_000:
		return fmt.Errorf("BatchSize is %d, want 1 to 10,000", s.BatchSize)
	case s.StartingPosition != types.ShardIteratorTypeTrimHorizon &&
		s.StartingPosition != types.ShardIteratorTypeLatest:
		return fmt.Errorf("StartingPosition is %q, want TRIM_HORIZON or LATEST", s.StartingPosition)
	case s.MaximumRetryAttempts < -1 || s.MaximumRetryAttempts > 10_000:
		return fmt.Errorf("MaximumRetryAttempts is %d, want -1 to 10,000", s.MaximumRetryAttempts)
	case s.MaximumRecordAge < time.Minute || s.MaximumRecordAge > 7*24*time.Hour:
		return fmt.Errorf("MaximumRecordAge is %v, want one minute to seven days", s.MaximumRecordAge)
	}
	return nil
}

// Deliver calls the handler with all records that it has not received yet, and returns when there are no more. If the
// handler changes items, the records of these changes are delivered too. Deliver retries failed calls at once. To let
// time pass between them, advance the clock of the database in the handler. The handler gets the context of the test.
func (s *EventSource) Deliver() {
	s.db.t.Helper()
	if !s.running.TryLock() {
		s.db.t.Fatalf("sortkeytest: Deliver of table %s runs already: "+
			"wait for it in other goroutines, and do not call it in its handler", s.table)
	}
	defer s.running.Unlock()
	for range maxRounds {
		idle := true
		for _, sh := range s.db.shards(quiet, s.arn) {
			for pending := s.pending(sh); len(pending) > 0; idle = false {
				var b batch
				b, pending = s.cut(sh.ID, pending)
				s.deliver(b)
			}
		}
		if idle {
			return
		}
	}

	s.db.t.Fatalf(
		"sortkeytest: after %d rounds the stream of %s still has new records: "+
			"does the handler react to its own changes?",
		maxRounds, s.table,
	)
}

// pending returns the records of a shard that are still to be delivered. If the shard no longer has the last
// delivered record, all its records are newer, so pending returns all of them. It applies the filters, so
// Deliver cuts batches of filtered records; the guide does not say whether Lambda does so.
func (s *EventSource) pending(sh api.StreamShard) (records []eventRecord) {
	from := 0
	if last, ok := s.done[sh.ID]; ok {
		from = 1 + slices.IndexFunc(sh.Records, func(r wire.Record) bool { return *r.Dynamodb.SequenceNumber == last })
	}
	for _, r := range sh.Records[from:] {
		if e := eventOf(r, s.arn); s.filter == nil || e.matches(s.filter) {
			records = append(records, e)
		}
	}
	return records
}

// A batch holds consecutive records of a shard. It also counts the calls of the handler with these records.
type batch struct {
	shard    string
	records  []eventRecord
	calls    int   // calls with these records, including calls in which they were a part of a larger batch
	failures int   // calls since a call last finished a record
	retries  int   // calls that count against MaximumRetryAttempts
	err      error // of the last call
}

// cut splits records into the next batch and the records after it.
func (s *EventSource) cut(shard string, records []eventRecord) (batch, []eventRecord) {
	n, size := 0, len(`{"Records":[]}`)
	for n < min(s.BatchSize, len(records)) {
		if size += len(records[n].json) + len(","); size > maxEvent && n > 0 {
			break
		}
		n++
	}
	return batch{shard: shard, records: records[:n]}, records[n:]
}

// deliver calls the handler until all records of the batch are done or discarded.
func (s *EventSource) deliver(b batch) {
	s.db.t.Helper()
	for {
		if b = s.discardOld(b); len(b.records) == 0 {
			return
		}
		done := s.call(&b)
		if b.failures++; done > 0 {
			s.advance(b, done)
			b.failures = 0
		}
		if b.records = b.records[done:]; len(b.records) == 0 {
			return
		}
		switch half := len(b.records) / 2; {
		case s.BisectBatchOnFunctionError && done > 0:
			// Do not split. If the response reports some records as done, removing them was already a split. If the
			// response names the first record, none is done, and the next case splits the batch. The guide does not
			// say what Lambda does in that case.
		case s.BisectBatchOnFunctionError && half > 0:
			first := b
			first.records, b.records = b.records[:half], b.records[half:]
			s.deliver(first)
		case b.retries == s.MaximumRetryAttempts:
			s.discard(b, "RetryAttemptsExhausted")
			return
		case s.MaximumRetryAttempts < 0 && b.failures >= maxCalls:
			s.db.t.Fatalf(
				"sortkeytest: the handler has failed %d times for %s: %v\nThe service would retry until the records "+
					"expire. Set MaximumRetryAttempts to discard them earlier.",
				b.failures, s.describe(b), b.err,
			)
		default:
			b.retries++
		}
	}
}

// call calls the handler with a batch. It returns how many records at the beginning of the batch are done.
func (s *EventSource) call(b *batch) (done int) {
	s.db.t.Helper()
	response, err := s.handler.Invoke(s.db.t.Context(), eventWith(b.records))
	b.calls++
	switch b.err = err; {
	case err != nil:
		return 0
	case !s.ReportBatchItemFailures:
		return len(b.records)
	}
	done, b.err = succeeded(response, b.records)
	return done
}

// eventWith returns the JSON of an event with the records.
func eventWith(records []eventRecord) []byte {
	event := []byte(`{"Records":[`)
	for i, r := range records {
		if i > 0 {
			event = append(event, ',')
		}
		event = append(event, r.json...)
	}
	return append(event, "]}"...)
}

// errReported is the error of a call that returned a response with failures.
var errReported = errors.New("its response reports failures")

// succeeded returns how many records at the beginning of the batch are done according to the response. The first
// record that the response names and all records after it must be retried. If the response names a record that is not
// in the batch, no record is done.
func succeeded(response []byte, records []eventRecord) (done int, err error) {
	failed, err := failures(response)
	if err != nil {
		return 0, fmt.Errorf("%w, but cannot be decoded: %w", errReported, err)
	}
	done = len(records)
	for _, number := range failed {
		i := slices.IndexFunc(records, func(r eventRecord) bool { return r.number == number })
		if i < 0 {
			return 0, fmt.Errorf("%w, but %q is not the sequence number of a record in the event", errReported, number)
		}
		done = min(done, i)
	}
	if done < len(records) {
		err = errReported
	}
	return done, err
}

// failures returns the sequence numbers of failed records in a response. It compares the names of members exactly,
// and returns an error for an object that has a name twice.
func failures(response []byte) (numbers []string, err error) {
	if len(response) == 0 || string(response) == `""` {
		return nil, nil
	}
	if _, err := jsontext.AppendFormat(nil, response); err != nil {
		return nil, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(response, &members); err != nil {
		return nil, err
	}

	var list []map[string]json.RawMessage
	if text := members["batchItemFailures"]; text != nil {
		if err := json.Unmarshal(text, &list); err != nil {
			return nil, err
		}
	}
	for _, failure := range list {
		var number string
		if text := failure["itemIdentifier"]; text != nil {
			if err := json.Unmarshal(text, &number); err != nil {
				return nil, err
			}
		}
		numbers = append(numbers, number)
	}

	return numbers, nil
}

// discardOld discards the records of a batch that are too old, and returns the rest of the batch. The old records
// come first.
func (s *EventSource) discardOld(b batch) batch {
	s.db.t.Helper()
	oldest := s.db.Clock.Now().Add(-min(s.MaximumRecordAge, retained))
	n := 0
	for n < len(b.records) && b.records[n].created.Before(oldest) {
		n++
	}
	if n > 0 {
		old := b
		old.records, b.records = b.records[:n], b.records[n:]
		s.discard(old, "RecordAgeExceeded")
	}
	return b
}

// advance moves the position in the shard past the first n records of the batch.
func (s *EventSource) advance(b batch, n int) { s.done[b.shard] = b.records[n-1].number }

// discard gives up the records of a batch. It sends the message to OnFailure or, without OnFailure, fails the test.
func (s *EventSource) discard(b batch, condition string) {
	s.db.t.Helper()
	s.advance(b, len(b.records))
	if s.OnFailure == nil {
		reason := condition
		if b.err != nil {
			reason = fmt.Sprintf("%s: %v", condition, b.err)
		}
		s.db.t.Errorf(
			"sortkeytest: discarded %s, after %s of the handler (%s)\nSet OnFailure to receive a message instead.",
			s.describe(b), text.Count(b.calls, "call"), reason,
		)
		return
	}
	message, err := s.message(b, condition)
	if err != nil {
		s.db.t.Fatalf("sortkeytest: %v", err)
	}
	s.OnFailure(message)
}

// describe returns a text for messages that names the shard and the records of a batch.
func (s *EventSource) describe(b batch) string {
	n := len(b.records)
	if n == 1 {
		return fmt.Sprintf("record %s of table %s", b.records[0].number, s.table)
	}
	return fmt.Sprintf(
		"%s of table %s, %s to %s", text.Count(n, "record"), s.table, b.records[0].number, b.records[n-1].number,
	)
}

// message returns the message that a queue receives about a discarded batch. Source:
// lambda/latest/dg/services-dynamodb-errors.html. The example there has the condition RetryAttemptsExhausted;
// RecordAgeExceeded comes from messages that people have posted.
func (s *EventSource) message(b batch, condition string) ([]byte, error) {
	type request struct {
		ID        string `json:"requestId"`
		Function  string `json:"functionArn"`
		Condition string `json:"condition"`
		Calls     int    `json:"approximateInvokeCount"`
	}

	type response struct {
		Status   int    `json:"statusCode"`
		Version  string `json:"executedVersion"`
		Function string `json:"functionError,omitempty"`
	}
	type info struct {
		Shard        string `json:"shardId"`
		Start        string `json:"startSequenceNumber"`
		End          string `json:"endSequenceNumber"`
		FirstArrived string `json:"approximateArrivalOfFirstRecord"`
		LastArrived  string `json:"approximateArrivalOfLastRecord"`
		Size         int    `json:"batchSize"`
		Stream       string `json:"streamArn"`
	}

	first, last := b.records[0], b.records[len(b.records)-1]
	account := strings.Split(s.arn, ":")[4]
	m := struct {
		Request   request   `json:"requestContext"`
		Response  *response `json:"responseContext,omitempty"`
		Version   string    `json:"version"`
		Timestamp string    `json:"timestamp"`
		Info      info      `json:"DDBStreamBatchInfo"`
	}{
		Request: request{
			engine.Of(s.db.DB).RequestID(),
			"arn:aws:lambda:" + s.db.DB.Region() + ":" + account + ":function:handler", condition, b.calls,
		},
		Version: "1.0", Timestamp: s.db.Clock.Now().UTC().Format("2006-01-02T15:04:05.000Z"),
		Info: info{
			b.shard, first.number, last.number, first.created.UTC().Format(time.RFC3339),
			last.created.UTC().Format(time.RFC3339),
			len(b.records), s.arn,
		},
	}

	if b.calls > 0 {
		m.Response = &response{Status: 200, Version: "$LATEST"}
		if !errors.Is(b.err, errReported) {
			m.Response.Function = "Unhandled"
		}
	}
	return text.JSON(m)
}
