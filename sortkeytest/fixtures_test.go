package sortkeytest_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/api/fault"
	"github.com/sortkey/sortkey/internal/engine"
	"github.com/sortkey/sortkey/sortkeytest"
)

type order struct {
	Customer string            `dynamodbav:"customer"`
	Placed   int               `dynamodbav:"placed"`
	Status   string            `dynamodbav:"status,omitempty"`
	Tags     []string          `dynamodbav:"tags,omitempty,stringset"`
	Extra    map[string]string `dynamodbav:"extra,omitempty"`
}

func orders(tb testing.TB, optFns ...func(*sortkey.Options)) *sortkeytest.DB {
	db := sortkeytest.New(tb, optFns...)
	db.Table("Orders", "customer / placed:N", sortkeytest.Global("ByStatus", "status, customer / placed"),
		sortkeytest.Local("Loc", "status"))
	return db
}

func TestTyped(t *testing.T) {
	db := orders(t)
	all := []order{
		{Customer: "7", Placed: 2, Status: "open"}, {Customer: "7", Placed: 10},
		{Customer: "8", Placed: -1, Status: "open", Tags: []string{"a"}},
	}
	db.Put("Orders", all[2], &[]*order{&all[1]}, [1]order{all[0]}, []any{})
	require.Equal(t, all, sortkeytest.Items[order](db, "Orders"))
	require.Equal(t, all[:2], sortkeytest.Query[order](db, "Orders", "7"))
	require.Equal(t, all[1:2], sortkeytest.Query[order](db, "Orders", "7", 10))
	require.Equal(t, all[:1], sortkeytest.Query[order](db, "Orders/ByStatus", "open", "7"))
	require.Equal(t, all[:1], sortkeytest.Query[order](db, "Orders/Loc", "7", "open"))
	require.Equal(t, []order{}, sortkeytest.Query[order](db, "Orders", "9"))
	got, ok := sortkeytest.Get[order](db, "Orders", "8", &types.AttributeValueMemberN{Value: "-1"})
	require.True(t, ok)
	require.Equal(t, all[2], got)
	_, ok = sortkeytest.Get[map[string]any](db, "Orders", "8", big.NewInt(1).Int64())
	require.False(t, ok)
}

// TestFixturesAreQuiet tests that faults do not affect the test's own operations, and that recordings leave them out.
func TestFixturesAreQuiet(t *testing.T) {
	r := &reports{TB: t}
	db := orders(r)
	engine.Of(db.DB).Fail(fault.Fault{Code: "InternalServerError"})
	db.Forbid("Scan", "Query", "PutItem", "GetItem", "CreateTable")
	rec := db.Record()
	db.Table("More", "id")
	db.Put("Orders", order{Customer: "7"})
	db.PutJSON("More", []byte(`{"id":{"S":"x"}}`))
	sortkeytest.Get[order](db, "Orders", "7", 0)
	sortkeytest.Query[order](db, "Orders", "7")
	require.NotEmpty(t, db.Dump())
	require.Empty(t, r.errors)
	require.Empty(t, rec.Calls())
	_, err := db.Client.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("More")})
	require.Error(t, err)
	require.Len(t, r.errors, 1)
}

// TestFixturesAreAtOnce tests that the test's own operations are not throttled, delayed or stale when those of the
// code under test are.
func TestFixturesAreAtOnce(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	db := orders(t, func(o *sortkey.Options) {
		o.Clock = func() time.Time { return now }
		o.Simulate = sortkey.Simulation{
			EnforceThroughput: true, TableDelay: time.Minute,
			StaleReads: sortkey.StaleReads{Window: time.Hour, Oldest: true},
		}
	})
	for i := range 1500 { // more than one partition key value accepts in a second
		db.Put("Orders", order{Customer: "9", Placed: i, Status: "new"})
	}
	db.HoldIndexes()
	db.Put("Orders", order{Customer: "9", Placed: -1, Status: "new"})
	require.Len(t, sortkeytest.Query[order](db, "Orders/ByStatus", "new", "9"), 1501)
	require.Equal(t, now, db.Clock.Now())
}

// TestWith tests that a method that fails in a parallel subtest fails only the subtest.
func TestWith(t *testing.T) {
	parent := &failing{TB: t}
	db := orders(parent)
	child := failure(t, func(tb testing.TB) { sortkeytest.Items[order](db.With(tb), "Nope") })
	require.Contains(t, child, "table Nope")
	require.Empty(t, parent.failure)
	require.Equal(t, db.URL(), db.With(t).URL())
}

func TestShared(t *testing.T) {
	runs := 0
	shared := sortkeytest.Shared(func(db *sortkeytest.DB) {
		runs++
		db.Table("Tab", "id")
	}, func(o *sortkey.Options) { o.Account = "123456789012" })
	require.Zero(t, runs)
	for i := range 8 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			db := shared(t)
			db.Put("Tab", map[string]any{"id": fmt.Sprint(i)})
		})
	}
	t.Cleanup(func() { require.Equal(t, 1, runs) })
}

// TestSharedInBubble tests that shared items have the same age for each test, in a bubble or not: the order of the
// tests must not decide which records and items have expired.
func TestSharedInBubble(t *testing.T) {
	runs := 0
	shared := sortkeytest.Shared(func(db *sortkeytest.DB) {
		runs++
		db.CreateTable(&dynamodb.CreateTableInput{
			TableName: aws.String("Tab"),
			AttributeDefinitions: []types.AttributeDefinition{
				{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS},
			},
			KeySchema: []types.KeySchemaElement{
				{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash},
			},
			StreamSpecification: &types.StreamSpecification{
				StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewImage,
			},
		})
		db.Put("Tab", map[string]any{"id": "a"})
	})
	check := func(t *testing.T) {
		n := 0
		for change := range shared(t).Changes("Tab") {
			require.WithinDuration(t, time.Now(), *change.Dynamodb.ApproximateCreationDateTime, time.Hour)
			n++
		}
		require.Equal(t, 1, n)
	}
	for range 2 {
		synctest.Test(t, check)
		check(t)
	}
	require.Equal(t, 2, runs)
}

// TestSharedSweepsInBubbles tests that only the copies sweep: in a bubble, a goroutine that sweeps the shared
// database would wait forever.
func TestSharedSweepsInBubbles(t *testing.T) {
	shared := sortkeytest.Shared(func(db *sortkeytest.DB) {
		db.Table("Sessions", "id")
		_, err := db.Client.UpdateTimeToLive(context.Background(), &dynamodb.UpdateTimeToLiveInput{
			TableName: aws.String("Sessions"),
			TimeToLiveSpecification: &types.TimeToLiveSpecification{
				AttributeName: aws.String("ends"), Enabled: aws.Bool(true),
			},
		})
		require.NoError(t, err)
	}, func(o *sortkey.Options) { o.SweepInterval = time.Minute })
	for range 3 {
		synctest.Test(t, func(t *testing.T) {
			var wg sync.WaitGroup
			for range 4 { // at the same time
				wg.Go(func() {
					db := shared(t)
					db.Put("Sessions", map[string]any{"id": "a", "ends": time.Now().Add(time.Second).Unix()})
					time.Sleep(3 * time.Minute)
					if n := len(sortkeytest.Items[map[string]any](db, "Sessions")); n != 0 {
						t.Errorf("%d items have not expired", n)
					}
				})
			}
			wg.Wait()
		})
	}
	before := goleak.IgnoreCurrent()
	t.Run("outside", func(t *testing.T) { shared(t) })
	goleak.VerifyNone(t, before)
}

// TestSharedInParallelBubbles copies shared databases from parallel tests at the same time, inside and outside of
// bubbles.
func TestSharedInParallelBubbles(t *testing.T) {
	shared := sortkeytest.Shared(func(db *sortkeytest.DB) { db.Table("Tab", "id") })
	for i := range 32 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			use := func(t *testing.T) {
				for range 20 {
					shared(t).Put("Tab", map[string]any{"id": "a"})
				}
			}
			if i%4 == 0 {
				use(t)
				return
			}
			synctest.Test(t, use)
		})
	}
}

// TestSharedEnds tests that everything that the fill function starts ends with it: a server, a fault, a recording. If
// the function panics, the tests that ask for a copy must fail.
func TestSharedEnds(t *testing.T) {
	url := ""
	shared := sortkeytest.Shared(func(db *sortkeytest.DB) {
		url = db.URL()
		db.Record()
		db.Fail(sortkeytest.Fault{Operation: "Scan", Hang: true})
	})
	require.Contains(t, failure(t, func(tb testing.TB) { shared(tb) }), "no call met the fault set")
	_, err := http.Get(url) //nolint:bodyclose,noctx // refused
	require.Error(t, err)
	shared = sortkeytest.Shared(func(*sortkeytest.DB) { panic("no shelf") })
	require.Regexp(t, `(?s)the function that fills it panicked: no shelf.*fixtures_test\.go`,
		failure(t, func(tb testing.TB) { shared(tb) }))
	require.Contains(t, failure(t, func(tb testing.TB) { sortkeytest.Shared(nil)(tb) }),
		"the function that fills it is nil")
}

func TestSharedFails(t *testing.T) {
	shared := sortkeytest.Shared(func(db *sortkeytest.DB) { db.Put("Nope", map[string]any{"id": "a"}) })
	for range 2 {
		require.Contains(t, failure(t, func(tb testing.TB) { shared(tb) }),
			"cannot fill the shared database: table Nope: item 0: PutItem: ResourceNotFoundException")
	}
}

// TestSharedEndsEarly tests a fill function that ends without a message, as when a check of an outer test fails.
func TestSharedEndsEarly(t *testing.T) {
	shared := sortkeytest.Shared(func(*sortkeytest.DB) { runtime.Goexit() })
	require.Contains(t, failure(t, func(tb testing.TB) { shared(tb) }), "the function that fills it did not return")
}

// TestSeed tests that ids are the same in every run, and that ids of a fork do not depend on its siblings.
func TestSeed(t *testing.T) {
	text := func(db *sortkeytest.DB) string {
		_, err := db.Client.GetItem(t.Context(), &dynamodb.GetItemInput{
			TableName: aws.String("Nope"),
			Key:       map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "1"}},
		})
		db.Table("Made", "id")
		out, describeErr := db.Client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{
			TableName: aws.String("Made"),
		})
		require.NoError(t, describeErr)
		return err.Error() + *out.Table.TableId
	}
	first, second := sortkeytest.New(t), sortkeytest.New(t)
	one := first.Fork(t)
	require.Contains(t, text(first), "RequestID: ")
	_ = second.Fork(t)
	two := second.Fork(t)
	require.Equal(t, text(one), text(two))
	require.NotEqual(t, text(sortkeytest.New(t)), text(sortkeytest.New(t).Fork(t)))
	require.Equal(t, text(sortkeytest.New(t)), text(sortkeytest.New(t)))
}

func TestDiff(t *testing.T) {
	db := orders(t)
	db.Table("Old", "id:N")
	db.Table("Same", "id")
	db.Put("Old", map[string]any{"id": 1})
	db.Put("Same", map[string]any{"id": "x"})
	db.Put("Orders", order{Customer: "7", Placed: 10}, order{Customer: "7", Placed: 9}, order{
		Customer: "9", Placed: 1, Tags: []string{"b", "a"},
	})
	before := db.Fork(t)
	require.Empty(t, db.Diff(before))
	_, err := db.Client.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: aws.String("Old")})
	require.NoError(t, err)
	db.Table("Old", "id")
	db.Table("Zed", "a / b:B")
	_, err = db.Client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String("Orders"),
		Key: map[string]types.AttributeValue{
			"customer": &types.AttributeValueMemberS{Value: "7"}, "placed": &types.AttributeValueMemberN{Value: "9"},
		}})
	require.NoError(t, err)
	db.Put("Orders", order{Customer: "7", Placed: 100, Extra: map[string]string{"a b": "c"}}, order{
		Customer: "9", Placed: 1,
	})
	require.Equal(t, `- Old: id:N
- 1
+ Old: id
Orders: customer / placed:N
- "7" / 9
+ "7" / 100  {extra: {`+"`a b`"+`: "c"}}
~ "9" / 1  {tags: <"a", "b"> → none}
+ Zed: a / b:B
`, db.Diff(before))
	require.Equal(t, "Same: id\n\"x\"\n", db.Dump("Same"))
}

// Many test programs define this flag, so package sortkeytest must not define it.
var update = flag.Bool("update", false, "write golden files")

func TestGolden(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "items.txt")
	r := &messages{TB: t}
	db := sortkeytest.New(r)
	db.Table("Tab", "id")
	db.Put("Tab", map[string]any{"id": "a"}, map[string]any{"id": "b"})
	require.Contains(t, failure(t, func(tb testing.TB) { db.With(tb).Golden(path) }),
		"SORTKEY_UPDATE=1 go test writes it")
	t.Setenv("SORTKEY_UPDATE", "1")
	db.Golden(path)
	t.Setenv("SORTKEY_UPDATE", "")
	db.Golden(path)
	require.Empty(t, r.texts)
	db.Put("Tab", map[string]any{"id": "b", "n": 1}, map[string]any{"id": "c"})
	db.Golden(path)
	require.Len(t, r.texts, 1)
	require.Contains(t, r.texts[0], "- \"b\"\n+ \"b\"  {n: 1}\n+ \"c\"\n")
	db.Golden(path, "Tab")
	require.Len(t, r.texts, 2)

	*update = true
	db.Golden(path)
	*update = false
	db.Golden(path)
	require.Len(t, r.texts, 2)
}

// messages keeps the errors of a test that should fail.
type messages struct {
	testing.TB
	texts []string
}

func (m *messages) Errorf(format string, args ...any) {
	m.texts = append(m.texts, fmt.Sprintf(format, args...))
}

func TestURL(t *testing.T) {
	var url string
	ended := make(chan struct{})
	t.Run("a test", func(t *testing.T) {
		db := orders(t)
		hang := db.Fail(sortkeytest.Fault{Operation: "PutItem", Hang: true})
		url = db.URL()
		require.Equal(t, url, db.URL())
		c := dynamodb.New(dynamodb.Options{
			BaseEndpoint: &url, Region: db.DB.Region(), Credentials: db.Config().Credentials,
			HTTPClient: awshttp.NewBuildableClient(), RetryMaxAttempts: 1,
		})
		out, err := c.ListTables(t.Context(), &dynamodb.ListTablesInput{})
		require.NoError(t, err)
		require.Equal(t, []string{"Orders"}, out.TableNames)
		// A request that hangs must not delay the end of the test.
		go func() {
			defer close(ended)
			_, _ = c.PutItem(context.Background(), &dynamodb.PutItemInput{
				TableName: aws.String("Orders"),
				Item:      map[string]types.AttributeValue{"customer": &types.AttributeValueMemberS{Value: "1"}},
			})
		}()
		for hang.Count() == 0 {
			runtime.Gosched()
		}
	})
	<-ended
	_, err := http.Get(url) //nolint:bodyclose,noctx // refused
	require.Error(t, err)
}

func TestEnv(t *testing.T) {
	t.Setenv("NO_PROXY", "example.com")
	db := sortkeytest.New(t, func(o *sortkey.Options) { o.Region = "eu-west-1" })
	env := db.Env()
	require.Contains(t, env, "AWS_ENDPOINT_URL_DYNAMODB="+db.URL())
	require.Contains(t, env, "AWS_REGION=eu-west-1")
	require.Contains(t, env, "NO_PROXY=example.com,127.0.0.1")
}

// TestConfig tests that Config ignores an environment that would break other configurations.
func TestConfig(t *testing.T) {
	t.Setenv("AWS_CA_BUNDLE", filepath.Join(t.TempDir(), "none.pem"))
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	db := orders(t)
	_, err := dynamodb.NewFromConfig(db.Config()).
		PutItem(t.Context(),
			&dynamodb.PutItemInput{TableName: aws.String("Orders"), Item: map[string]types.AttributeValue{
				"customer": &types.AttributeValueMemberS{Value: "1"},
				"placed":   &types.AttributeValueMemberN{Value: "1"},
			}})
	require.NoError(t, err)
	require.Len(t, sortkeytest.Items[order](db, "Orders"), 1)
}

// TestNoGoroutineIsLeft tests that a database whose test has ended leaves no goroutine behind.
func TestNoGoroutineIsLeft(t *testing.T) {
	before := goleak.IgnoreCurrent()
	t.Run("a test", func(t *testing.T) {
		db := sortkeytest.New(t, func(o *sortkey.Options) { o.SweepInterval = time.Millisecond })
		db.Table("Tab", "id", sortkeytest.Global("ByX", "x"))
		fork := db.Fork(t)
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		for _, db := range []*sortkeytest.DB{db, fork} {
			db.Put("Tab", map[string]any{"id": "a"})
			db.Record()
			db.Clock.Advance(time.Hour)
			out, err := client.Get(db.URL())
			require.NoError(t, err)
			_, err = io.Copy(io.Discard, out.Body)
			require.NoError(t, errors.Join(err, out.Body.Close()))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		db.Fail(sortkeytest.Fault{Operation: "GetItem", Hang: true})
		_, err := db.Client.GetItem(ctx, &dynamodb.GetItemInput{
			TableName: aws.String("Tab"),
			Key:       map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "a"}},
		})
		require.Error(t, err)
	})
	goleak.VerifyNone(t, before)
}
