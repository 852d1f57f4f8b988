package sortkeytest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/sortkeytest"
)

// failing is a testing.TB that records how a test would have failed.
type failing struct {
	testing.TB
	failure string
}

func (f *failing) Fatalf(format string, args ...any) {
	f.failure = fmt.Sprintf(format, args...)
	panic(f)
}

// failure runs fn with a testing.TB of its own and returns how it failed.
func failure(t *testing.T, fn func(testing.TB)) string {
	t.Helper()
	f := &failing{TB: t}
	func() {
		defer func() { _ = recover() }()
		fn(f)
	}()
	return f.failure
}

func TestPutJSONForms(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       int
	}{
		{"nothing", ``, 0},
		{"one", `{"id":{"S":"a"}}`, 1},
		{"byte-order mark", "\ufeff{\"id\":{\"S\":\"a\"}}", 1},
		{"lines", "{\"id\":{\"S\":\"a\"}}\n{\"id\":{\"S\":\"b\"}}\n", 2},
		{"a list", `[{"id":{"S":"a"}},{"id":{"S":"b"}}]`, 2},
		{"an answer", `{"Count":2,"Items":[{"id":{"S":"a"}},{"id":{"S":"b"}}]}`, 2},
		{"an export", "{\"Item\":{\"id\":{\"S\":\"a\"}}}\n{\"Item\":{\"id\":{\"S\":\"b\"},\"Item\":{\"M\":{}}}}", 2},
		{"a map called Item", `{"id":{"S":"a"},"Item":{"M":{"x":{"S":"y"}}}}`, 1},
		{"attributes called Item and Items", `{"id":{"S":"a"},"Item":{"S":"x"},"Items":{"L":[]}}`, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			db := sortkeytest.New(t)
			db.Table("Tab", "id")
			db.PutJSON("Tab", []byte(tt.text))
			require.Len(t, sortkeytest.Items[map[string]any](db, "Tab"), tt.want)

			path := filepath.Join(t.TempDir(), "items.json")
			require.NoError(t, os.WriteFile(path, []byte(tt.text), 0o600))
			other := sortkeytest.New(t)
			other.Table("Tab", "id")
			other.PutFile("Tab", path)
			require.Equal(t, sortkeytest.Items[map[string]any](db, "Tab"),
				sortkeytest.Items[map[string]any](other, "Tab"))
		})
	}
}

// TestPutRequests tests PutJSON with requests, which name their tables.
func TestPutRequests(t *testing.T) {
	const batch = `{"RequestItems": {"Tab": [
		{"PutRequest": {"Item": {"id": {"S": "a"}}}}, {"PutRequest": {"Item": {"id": {"S": "b"}}}},
		{"DeleteRequest": {"Key": {"id": {"S": "b"}}}}], "Two": [{"PutRequest": {"Item": {"id": {"S": "c"}}}}]}}`
	for _, tt := range []struct{ name, table, text, want, failure string }{
		{"batch", "", batch, "Tab: id\n\"a\"\nTwo: id\n\"c\"\n", ""},
		{"put", "", `{"TableName": "Tab", "Item": {"id": {"S": "a"}}}`, "Tab: id\n\"a\"\n", ""},
		{"the same table", "Tab", `{"TableName": "Tab", "Item": {"id": {"S": "a"}}}`, "\"a\"", ""},
		{"transaction", "", `{"TransactItems": [{"Put": {"TableName": "Tab", "Item": {"id": {"S": "a"}}}}]}`, "\"a\"", ""},
		{"no table in the request", "Tab", `[{"PutRequest": {"Item": {"id": {"S": "a"}}}}]`, "\"a\"", ""},
		{"an item", "Tab", `{"id": {"S": "a"}, "TableName": {"S": "Two"}, "Item": {"M": {}}}`, "\"a\"", ""},

		{"another table", "Tab", batch, "", "sortkeytest: table Tab: line 3: the request writes to table Two: " +
			"leave the table of the call empty, or name that one"},
		{"no table", "", `[{"PutRequest": {"Item": {"id": {"S": "a"}}}}]`, "",
			"sortkeytest: line 1: the request names no table: name it in the call"},
		{"an item without a table", "", `{"id": {"S": "a"}}`, "",
			"sortkeytest: line 1: no table for an item: name it in the call, as only requests name theirs"},
		{"condition", "", "\n" + `{"TableName": "Tab", "Item": {"id": {"S": "a"}}, "ConditionExpression": "x"}`, "",
			"sortkeytest: line 2: table Tab: ConditionExpression is not checked when a file is read"},
		{"update", "", `{"TransactItems": [{"Update": {"TableName": "Tab", "Key": {}}}]}`, "",
			"sortkeytest: line 1: table Tab: Update is not a write of a whole item"},
		{"no such table", "", `{"TableName": "Tub", "Item": {"id": {"S": "a"}}}`, "",
			"sortkeytest: line 1: table Tub: ResourceNotFoundException"},
		{"no key", "", `{"Tab": [{"DeleteRequest": {"Key": {"x": {"S": "a"}}}}]}`, "", "in {\"x\":{\"S\":\"a\"}}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dump := ""
			failure := failure(t, func(tb testing.TB) {
				db := sortkeytest.New(tb)
				db.Table("Tab", "id")
				db.Table("Two", "id")
				db.PutJSON(tt.table, []byte(tt.text))
				dump = db.Dump()
			})
			require.Contains(t, failure, tt.failure)
			require.Equal(t, tt.failure == "", failure == "", failure)
			require.Contains(t, dump, tt.want)
		})
	}
}

func TestItemCalledItem(t *testing.T) {
	db := sortkeytest.New(t)
	db.Table("Tab", "Item")
	db.PutJSON("Tab", []byte(`{"Item":{"S":"x"}} {"Item":{"Item":{"S":"y"}}}`))
	require.Len(t, sortkeytest.Items[map[string]any](db, "Tab"), 2)
}

func TestTableDefinition(t *testing.T) {
	db := sortkeytest.New(t)
	db.Table("Tab", "p/s:N", sortkeytest.Local("Loc", "x:B"), sortkeytest.Global("GGG", "a:N, b / c, s").Only(),
		sortkeytest.Global("HHH", "x").Only("q", "r"))
	out, err := db.Client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: new("Tab")})
	require.NoError(t, err)
	require.Equal(t, types.BillingModePayPerRequest, out.Table.BillingModeSummary.BillingMode)
	kinds := map[string]types.ScalarAttributeType{}
	for _, a := range out.Table.AttributeDefinitions {
		kinds[*a.AttributeName] = a.AttributeType
	}
	require.Equal(t,
		map[string]types.ScalarAttributeType{"p": "S", "s": "N", "x": "B", "a": "N", "b": "S", "c": "S"}, kinds)
	require.Equal(t, "Loc", *out.Table.LocalSecondaryIndexes[0].IndexName)
	require.Equal(t, "p", *out.Table.LocalSecondaryIndexes[0].KeySchema[0].AttributeName)
	require.Equal(t, types.ProjectionTypeAll, out.Table.LocalSecondaryIndexes[0].Projection.ProjectionType)
	for _, g := range out.Table.GlobalSecondaryIndexes {
		if *g.IndexName == "GGG" {
			require.Len(t, g.KeySchema, 4)
			require.Equal(t, types.ProjectionTypeKeysOnly, g.Projection.ProjectionType)
		} else {
			require.Equal(t, []string{"q", "r"}, g.Projection.NonKeyAttributes)
		}
	}
}

func TestForksAreApart(t *testing.T) {
	full := sortkeytest.New(t)
	full.Table("Tab", "id")
	full.Put("Tab", map[string]any{"id": "first"})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			db := full.Fork(t)
			db.Put("Tab", map[string]any{"id": fmt.Sprint(i)})
			if n := len(sortkeytest.Items[map[string]any](db, "Tab")); n != 2 {
				t.Errorf("a fork has %d items, want 2", n)
			}
		})
	}
	wg.Wait()
	require.Len(t, sortkeytest.Items[map[string]any](full, "Tab"), 1)
}

func TestCleanupCloses(t *testing.T) {
	var db, fork *sortkeytest.DB
	t.Run("a test", func(t *testing.T) {
		db = sortkeytest.New(t)
		db.Table("Tab", "id")
		fork = db.Fork(t)
	})
	for _, db := range []*sortkeytest.DB{db, fork} {
		_, err := db.Direct.Scan(t.Context(), &dynamodb.ScanInput{TableName: new("Tab")})
		require.ErrorContains(t, err, "the database of TestCleanupCloses/a_test ended with its test at ")
		_, err = db.Client.ListTables(t.Context(), &dynamodb.ListTablesInput{})
		require.ErrorContains(t, err, "the database of TestCleanupCloses/a_test ended with its test at ")
		require.Contains(t, failure(t, func(tb testing.TB) { db.Fork(tb) }),
			"cannot fork: the database of TestCleanupCloses/a_test ended with its test at ")
	}
}

func TestClock(t *testing.T) {
	c := new(sortkeytest.Clock)
	require.WithinDuration(t, time.Now(), c.Now(), time.Minute)
	c.Advance(time.Hour)
	require.WithinDuration(t, time.Now().Add(time.Hour), c.Now(), time.Minute)
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	c.Set(at)
	c.Advance(time.Second)
	require.Equal(t, at.Add(time.Second), c.Now())
	c.Set(time.Time{})
	require.WithinDuration(t, time.Now(), c.Now(), time.Minute)
}

func TestOptions(t *testing.T) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	db := sortkeytest.New(t, func(o *sortkey.Options) { o.Clock = func() time.Time { return at } },
		func(o *sortkey.Options) { o.Account = "123456789012" })
	db.Table("Tab", "id")
	out, err := db.Client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: new("Tab")})
	require.NoError(t, err)
	require.True(t, at.Equal(*out.Table.CreationDateTime))
	require.Contains(t, *out.Table.TableArn, ":123456789012:")
}

//go:fix inline
func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		db := sortkeytest.New(noCleanup{b})
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFork(b *testing.B) {
	full := sortkeytest.New(b)
	full.Table("Tab", "id")
	for i := range 10_000 {
		full.Put("Tab", map[string]any{"id": fmt.Sprint(i)})
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := full.Fork(noCleanup{b}).Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// noCleanup is a testing.TB that ignores cleanup functions.
type noCleanup struct{ testing.TB }

func (noCleanup) Cleanup(func()) {}

// TestForkClock tests that forks in parallel subtests have clocks of their own.
func TestForkClock(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	db := sortkeytest.New(t, func(o *sortkey.Options) { o.Clock = func() time.Time { return at } })
	require.Equal(t, at, db.Clock.Now(), "the clock in the options is the base")
	fork := db.Fork(t)
	fork.Clock.Advance(time.Hour)
	require.Equal(t, at, db.Clock.Now())
	require.Equal(t, at.Add(time.Hour), fork.Clock.Now())
	require.Equal(t, at.Add(time.Hour), fork.Fork(t).Clock.Now())
}

// failed is a testing.TB that has failed and keeps its log.
type failed struct {
	testing.TB
	cleanups []func()
	logged   string
}

func (f *failed) Failed() bool      { return true }
func (f *failed) Cleanup(fn func()) { f.cleanups = append(f.cleanups, fn) }

func (f *failed) Logf(format string, args ...any) { f.logged += fmt.Sprintf(format, args...) }

func TestStaleSeedIsLogged(t *testing.T) {
	f := &failed{TB: t}
	sortkeytest.New(f, func(o *sortkey.Options) { o.Simulate.StaleReads.Window = time.Second })
	for _, fn := range f.cleanups {
		fn()
	}
	require.Regexp(t, `StaleReads\.Seed = \d+`, f.logged)

	// A copy, of a shared database or another, also logs the seed of its stale reads.
	shared := sortkeytest.Shared(func(*sortkeytest.DB) {}, func(o *sortkey.Options) {
		o.Simulate.StaleReads.Window = time.Second
	})
	given := sortkeytest.New(t, func(o *sortkey.Options) {
		o.Simulate.StaleReads = sortkey.StaleReads{Window: time.Second, Seed: 7}
	})
	for want, copied := range map[string]func(testing.TB) *sortkeytest.DB{`\d+`: shared, "7": given.Fork} {
		f := &failed{TB: t}
		copied(f)
		for _, fn := range f.cleanups {
			fn()
		}
		require.Regexp(t, `StaleReads\.Seed = `+want+`$`, f.logged)
	}
}

// TestNoServerInBubble tests that URL fails in a bubble, where a server would stop the bubble's time and so the test.
func TestNoServerInBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		require.Contains(t, failure(t, func(tb testing.TB) { sortkeytest.New(tb).Env() }),
			"cannot start a server in a bubble")
	})
}
