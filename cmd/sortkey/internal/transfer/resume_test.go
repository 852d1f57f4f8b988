package transfer_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/transfer"
	"github.com/sortkey/sortkey/sortkeytest"
)

// keyOf returns the key of a record of TestResumeChecks.
func keyOf(i int) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: fmt.Sprint(i)}}
}

// TestResumeChecks: an import is not resumed if its table has lost what it wrote.
func TestResumeChecks(t *testing.T) {
	deleteItem := func(t *testing.T, db *sortkeytest.DB, i int) {
		_, err := db.Client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String("Rows"), Key: keyOf(i)})
		require.NoError(t, err)
	}
	// journaled returns the number of records before the position in the journal.
	journaled := func(t *testing.T, path string) (count int) {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		_, after, ok := strings.Cut(string(text), `"records": `)
		require.True(t, ok)
		_, err = fmt.Sscan(strings.TrimRight(strings.Fields(after)[0], ","), &count)
		require.NoError(t, err)
		return count
	}
	// The table has other forms of these numbers, and another order of the sets.
	const forms = `"z":{"NS":["1e2","-0.0","3.10"]},"n":{"N":"1.50E+3"},"s":{"SS":["b","a"]},"m":{"M":{"y":{"N":"007"},"x":{"NULL":true}}}`
	for _, tt := range []struct {
		name   string
		change func(t *testing.T, db *sortkeytest.DB, at int)
		after  string // a record at the end of the file
		want   string
	}{
		{"nothing", func(*testing.T, *sortkeytest.DB, int) {}, "", ""},
		{"made anew", func(t *testing.T, db *sortkeytest.DB, _ int) {
			_, err := db.Client.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: aws.String("Rows")})
			require.NoError(t, err)
			db.Table("Rows", "pk")
		}, "", "table Rows is not the one that the interrupted import wrote to: it was created at "},
		{"older state", func(t *testing.T, db *sortkeytest.DB, at int) {
			for i := range at {
				deleteItem(t, db, i)
			}
		}, "", "which the interrupted import wrote: it may be an older state that was restored"},
		{"last one", func(t *testing.T, db *sortkeytest.DB, at int) { deleteItem(t, db, at-1) }, "", "lacks the item with the key"},
		{"item of older state", func(t *testing.T, db *sortkeytest.DB, at int) {
			db.PutJSON("Rows", fmt.Appendf(nil, `[{"pk":{"S":"%d"},"n":{"N":"0"}}]`, at-1))
		}, "", "as the interrupted import wrote it: it may be an older state that was restored"},
		{"replaced by a later record", func(t *testing.T, db *sortkeytest.DB, at int) {
			db.PutJSON("Rows", fmt.Appendf(nil, `[{"pk":{"S":"%d"},"n":{"N":"0"}}]`, at-1))
		}, "later", ""},
		{"earlier one", func(t *testing.T, db *sortkeytest.DB, at int) { deleteItem(t, db, at-100) }, "", ""},
		{"deleted by a later record", func(t *testing.T, db *sortkeytest.DB, at int) { deleteItem(t, db, at-1) }, "later", ""},
	} {
		for _, inside := range []bool{false, true} {
			if inside && tt.name != "older state" && tt.name != "nothing" && tt.name != "item of older state" && tt.name != "deleted by a later record" {
				continue // the same code checks
			}
			n, stop := 300, 210 // the records, and the one at which the import is interrupted
			if inside {
				n, stop = 2200, 2100 // in the third block
			}
			t.Run(fmt.Sprint(tt.name, inside), func(t *testing.T) {
				var text strings.Builder
				for i := range n {
					fmt.Fprintf(&text, `{"Metadata":{},"Keys":{"pk":{"S":"%d"}},"NewImage":{"pk":{"S":"%d"},%s}}`+"\n", i, i, forms)
				}
				if tt.after != "" {
					for i := range n {
						fmt.Fprintf(&text, `{"Metadata":{},"Keys":{"pk":{"S":"%d"}}}`+"\n", i)
					}
				}
				path := write(t, "a.jsonl", text.String())
				o := options(t, path)
				o.Every = 50
				db := sortkeytest.New(t)
				if inside {
					o.DB = db.DB
				}

				ctx, cancel := context.WithCancel(t.Context())
				o.Mask = func(_ string, it attr.Item) (attr.Item, error) {
					if string(it.Get("pk").Raw()) == fmt.Sprint(stop) {
						cancel()
					}
					return it, nil
				}
				_, err := importFiles(t, ctx, db.Client, o, path)
				require.ErrorIs(t, err, context.Canceled)
				at := journaled(t, o.Journal)
				require.Positive(t, at)
				require.Less(t, at, n)
				tt.change(t, db, at)

				o.Resume = true
				res, err := importFiles(t, t.Context(), db.Client, o, path)
				if tt.want == "" {
					require.NoError(t, err)
					require.Equal(t, int64(n), res.Sum().Written)
					return
				}
				require.ErrorIs(t, err, transfer.ErrRestart)
				require.ErrorContains(t, err, tt.want)

				o.Resume, o.Restart = false, true
				_, err = importFiles(t, t.Context(), db.Client, o, path)
				require.NoError(t, err)
				require.Len(t, itemsOf(t, db.Client, "Rows"), n)
			})
		}
	}
}

// TestResumeNextFile: a later file that the interrupted import had begun may have replaced what
// the one before it wrote.
func TestResumeNextFile(t *testing.T) {
	var first, second strings.Builder
	for i := range 60 {
		fmt.Fprintf(&first, `{"Item":{"pk":{"S":"%d"}}}`+"\n", i)
		fmt.Fprintf(&second, `{"Item":{"pk":{"S":"%d"},"n":{"N":"2"}}}`+"\n", 59-i)
	}
	paths := []string{write(t, "a.jsonl", first.String()), write(t, "b.jsonl", second.String())}
	o := options(t, paths[0])
	o.Workers = 1
	db := sortkeytest.New(t)
	batches := 0
	client := hooked(db, func(context.Context, *dynamodb.BatchWriteItemInput) (*dynamodb.BatchWriteItemOutput, error) {
		if batches++; batches > 4 {
			return nil, errors.New("gone")
		}
		return nil, nil
	})
	_, err := importFiles(t, t.Context(), client, o, paths...)
	require.ErrorContains(t, err, "gone")
	require.Contains(t, strings.Join(itemsOf(t, db.Client, "Rows"), ""), `"n"`)

	o.Resume = true
	res, err := importFiles(t, t.Context(), db.Client, o, paths...)
	require.NoError(t, err)
	require.Equal(t, int64(120), res.Sum().Written)
}

// TestResumeExpired: an item that the table may have expired is not missed, but one that is due
// much later is. The result says if nothing could be checked.
func TestResumeExpired(t *testing.T) {
	soon := time.Now().Add(time.Hour).Unix()
	for _, tt := range []struct {
		ttl      string
		refused  bool
		warnings int
	}{
		{`"ttl":{"N":"1"}`, false, 1},
		{fmt.Sprintf(`"ttl":{"N":"%d"}`, soon), false, 1},
		{`"ttl":{"N":"4000000000"}`, true, 0},
		{`"ttl":{"N":"9.9e120"}`, true, 0},
		{`"ttl":{"S":"1"}`, true, 0},
		{`"other":{"N":"1"}`, true, 0},
	} {
		t.Run(tt.ttl, func(t *testing.T) {
			var text strings.Builder
			for i := range 200 {
				fmt.Fprintf(&text, `{"Item":{"pk":{"S":"%d"},%s}}`+"\n", i, tt.ttl)
			}
			path := write(t, "a.jsonl", text.String())
			o := options(t, path)
			o.Every, o.Workers = 100, 1
			db := sortkeytest.New(t)
			db.Table("Rows", "pk")
			_, err := db.Client.UpdateTimeToLive(t.Context(), &dynamodb.UpdateTimeToLiveInput{
				TableName: aws.String("Rows"), TimeToLiveSpecification: &types.TimeToLiveSpecification{
					AttributeName: aws.String("ttl"), Enabled: aws.Bool(true),
				},
			})
			require.NoError(t, err)

			batches := 0
			client := hooked(db, func(context.Context, *dynamodb.BatchWriteItemInput) (*dynamodb.BatchWriteItemOutput, error) {
				if batches++; batches > 5 {
					return nil, errors.New("gone")
				}
				return nil, nil
			})
			_, err = importFiles(t, t.Context(), client, o, path)
			require.ErrorContains(t, err, "gone")
			for i := range 200 {
				_, err := db.Client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String("Rows"), Key: keyOf(i)})
				require.NoError(t, err)
			}

			o.Resume = true
			res, err := importFiles(t, t.Context(), db.Client, o, path)
			require.Len(t, res.Warnings, tt.warnings)
			if tt.refused {
				require.ErrorIs(t, err, transfer.ErrRestart)
				require.ErrorContains(t, err, "lacks the item with the key")
				return
			}
			require.NoError(t, err)
			require.Equal(t, int64(200), res.Sum().Written)
			require.Contains(t, res.Warnings[0], "could not be checked that table Rows still has")
		})
	}
}
