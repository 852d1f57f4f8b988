package designtest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/design/designtest"
	"github.com/sortkey/sortkey/internal/api/fault"
	"github.com/sortkey/sortkey/internal/engine"
	"github.com/sortkey/sortkey/sortkeytest"
)

// A recorder is a testing.TB that records messages. It panics where a test would end.
type recorder struct {
	testing.TB
	logged, failure string
}

func (r *recorder) Logf(format string, args ...any) { r.logged += fmt.Sprintf(format, args...) }

func (r *recorder) Errorf(format string, args ...any) { r.failure = fmt.Sprintf(format, args...) }

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	panic(r)
}

func TestLoad(t *testing.T) {
	db := sortkeytest.New(t)
	engine.Of(db.DB).Fail(fault.Fault{Operation: "CreateTable", Code: "InternalServerError"})
	designtest.Load(db, "testdata/deploy/template.yaml", "Stage=a")
	designtest.Load(db, "testdata/infra/tables.tf", "stage=a")
	designtest.Load(db, "testdata/drive.yaml")
	require.Contains(t, db.Dump(), "orders-a: customer / placed:N\norders-a-tf: customer / placed:N\n")
	require.Contains(t, db.Dump("Drive"), "\"D#a\" / \"F#photos/1.jpg\"")
	out, err := db.Client.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: aws.String("orders-a")})
	require.NoError(t, err)
	require.Equal(t, "ends", *out.TimeToLiveDescription.AttributeName)
}

// TestLoadRequests checks that requests write to the tables that they name.
func TestLoadRequests(t *testing.T) {
	db := sortkeytest.New(t)
	designtest.Load(db, "testdata/deploy/template.yaml", "Stage=a")
	designtest.Load(db, "testdata/seeds.json")
	require.Equal(t, 2, len(sortkeytest.Items[map[string]any](db, "orders-a")))
}

func TestLoadFails(t *testing.T) {
	for _, tt := range []struct {
		path       string
		parameters []string
		want       string
	}{
		{"testdata/none.yaml", nil, "no such file"},
		{
			"testdata/deploy/template.yaml",
			[]string{"Stage"},
			"sortkeytest: parameter \"Stage\" has no value\nhint: write it as in Stage=test",
		},
		{"../../sortkeytest/testdata/files.json", nil, "testdata/files.json:"},
		{
			"testdata/deploy/template.yaml",
			[]string{"Stage=a"},
			"testdata/deploy/template.yaml: Resources.Orders: table orders-a: CreateTable: ResourceInUseException: ",
		},
	} {
		r := &recorder{TB: t}
		db := sortkeytest.New(r)
		db.Table("orders-a", "id")
		require.PanicsWithValue(t, r, func() { designtest.Load(db, tt.path, tt.parameters...) })
		require.Contains(t, r.failure, tt.want)
	}
}

// TestLoadMakesUpNames checks that Load makes up a name that depends on the deployment, and logs it.
func TestLoadMakesUpNames(t *testing.T) {
	r := &recorder{TB: t}
	db := sortkeytest.New(r)
	designtest.Load(db, "testdata/deploy/template.yaml")
	require.Equal(t, `sortkeytest: testdata/deploy/template.yaml: Stage is not given: "Stage" is used; `+
		`"Stage=…" gives it`, r.logged)
	require.Contains(t, db.Dump(), "orders-Stage: customer / placed:N\n")
}

// TestLoadIntoShared checks that a shared database gets the tables, and that each test that uses it logs what Load
// made up.
func TestLoadIntoShared(t *testing.T) {
	shared := sortkeytest.Shared(func(db *sortkeytest.DB) { designtest.Load(db, "testdata/deploy/template.yaml") })
	for range 2 {
		r := &recorder{TB: t}
		require.Contains(t, shared(r).Dump(), "orders-Stage: customer / placed:N\n")
		require.Contains(t, r.logged, "Stage is not given")
	}
	none := sortkeytest.Shared(func(db *sortkeytest.DB) { designtest.Load(db, "testdata/none.yaml") })
	r := &recorder{TB: t}
	require.PanicsWithValue(t, r, func() { none(r) })
	require.Contains(t, r.failure, "cannot fill the shared database: stat testdata/none.yaml")
}

// TestLoadIsNotDelayed checks that tables and items are ready at once, although the clock does not move.
func TestLoadIsNotDelayed(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	db := sortkeytest.New(t, func(o *sortkey.Options) {
		o.Simulate.TableDelay, o.Clock = time.Minute, func() time.Time { return now }
	})
	designtest.Load(db, "testdata/deploy/template.yaml", "Stage=test") // with a time to live
	designtest.Load(db, "testdata/drive.yaml")                         // with items
	require.Equal(t, now, db.Clock.Now())
}
