package sortkey_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
)

// A Job is a row of a queue.
type Job struct {
	Queue string `dynamodbav:"queue"`
	At    int    `dynamodbav:"at"`
	Text  string `dynamodbav:"text"`
}

func queue(t *testing.T, jobs, size int) (*sortkey.DB, *sortkey.TableOf[Job]) {
	db, err := sortkey.Open(sortkey.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	require.NoError(t, db.CreateTable(t.Context(), "Jobs", "queue / at:N", sortkey.Global("ByQueue", "queue")))
	table := sortkey.Table[Job](db, "Jobs")
	for i := range jobs {
		require.NoError(t, table.Put(t.Context(), Job{"q", i, strings.Repeat("x", size)}))
	}
	return db, table
}

// TestLoopInUpdate tests that a loop in an Update sees the rows as they were when it began, while its body moves them
// to places that the loop has not read yet.
func TestLoopInUpdate(t *testing.T) {
	for _, tt := range []struct{ jobs, size int }{{1, 10}, {255, 10}, {256, 10}, {257, 10}, {600, 5000}} {
		for _, kind := range []string{"Query", "Descending", "Filter", "Scan", "Nested"} {
			t.Run(fmt.Sprint(tt.jobs, "x", tt.size, " ", kind), func(t *testing.T) {
				db, jobs := queue(t, tt.jobs, tt.size)
				visited, inner := 0, 0
				move := func(ctx context.Context, j Job) error {
					at := j.At
					if j.At += 1_000_000; kind == "Descending" {
						j.At = -1 - at
					}
					visited++
					return errors.Join(jobs.Delete(ctx, "q", at), jobs.Put(ctx, j))
				}
				require.NoError(t, db.Update(t.Context(), func(ctx context.Context) error {
					var loop iter.Seq2[Job, error]
					switch kind {
					case "Scan":
						loop = jobs.Scan(ctx)
					case "Descending":
						loop = jobs.Query(ctx, "q", sortkey.Descending)
					case "Filter":
						loop = jobs.Query(ctx, "q", sortkey.Where("attribute_exists(text)"))
					default:
						loop = jobs.Query(ctx, "q")
					}
					for j, err := range loop {
						if err != nil {
							return err
						}
						if err := move(ctx, j); err != nil {
							return err
						}
						if kind == "Nested" && visited == 1 {
							for _, err := range jobs.Query(ctx, "q") {
								if err != nil {
									return err
								}
								inner++
							}
						}
					}
					return nil
				}))
				require.Equal(t, tt.jobs, visited)
				if kind == "Nested" {
					require.Equal(t, tt.jobs, inner)
				}
				after := 0
				for j, err := range jobs.Query(t.Context(), "q") {
					require.NoError(t, err)
					require.True(t, j.At >= 1_000_000 || j.At < 0, j.At)
					after++
				}
				require.Equal(t, tt.jobs, after)
			})
		}
	}
}

// TestLoopLimits tests the limit, an early end, an abandoned loop and an index within an Update.
func TestLoopLimits(t *testing.T) {
	db, jobs := queue(t, 600, 10)
	count := func(ctx context.Context, stop int, partition any, opts ...sortkey.QueryOption) (n int) {
		for _, err := range jobs.Query(ctx, partition, opts...) {
			require.NoError(t, err)
			if n++; n == stop {
				break
			}
		}
		return n
	}
	require.NoError(t, db.Update(t.Context(), func(ctx context.Context) error {
		require.Equal(t, 257, count(ctx, 0, "q", sortkey.Limit(257)))
		require.Equal(t, 3, count(ctx, 3, "q"))
		require.Equal(t, 3, count(ctx, 0, "q", sortkey.Where("attribute_exists(text)"), sortkey.Limit(3)))
		require.Equal(t, 100, count(ctx, 0, "q", sortkey.Compare(">=", 500)))

		next, stop := iter.Pull2(jobs.Query(ctx, "q"))
		t.Cleanup(stop) // runs long after the transaction
		_, err, ok := next()
		require.True(t, ok)
		require.NoError(t, err)
		require.NoError(t, jobs.Put(ctx, Job{"q", 700, "y"}))

		n := 0
		for _, err := range jobs.Index("ByQueue").Query(ctx, "q") {
			require.NoError(t, err)
			n++
		}
		require.Equal(t, 601, n)
		return nil
	}))
	require.Equal(t, 601, count(t.Context(), 0, "q"))
}

// TestMisfitInUpdate tests that a loop in an Update continues after items that do not fit.
func TestMisfitInUpdate(t *testing.T) {
	db, jobs := queue(t, 5, 10)
	type wrong struct {
		Queue string `dynamodbav:"queue"`
		At    int    `dynamodbav:"at"`
		Text  int    `dynamodbav:"text"`
	}
	misfits := sortkey.Table[wrong](db, "Jobs")
	for _, opts := range [][]sortkey.QueryOption{{}, {sortkey.Only("text")}, {sortkey.Only("text"), sortkey.Limit(3)}} {
		var keys []string
		require.NoError(t, db.Update(t.Context(), func(ctx context.Context) error {
			for _, err := range misfits.Query(ctx, "q", opts...) {
				misfit, ok := errors.AsType[*sortkey.DecodeError](err)
				require.True(t, ok, "%v", err)
				keys = append(keys, misfit.Key.Get("at").String())
			}
			return jobs.Put(ctx, Job{"q", 1, strings.Repeat("x", 10)})
		}))
		want := []string{"{N:0}", "{N:1}", "{N:2}", "{N:3}", "{N:4}"}
		require.Equal(t, want[:len(keys)], keys)
		require.Len(t, keys, map[int]int{0: 5, 1: 5, 2: 3}[len(opts)])
	}
}
