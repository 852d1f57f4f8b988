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
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/transfer"
	"github.com/sortkey/sortkey/sortkeytest"
)

// TestResumeChecks: an import cannot be resumed into a later table of the same name.
func TestResumeChecks(t *testing.T) {
	// journaled returns the number of records before the position in the journal.
	journaled := func(t *testing.T, path string) (count int) {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		last := text[strings.LastIndex(string(text), `"records":`):]
		_, err = fmt.Sscanf(string(last), `"records":%d`, &count)
		require.NoError(t, err)
		return count
	}
	for _, tt := range []struct {
		name   string
		change func(t *testing.T, db *sortkeytest.DB)
		want   string
	}{
		{"nothing", func(*testing.T, *sortkeytest.DB) {}, ""},
		{"made anew", func(t *testing.T, db *sortkeytest.DB) {
			_, err := db.Client.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: aws.String("Rows")})
			require.NoError(t, err)
			db.Table("Rows", "pk")
		}, "table Rows is not the one that the interrupted import wrote to: it was created at "},
	} {
		for _, inside := range []bool{false, true} {
			const n, stop = 4_000, 210 // number of records, and the record at which the import is interrupted
			t.Run(fmt.Sprint(tt.name, inside), func(t *testing.T) {
				form, items := `{"PutRequest":{"Item":{"pk":{"S":"%d"}}}}`, n
				if !inside {
					form, items = `{"DeleteRequest":{"Key":{"pk":{"S":"%d"}}}}`, 0
				}
				var text strings.Builder
				for i := range n {
					fmt.Fprintf(&text, form+"\n", i)
				}
				path := write(t, "a.jsonl", text.String())
				o := options(t, path)
				o.Every = 50
				db := sortkeytest.New(t)
				db.Clock.Set(time.Unix(1_700_000_000, 0)) // both tables have this creation time
				if inside {
					o.DB = db.DB
				}

				ctx, cancel := context.WithCancel(t.Context())
				o.Progress = func(p transfer.Progress) {
					if p.Items >= int64(stop) {
						cancel()
					}
				}
				_, err := importFiles(t, ctx, db.Client, o, path)
				require.ErrorIs(t, err, context.Canceled)
				at := journaled(t, o.Journal)
				require.Positive(t, at)
				require.Less(t, at, n)
				tt.change(t, db)

				o.Resume, o.Progress, o.Every = true, nil, 0
				res, err := importFiles(t, t.Context(), db.Client, o, path)
				if tt.want == "" {
					require.NoError(t, err)
					require.Equal(t, int64(n), res.Sum().Written+res.Sum().Deleted)
					return
				}
				require.ErrorIs(t, err, transfer.ErrRestart)
				require.ErrorContains(t, err, tt.want)
				require.Equal(t, at, journaled(t, o.Journal), "the journal stays as it was")

				o.Resume, o.Restart = false, true
				_, err = importFiles(t, t.Context(), db.Client, o, path)
				require.NoError(t, err)
				require.Len(t, itemsOf(t, db.Client, "Rows"), items)
			})
		}
	}
}

// TestResumeNextFile: the interrupted import may have begun a later file, whose items have replaced items of the file
// before it.
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
