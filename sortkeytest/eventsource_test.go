package sortkeytest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/api/fault"
	"github.com/sortkey/sortkey/internal/engine"
	"github.com/sortkey/sortkey/sortkeytest"
)

// An event has the fields of events.DynamoDBEvent that the tests need. Module fuzz tests
// with aws-lambda-go itself.
type event struct {
	Records []struct {
		EventID   string `json:"eventID"`
		EventName string `json:"eventName"`
		Change    struct {
			Keys           map[string]struct{ S string }
			SequenceNumber string
		} `json:"dynamodb"`
	}
}

func (e event) ids() string {
	var all []string
	for _, r := range e.Records {
		all = append(all, r.Change.Keys["id"].S)
	}
	return strings.Join(all, "")
}

// A response has the form of events.DynamoDBEventResponse.
type response struct {
	BatchItemFailures []batchFailure `json:"batchItemFailures"`
}

type batchFailure struct {
	ItemIdentifier any `json:"itemIdentifier"`
}

var errPoison = errors.New("poison")

// streamed returns a database with a table Events and its stream.
func streamed(tb testing.TB, optFns ...func(*sortkey.Options)) *sortkeytest.DB {
	db := sortkeytest.New(tb, optFns...)
	db.CreateTable(&dynamodb.CreateTableInput{
		TableName: aws.String("Events"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		StreamSpecification: &types.StreamSpecification{
			StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages,
		},
	})
	return db
}

func putEach(db *sortkeytest.DB, ids string) {
	for _, v := range ids {
		db.Put("Events", id(string(v)))
	}
}

// TestEventSourceFailures delivers records 1 to 6. The handler fails for a batch with a poisoned record, or reports
// that record. Sources: services-dynamodb-errors.html and services-ddb-batchfailurereporting.html of the Lambda
// developer guide.
func TestEventSourceFailures(t *testing.T) {
	for _, tt := range []struct {
		name     string
		poison   string // records for which the handler fails or, after an r, that it reports
		times    int    // how often the poison makes the handler fail
		options  func(*sortkeytest.EventSource)
		calls    string
		discards string // ids and conditions of discarded batches
	}{
		{"none", "", 0, func(*sortkeytest.EventSource) {}, "123456", ""},
		{"batches", "", 0, func(s *sortkeytest.EventSource) { s.BatchSize = 4 }, "1234 56", ""},
		{
			"retried until it succeeds", "5", 2, func(s *sortkeytest.EventSource) { s.BatchSize = 3 },
			"123 456 456 456", "",
		},
		{
			"retries exhausted", "2", 9,
			func(s *sortkeytest.EventSource) { s.BatchSize, s.MaximumRetryAttempts = 3, 2 }, "123 123 123 456",
			"123 RetryAttemptsExhausted 3 Unhandled",
		},
		{
			"no retries", "2", 9, func(s *sortkeytest.EventSource) { s.BatchSize, s.MaximumRetryAttempts = 3, 0 },
			"123 456", "123 RetryAttemptsExhausted 1 Unhandled",
		},
		// Splitting does not count as a retry.
		{
			"split", "2", 9,
			func(s *sortkeytest.EventSource) { s.BisectBatchOnFunctionError, s.MaximumRetryAttempts = true, 0 },
			"123456 123 1 23 2 3 456", "2 RetryAttemptsExhausted 4 Unhandled",
		},
		{
			"split, then retried", "6", 5, func(s *sortkeytest.EventSource) { s.BisectBatchOnFunctionError = true },
			"123456 123 456 4 56 5 6 6 6", "",
		},
		{"result without the option", "3r", 9, func(*sortkeytest.EventSource) {}, "123456", ""},
		{"reported", "3r", 1, func(s *sortkeytest.EventSource) { s.ReportBatchItemFailures = true }, "123456 3456", ""},
		{
			"the lowest counts", "534r", 1, func(s *sortkeytest.EventSource) { s.ReportBatchItemFailures = true },
			"123456 3456", "",
		},
		{
			"reported, retries exhausted", "3r", 9,
			func(s *sortkeytest.EventSource) { s.ReportBatchItemFailures, s.MaximumRetryAttempts = true, 2 },
			"123456 3456 3456", "3456 RetryAttemptsExhausted 3 ",
		},
		{
			"error with the option", "3", 1, func(s *sortkeytest.EventSource) { s.ReportBatchItemFailures = true },
			"123456 123456", "",
		},
		{"reported and split", "4r", 9, func(s *sortkeytest.EventSource) {
			s.ReportBatchItemFailures, s.BisectBatchOnFunctionError, s.MaximumRetryAttempts = true, true, 0
		}, "123456 456 4 56", "4 RetryAttemptsExhausted 3 "},
		{
			"empty identifier", "0r", 1, func(s *sortkeytest.EventSource) { s.ReportBatchItemFailures = true },
			"123456 123456", "",
		},
		{
			"unknown identifier", "9r", 1, func(s *sortkeytest.EventSource) { s.ReportBatchItemFailures = true },
			"123456 123456", "",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			db := streamed(t)
			putEach(db, "123456")
			var calls, discards []string
			numbers := map[string]string{}
			left := tt.times
			ids, reported := strings.CutSuffix(tt.poison, "r")
			poisoned := func(_ context.Context, e event) (r response, err error) {
				calls = append(calls, e.ids())
				for _, record := range e.Records {
					numbers[record.Change.Keys["id"].S] = record.Change.SequenceNumber
				}
				met := strings.ContainsAny(ids, e.ids()) || strings.ContainsAny(ids, "09")
				if !met || left == 0 {
					return response{}, nil
				}
				left--
				if !reported {
					return response{}, errPoison
				}
				for _, v := range ids {
					number := numbers[string(v)]
					if v == '9' {
						number = "123"
					}
					r.BatchItemFailures = append(r.BatchItemFailures, batchFailure{number})
				}
				return r, nil
			}
			db.EventSource("Events", handler(poisoned), tt.options, func(s *sortkeytest.EventSource) {
				s.OnFailure = func(message []byte) {
					var m struct {
						RequestContext struct {
							Condition              string
							ApproximateInvokeCount int
						}
						ResponseContext    struct{ FunctionError string }
						DDBStreamBatchInfo struct {
							StartSequenceNumber, EndSequenceNumber string
							BatchSize                              int
						}
					}
					require.NoError(t, json.Unmarshal(message, &m))
					var lost string
					for v := '1'; v <= '6'; v++ {
						if n := numbers[string(v)]; n >= m.DDBStreamBatchInfo.StartSequenceNumber &&
							n <= m.DDBStreamBatchInfo.EndSequenceNumber {
							lost += string(v)
						}
					}
					require.Len(t, lost, m.DDBStreamBatchInfo.BatchSize)
					discards = append(discards,
						fmt.Sprint(lost, " ", m.RequestContext.Condition, " ", m.RequestContext.ApproximateInvokeCount,
							" ", m.ResponseContext.FunctionError))
				}
			}).Deliver()
			require.Equal(t, tt.calls, strings.Join(calls, " "))
			require.Equal(t, tt.discards, strings.Join(discards, ", "))
		})
	}
}

// TestEventSourceResponses has responses that a handler in any language may return, with the number of calls that
// each causes, including the first.
func TestEventSourceResponses(t *testing.T) {
	for result, calls := range map[string]int{
		`null`: 1, `{}`: 1, `""`: 1, `{"batchItemFailures":[]}`: 1, `{"batchItemFailures":null}`: 1,
		`{"batchItemFailures":[{"itemIdentifier":""}]}`: 2, `{"batchItemFailures":[{"itemIdentifier":null}]}`: 2,
		`{"batchItemFailures":[{"id":"1"}]}`: 2, `{"batchItemFailures":[{}]}`: 2,
		`{"batchItemFailures":7}`: 2, `[]`: 2, `{"batchItemFailures":[7]}`: 2, `{"batchItemFailures":[null]}`: 2,
		`{"batchItemFailures":[{"itemIdentifier":7}]}`: 2, `{"batchItemFailures":[{"ItemIdentifier":"x"}]}`: 2,
		`{"batchItemFailures":[],"batchItemFailures":[]}`: 2, `{"x":[],"x":[]}`: 2,
		`{"BatchItemFailures":[{"itemIdentifier":""}]}`: 1, // the name has another case
	} {
		db := streamed(t)
		putEach(db, "12")
		got := 0
		db.EventSource("Events", invocation(func(context.Context, []byte) ([]byte, error) {
			if got++; got == 1 {
				return []byte(result), nil
			}
			return nil, nil
		}), func(s *sortkeytest.EventSource) { s.ReportBatchItemFailures = true }).Deliver()
		require.Equal(t, calls, got, result)
	}
}

// TestEventSourceSlowProgress tests that the limit of calls counts only calls after which no record is done: a
// handler that completes one record in each call may need more.
func TestEventSourceSlowProgress(t *testing.T) {
	db := streamed(t)
	for i := range 250 {
		db.Put("Events", id(fmt.Sprint(i)))
	}
	calls := 0
	db.EventSource("Events", handler(func(e event) (r response, err error) {
		calls++
		if len(e.Records) > 1 {
			r.BatchItemFailures = []batchFailure{{e.Records[1].Change.SequenceNumber}}
		}
		return r, nil
	}), func(s *sortkeytest.EventSource) { s.BatchSize, s.ReportBatchItemFailures = 1000, true }).Deliver()
	require.Equal(t, 250, calls)
}

// TestEventSourceEvent compares an event that has every kind of value with Lambda's form. Source: with-ddb.html of
// the Lambda developer guide; DG/time-to-live-ttl-streams.html for userIdentity.
func TestEventSourceEvent(t *testing.T) {
	db := streamed(t, func(o *sortkey.Options) { o.Region = "eu-north-1" })
	db.Clock.Set(time.Date(2026, 3, 1, 12, 0, 0, 500, time.UTC))
	_, err := db.Client.UpdateTimeToLive(t.Context(), &dynamodb.UpdateTimeToLiveInput{
		TableName: aws.String("Events"),
		TimeToLiveSpecification: &types.TimeToLiveSpecification{
			AttributeName: aws.String("ends"), Enabled: aws.Bool(true),
		},
	})
	require.NoError(t, err)
	db.PutJSON("Events",
		[]byte(`{"id":{"S":"<1>"},"ends":{"N":"1772370000"},"b":{"B":"AAE="},"t":{"BOOL":true},"z":{"NULL":true},
		"ss":{"SS":["a"]},"ns":{"NS":["1"]},"bs":{"BS":["AA=="]},"l":{"L":[{"S":""},{"L":[]}]},"m":{"M":{"x":{"M":{}},
		"e":{"B":""}}}}`))
	db.Clock.Advance(2 * time.Hour)
	var got []map[string]any
	db.EventSource("Events", invocation(func(_ context.Context, data []byte) ([]byte, error) {
		var e struct{ Records []map[string]any }
		err := json.Unmarshal(data, &e)
		got = e.Records
		return nil, err
	})).Deliver()
	require.Len(t, got, 2)
	for _, r := range got {
		require.Len(t, r["eventID"], 32)
		delete(r, "eventID")
		change := r["dynamodb"].(map[string]any)
		require.NotEmpty(t, change["SequenceNumber"])
		delete(change, "SequenceNumber")
		delete(change, "SizeBytes")
		require.Contains(t, r["eventSourceARN"], "arn:aws:dynamodb:eu-north-1:000000000000:table/Events/stream/2")
		delete(r, "eventSourceARN")
	}
	const item = `{"id":{"S":"<1>"},"ends":{"N":"1772370000"},"b":{"B":"AAE="},"t":{"BOOL":true},"z":{"NULL":true},
		"ss":{"SS":["a"]},"ns":{"NS":["1"]},"bs":{"BS":["AA=="]},"l":{"L":[{"S":""},{"L":[]}]},"m":{"M":{"x":{"M":{}},
		"e":{"B":""}}}}`
	text, err := json.Marshal(got)
	require.NoError(t, err)
	require.JSONEq(t, `[
		{"eventName":"INSERT","eventVersion":"1.1","eventSource":"aws:dynamodb","awsRegion":"eu-north-1",
		"dynamodb":{"ApproximateCreationDateTime":1772366400,
			"Keys":{"id":{"S":"<1>"}},"NewImage":`+item+`,"StreamViewType":"NEW_AND_OLD_IMAGES"}},
		{"eventName":"REMOVE","eventVersion":"1.1","eventSource":"aws:dynamodb","awsRegion":"eu-north-1",
		"dynamodb":{"ApproximateCreationDateTime":1772373600,
			"Keys":{"id":{"S":"<1>"}},"OldImage":`+item+`,"StreamViewType":"NEW_AND_OLD_IMAGES"},
			"userIdentity":{"type":"Service","principalId":"dynamodb.amazonaws.com"}}]`, string(text))
}

// TestEventSourceMessage tests the message for OnFailure. Source: services-dynamodb-errors.html of the Lambda
// developer guide.
func TestEventSourceMessage(t *testing.T) {
	db := streamed(t)
	db.Clock.Set(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	putEach(db, "12")
	db.Clock.Advance(1500 * time.Millisecond)
	var record streamtypes.Record
	for record = range db.Changes("Events") {
		break
	}
	var got map[string]any
	db.EventSource("Events", handler(func(event) error { return errPoison }), func(s *sortkeytest.EventSource) {
		s.BatchSize, s.MaximumRetryAttempts = 1, 0
		s.OnFailure = func(message []byte) {
			if got == nil {
				require.NoError(t, json.Unmarshal(message, &got))
			}
		}
	}).Deliver()
	number := *record.Dynamodb.SequenceNumber
	info := got["DDBStreamBatchInfo"].(map[string]any)
	require.Contains(t, info["streamArn"], ":table/Events/stream/")
	require.Contains(t, info["shardId"], "shardId-")
	delete(info, "streamArn")
	delete(info, "shardId")
	request := got["requestContext"].(map[string]any)
	require.NotEmpty(t, request["requestId"])
	delete(request, "requestId")
	require.Equal(t, map[string]any{
		"version": "1.0", "timestamp": "2026-03-01T12:00:01.500Z",
		"requestContext": map[string]any{
			"functionArn": "arn:aws:lambda:us-east-1:000000000000:function:handler",
			"condition":   "RetryAttemptsExhausted", "approximateInvokeCount": 1.0,
		},
		"responseContext": map[string]any{
			"statusCode": 200.0, "executedVersion": "$LATEST", "functionError": "Unhandled",
		},
		"DDBStreamBatchInfo": map[string]any{
			"startSequenceNumber": number, "endSequenceNumber": number, "batchSize": 1.0,
			"approximateArrivalOfFirstRecord": "2026-03-01T12:00:00Z",
			"approximateArrivalOfLastRecord":  "2026-03-01T12:00:00Z",
		},
	}, got)
}

// TestEventSourceAge tests records that become too old before the first call, and between calls.
func TestEventSourceAge(t *testing.T) {
	db := streamed(t)
	db.Clock.Set(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	putEach(db, "1")
	db.Clock.Advance(10 * time.Minute)
	putEach(db, "23")
	db.Clock.Advance(time.Minute)
	var log []string
	discarded := func(message []byte) {
		condition := "?"
		for _, c := range []string{`"RecordAgeExceeded"`, `"responseContext"`} {
			if strings.Contains(string(message), c) {
				condition += c
			}
		}
		log = append(log, condition)
	}
	db.EventSource("Events", handler(func(e event) error {
		log = append(log, e.ids())
		db.Clock.Advance(5 * time.Minute)
		return errPoison
	}), func(s *sortkeytest.EventSource) { s.MaximumRecordAge, s.OnFailure = 10*time.Minute, discarded }).Deliver()
	require.Equal(t, []string{`?"RecordAgeExceeded"`, "23", "23", `?"RecordAgeExceeded""responseContext"`}, log)

	// Without a limit, the handler gets records again until they expire.
	calls := 0
	putEach(db, "4")
	log = nil
	db.EventSource("Events", handler(func(event) error {
		calls++
		db.Clock.Advance(time.Hour)
		return errPoison
	}), func(s *sortkeytest.EventSource) {
		s.StartingPosition, s.OnFailure = streamtypes.ShardIteratorTypeTrimHorizon, discarded
	}).Deliver()
	require.Equal(t, 25, calls)
	require.Len(t, log, 2) // first the records that are too old
}

// TestEventSourcePosition tests that the position is kept from one Deliver to the next, also when shards end.
func TestEventSourcePosition(t *testing.T) {
	for _, shards := range []int{1, 3} {
		db := streamed(t, func(o *sortkey.Options) { o.StreamShards = shards })
		var all, latest string
		first := db.EventSource("Events", handler(func(e event) { all += e.ids() }))
		first.Deliver()
		putEach(db, "12")
		second := db.EventSource("Events", handler(func(e event) error {
			latest += e.ids()
			return nil
		}), func(s *sortkeytest.EventSource) {
			s.StartingPosition = streamtypes.ShardIteratorTypeLatest
		})
		first.Deliver()
		first.Deliver()
		second.Deliver()
		db.Clock.Advance(5 * time.Hour) // to the next shards
		putEach(db, "34")
		first.Deliver()
		db.Clock.Advance(25 * time.Hour)
		putEach(db, "5")
		first.Deliver()
		second.Deliver()
		require.ElementsMatch(t, []rune("12345"), []rune(all))
		require.Equal(t, "5", latest, "3 and 4 have expired")
	}
}

// TestEventSourceOrder tests that with several shards the records of each item are in order.
func TestEventSourceOrder(t *testing.T) {
	db := streamed(t, func(o *sortkey.Options) { o.StreamShards = 4 })
	want := map[string][]int{}
	for i := range 200 {
		v := fmt.Sprint(i % 7)
		db.Put("Events", map[string]any{"id": v, "n": i})
		want[v] = append(want[v], i)
	}
	got := map[string][]int{}
	fail := 0
	db.EventSource("Events", invocation(func(_ context.Context, data []byte) ([]byte, error) {
		if fail++; fail%3 == 0 {
			return nil, errPoison
		}
		var e struct {
			Records []struct {
				Dynamodb struct {
					NewImage map[string]struct{ S, N string }
				}
			}
		}
		require.NoError(t, json.Unmarshal(data, &e))
		for _, r := range e.Records {
			var n int
			_, err := fmt.Sscan(r.Dynamodb.NewImage["n"].N, &n)
			require.NoError(t, err)
			got[r.Dynamodb.NewImage["id"].S] = append(got[r.Dynamodb.NewImage["id"].S], n)
		}
		return nil, nil
	}), func(s *sortkeytest.EventSource) { s.BatchSize = 10 }).Deliver()
	require.Equal(t, want, got)
}

// An event has at most 6 MB.
func TestEventSourceLargeRecords(t *testing.T) {
	db := streamed(t)
	for i := range 40 {
		db.Put("Events", map[string]any{"id": fmt.Sprint(i), "text": strings.Repeat("x", 390_000)})
	}
	n, calls := 0, 0
	db.EventSource("Events", invocation(func(_ context.Context, e []byte) ([]byte, error) {
		require.LessOrEqual(t, len(e), 6<<20)
		calls++
		n += strings.Count(string(e), `"eventID"`)
		return nil, nil
	})).Deliver()
	require.Equal(t, 40, n)
	require.Equal(t, 3, calls)
}

// TestEventSourceCascade tests that a handler that writes to its own table gets those changes too.
func TestEventSourceCascade(t *testing.T) {
	db := streamed(t)
	putEach(db, "1")
	var got string
	db.EventSource("Events", handler(func(ctx context.Context, e event) error {
		require.Equal(t, t.Context(), ctx)
		got += e.ids()
		if e.ids() != "4" {
			db.Put("Events", id(string(e.ids()[0]+1)))
		}
		return nil
	})).Deliver()
	require.Equal(t, "1234", got)
}

// TestEventSourceIsQuiet tests that faults do not affect how an EventSource reads the stream.
func TestEventSourceIsQuiet(t *testing.T) {
	db := streamed(t)
	putEach(db, "1")
	rule, _ := engine.Of(db.DB).Fail(fault.Fault{Code: "InternalServerError"})
	calls := db.Record()
	n := 0
	db.EventSource("Events", handler(func(event) { n++ })).Deliver()
	require.Equal(t, 1, n)
	require.Zero(t, rule.Met())
	require.Empty(t, calls.Calls())
}

func TestEventSourceTestFailures(t *testing.T) {
	deliver := func(fn any, optFns ...func(*sortkeytest.EventSource)) func(testing.TB) {
		return func(tb testing.TB) {
			db := streamed(tb)
			putEach(db, "12")
			db.EventSource("Events", handler(fn), optFns...).Deliver()
		}
	}
	set := func(fn func(*sortkeytest.EventSource)) func(testing.TB) { return deliver(func(event) {}, fn) }
	for want, fn := range map[string]func(testing.TB){
		"the handler has failed 100 times for 2 records of": deliver(
			func(event) error { return errPoison },
		),
		"poison\nThe service would retry until": deliver(
			func(event) error { return errPoison },
		),
		"handler is nil, want what lambda.NewHandler returns": func(tb testing.TB) {
			streamed(tb).EventSource("Events", nil)
		},
		"BatchSize is 0, want 1 to 10,000": set(func(s *sortkeytest.EventSource) {
			s.BatchSize = 0
		}),
		"MaximumRetryAttempts is -2": set(func(s *sortkeytest.EventSource) {
			s.MaximumRetryAttempts = -2
		}),
		"MaximumRecordAge is 1s": set(func(s *sortkeytest.EventSource) { s.MaximumRecordAge = time.Second }),
		`StartingPosition is "AFTER_SEQUENCE_NUMBER"`: set(func(s *sortkeytest.EventSource) {
			s.StartingPosition = streamtypes.ShardIteratorTypeAfterSequenceNumber
		}),
		"table Plain has no stream": func(tb testing.TB) {
			db := sortkeytest.New(tb)
			db.Table("Plain", "id")
			db.EventSource("Plain", handler(func(event) {}))
		},
		"after 100 rounds the stream of Events still has new records": func(tb testing.TB) {
			db := streamed(tb)
			putEach(db, "1")
			n := 0
			db.EventSource("Events", handler(func(event) { n++; db.Put("Events", map[string]any{"id": "1", "n": n}) })).Deliver()
		},
	} {
		require.Contains(t, failure(t, fn), want)
	}
	r := &reports{TB: t}
	deliver(func(event) error { return errPoison }, func(s *sortkeytest.EventSource) { s.MaximumRetryAttempts = 1 })(r)
	require.Len(t, r.errors, 1)
	require.Contains(t, r.errors[0], "Set OnFailure")
}
