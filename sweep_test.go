package sortkey_test

import (
	"fmt"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sortkey/sortkey/internal/wire"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
)

// expiring opens a database with a table of n items that expire a minute from
// now, and one that does not.
func expiring(t testing.TB, opts sortkey.Options, n int) *sortkey.DB {
	t.Helper()
	db, err := sortkey.Open(opts)
	require.NoError(t, err)
	ctx, s := t.Context(), db.Service()
	_, err = s.CreateTable(ctx, &wire.CreateTableInput{
		TableName: new("Sessions"), BillingMode: new("PAY_PER_REQUEST"),
		AttributeDefinitions: []wire.AttributeDefinition{{AttributeName: new("id"), AttributeType: new("S")}, {AttributeName: new("user"), AttributeType: new("S")}},
		KeySchema:            []wire.KeySchemaElement{{AttributeName: new("id"), KeyType: new("HASH")}},
		GlobalSecondaryIndexes: []wire.GlobalSecondaryIndex{{
			IndexName: new("ByUser"), KeySchema: []wire.KeySchemaElement{{AttributeName: new("user"), KeyType: new("HASH")}}, Projection: &wire.Projection{ProjectionType: new("ALL")},
		}},
	})
	require.NoError(t, err)
	_, err = s.UpdateTimeToLive(ctx, &wire.UpdateTimeToLiveInput{TableName: new("Sessions"), TimeToLiveSpecification: &wire.TimeToLiveSpecification{AttributeName: new("until"), Enabled: new(true)}})
	require.NoError(t, err)
	until := strconv.FormatInt(opts.Clock().Add(time.Minute).Unix(), 10)
	for i := range n {
		item, err := attr.ParseItem(fmt.Appendf(nil, `{"id":{"S":"%d"},"user":{"S":"u"},"until":{"N":"%s"}}`, i, until))
		require.NoError(t, err)
		_, err = s.PutItem(ctx, &wire.PutItemInput{TableName: new("Sessions"), Item: item})
		require.NoError(t, err)
	}
	item, err := attr.ParseItem([]byte(`{"id":{"S":"stays"},"user":{"S":"u"}}`))
	require.NoError(t, err)
	_, err = s.PutItem(ctx, &wire.PutItemInput{TableName: new("Sessions"), Item: item})
	require.NoError(t, err)
	return db
}

// count returns how many items there are in the table, or in the index.
func count(t *testing.T, db *sortkey.DB, index *string) int64 {
	t.Helper()
	out, err := db.Service().Scan(t.Context(), &wire.ScanInput{TableName: new("Sessions"), IndexName: index})
	require.NoError(t, err)
	return *out.Count
}

func TestSweep(t *testing.T) {
	now := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	const n = 2500 // more than one update sweeps
	db := expiring(t, sortkey.Options{Clock: func() time.Time { return now }}, n)
	defer db.Close()
	for _, tt := range []struct {
		after time.Duration
		want  int
	}{{0, 0}, {59 * time.Second, 0}, {time.Second, n}, {time.Hour, 0}} {
		now = now.Add(tt.after)
		got, err := db.Sweep(t.Context())
		require.NoError(t, err)
		if got != tt.want {
			t.Errorf("at %v Sweep = %d, want %d", now, got, tt.want)
		}
	}
	if a, b := count(t, db, nil), count(t, db, new("ByUser")); a != 1 || b != 1 {
		t.Errorf("%d items and %d index rows are left, want 1", a, b)
	}
}

// The background sweeper works by the intervals of its option, and Close ends
// it.
func TestSweepInterval(t *testing.T) {
	defer goleak.VerifyNone(t)
	synctest.Test(t, func(t *testing.T) {
		db := expiring(t, sortkey.Options{Clock: time.Now, SweepInterval: 10 * time.Second}, 3)
		fork, err := db.Fork()
		require.NoError(t, err)
		time.Sleep(55 * time.Second)
		synctest.Wait()
		if got := count(t, db, nil); got != 4 {
			t.Errorf("%d items before the time, want 4", got)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		for _, d := range []*sortkey.DB{db, fork} {
			if got := count(t, d, nil); got != 1 {
				t.Errorf("%d items after the time, want 1", got)
			}
			require.NoError(t, d.Close())
			require.NoError(t, d.Close())
		}
	})
}
