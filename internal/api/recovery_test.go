package api_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestRestoreToAnySecond makes random changes, to single items and in transactions, and then restores the table to
// many seconds of that time. Each restored table must have the items and index entries of that second, even after the
// oldest changes have been removed.
func TestRestoreToAnySecond(t *testing.T) {
	e := newEndpoint(t, tableR)
	indexes := []string{"index1", "index2", "index3", "index4"}
	e.fill(12)
	e.answer("UpdateContinuousBackups", `{"TableName":"RRR","PointInTimeRecoverySpecification":{"PointInTimeRecoveryE`+
		`nabled":true,"RecoveryPeriodInDays":2}}`)
	r := rand.New(rand.NewPCG(3, 4))
	write := func() {
		key := fmt.Sprintf(`"a":{"S":"a%d"},"b":{"S":"b%d"}`, r.IntN(3), r.IntN(5))
		item := fmt.Sprintf(`%s,"c":{"S":"c%d"},"d":{"S":"d%d"},"e":{"N":"%d"}`, key, r.IntN(3), r.IntN(3), r.IntN(100))
		switch r.IntN(4) {
		case 0:
			e.answer("DeleteItem", `{"TableName":"RRR","Key":{`+key+`}}`)
		case 1:
			e.answer("UpdateItem",
				`{"TableName":"RRR","Key":{`+key+
					`},"UpdateExpression":"SET c = :c ADD n `+
					`:n","ExpressionAttributeValues":{":c":{"S":"c9"},":n":{"N":"1"}}}`)
		case 2:
			e.answer("TransactWriteItems",
				`{"TransactItems":[{"Put":{"TableName":"RRR","Item":{`+item+
					`}}},{"Put":{"TableName":"RRR","Item":{"a":{"S":"z"},"b":{"S":"`+fmt.Sprint(r.IntN(5))+`"}}}}]}`)
		default:
			e.answer("PutItem", `{"TableName":"RRR","Item":{`+item+`}}`)
		}
	}
	type moment struct {
		at   time.Time
		want string
	}
	var moments []moment
	for range 40 {
		for range r.IntN(6) {
			write()
		}
		moments = append(moments, moment{e.now, e.contents("RRR", indexes...)})
		e.sleep(time.Duration(1+r.IntN(2*60*60)) * time.Second)
	}
	restore := func(at time.Time) string {
		return fmt.Sprintf(`{"TargetTableName":"New","SourceTableName":"RRR","RestoreDateTime":%d}`, at.Unix())
	}
	compare := func() {
		t.Helper()
		for _, m := range moments {
			e.answer("RestoreTableToPointInTime", restore(m.at))
			if got := e.contents("New", indexes...); got != m.want {
				t.Fatalf("restored to %v\n%s\nwant\n%s", m.at, got, m.want)
			}
			e.answer("DeleteTable", `{"TableName":"New"}`)
		}
	}
	compare()
	begun := moments[0].at
	e.refuse("RestoreTableToPointInTime",
		restore(begun.Add(-time.Second)), fmt.Sprintf("InvalidRestoreTimeException: RestoreDateTime '%s' must be "+
			"within EarliestRestorableDateTime '%s' and LatestRestorableDateTime '%s'",
			begun.Add(-time.Second).Format(time.RFC3339), begun.Format(time.RFC3339), e.now.Format(time.RFC3339)))

	// The sweep removes changes older than two days, so the table cannot be restored to a time before that.
	e.now = moments[20].at.Add(48 * time.Hour)
	if _, err := e.db.Sweep(context.Background(), e.now); err != nil {
		t.Fatal(err)
	}
	moments = moments[20:]
	compare()
	e.refuse("RestoreTableToPointInTime",
		restore(moments[0].at.Add(-time.Second)), fmt.Sprintf("InvalidRestoreTimeException: RestoreDateTime '%s' "+
			"must be within EarliestRestorableDateTime '%s' and LatestRestorableDateTime '%s'",
			moments[0].at.Add(-time.Second).Format(time.RFC3339), moments[0].at.Format(time.RFC3339),
			e.now.Format(time.RFC3339)))

	// Disabling recovery removes the history; enabling it again begins a new one.
	for _, on := range []bool{false, true} {
		e.answer("UpdateContinuousBackups",
			fmt.Sprintf(`{"TableName":"RRR","PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":%t}}`, on))
	}
	want := e.contents("RRR", indexes...)
	e.sleep(time.Hour)
	write()
	moments = []moment{{e.now.Add(-time.Minute), want}, {e.now, e.contents("RRR", indexes...)}}
	compare()
}

// TestRestoreOfTransaction writes two items in a transaction that takes longer than a second. A restore to any second
// has both items or none.
func TestRestoreOfTransaction(t *testing.T) {
	e := newEndpoint(t, tableR)
	e.answer("UpdateContinuousBackups", `{"TableName":"RRR","PointInTimeRecoverySpecification":{"PointInTimeRecoveryE`+
		`nabled":true}}`)
	begun := e.now.Truncate(time.Second)
	e.now = begun.Add(5*time.Second + 200*time.Millisecond)
	clock := e.db.Clock
	e.db.Clock = func() time.Time {
		e.now = e.now.Add(50 * time.Millisecond)
		return clock()
	}
	var puts []string
	for i := range 20 {
		puts = append(puts, fmt.Sprintf(`{"Put":{"TableName":"RRR","Item":{"a":{"S":"a%d"},"b":{"S":"b"}}}}`, i))
	}
	e.answer("TransactWriteItems", `{"TransactItems":[`+strings.Join(puts, ",")+`]}`)
	e.db.Clock = clock

	e.now = begun.Add(10 * time.Second)
	for second := 5; second < 8; second++ {
		e.answer("RestoreTableToPointInTime", fmt.Sprintf(
			`{"TargetTableName":"New","SourceTableName":"RRR","RestoreDateTime":%d}`, begun.Unix()+int64(second)))
		n := strings.Count(e.contents("New"), `"b":{"S":"b"}`)
		require.Contains(t, []int{0, len(puts)}, n, "second %d", second)
		e.answer("DeleteTable", `{"TableName":"New"}`)
	}
}
