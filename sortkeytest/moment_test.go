package sortkeytest_test

import (
	"fmt"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/sortkeytest"
)

// TestMoments reads while tables are created and deleted, the clock moves by hours, and transactions write two
// tables. Methods that read the whole database must see one moment of it, and must not fail the test.
func TestMoments(t *testing.T) {
	db := streamed(t)
	before := db.Fork(t)
	db.Table("Left", "id")
	db.Table("Right", "id")
	put := func(table string, n int) types.TransactWriteItem {
		item := map[string]types.AttributeValue{
			"id": &types.AttributeValueMemberS{Value: "one"}, "n": &types.AttributeValueMemberN{Value: fmt.Sprint(n)},
		}
		return types.TransactWriteItem{Put: &types.Put{TableName: &table, Item: item}}
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	beside := func(step func(n int)) {
		wg.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
					step(n)
				}
			}
		})
	}
	beside(func(n int) {
		_, err := db.Client.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{
			TransactItems: []types.TransactWriteItem{put("Left", n), put("Right", n)},
		})
		if err != nil {
			t.Error(err)
		}
	})
	beside(func(int) {
		db.Table("Coming", "id")
		db.Put("Coming", id("a"))
		if _, err := db.Client.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{
			TableName: aws.String("Coming"),
		}); err != nil {
			t.Error(err)
		}
	})
	beside(func(n int) {
		db.Put("Events", id(fmt.Sprint("e", n%10)))
		db.Clock.Advance(5 * time.Hour)
	})

	n := regexp.MustCompile(`n: (\d+)`)
	source := db.EventSource("Events", handler(func(event) {}), func(s *sortkeytest.EventSource) { s.OnFailure = func([]byte) {} })
	for range 100 {
		for _, text := range []string{db.Dump(), db.Diff(before)} {
			if both := n.FindAllStringSubmatch(text, -1); len(both) == 2 && both[0][1] != both[1][1] {
				t.Errorf("a transaction is there in part:\n%s", text)
			}
		}
		for range db.Changes("Events") {
		}
		source.Deliver()
	}
	close(stop)
	wg.Wait()
}

// TestDeletedStreams tests that the changes of a deleted table are delivered, as in DynamoDB.
func TestDeletedStreams(t *testing.T) {
	db := streamed(t)
	putEach(db, "ab")
	got := ""
	source := db.EventSource("Events", handler(func(e event) { got += e.ids() }))
	_, err := db.Client.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: aws.String("Events")})
	require.NoError(t, err)
	source.Deliver()
	require.Equal(t, "ab", got)
	count := func() (n int) {
		for range db.Changes("Events") {
			n++
		}
		return n
	}
	require.Equal(t, 2, count())

	db.Clock.Advance(25 * time.Hour)
	source.Deliver()
	require.Equal(t, "ab", got)
	require.Contains(t, failure(t, func(tb testing.TB) {
		for range db.With(tb).Changes("Events") {
		}
	}), "table Events: ResourceNotFoundException")
}
