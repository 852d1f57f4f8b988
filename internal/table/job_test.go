package table_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/memory"
)

func anyJobs([]table.Job) error { return nil }

// startJob starts the job 1 with the table t, whose index G is CREATING too.
func startJob(t *testing.T, f *fixture) (table.Job, *table.Definition) {
	t.Helper()
	job := table.Job{Kind: "import", ID: "1", Value: []byte("begun")}
	tb, err := f.db.StartJob(t.Context(), job, define(t, "t", "PK:S", "G g:S - ALL"), anyJobs)
	require.NoError(t, err)
	require.Equal(t, table.StatusCreating, tb.Definition().Status(time.Now()))
	require.Equal(t, table.StatusCreating, tb.Definition().Global[0].Status(time.Now()))
	return job, tb.Definition()
}

// TestJob records a job with a table, continues it after a restart and ends it.
func TestJob(t *testing.T) {
	for name, open := range map[string]func() store.Store{
		"alone": func() store.Store { return memory.Open() }, "shared": func() store.Store { return newSharer() },
	} {
		t.Run(name, func(t *testing.T) {
			st := open()
			f := begin(t, st)
			job, def := startJob(t, f)
			refused := errors.New("refused")
			_, err := f.db.StartJob(t.Context(), table.Job{Kind: "import", ID: "2"}, define(t, "u", "PK:S"), func(list []table.Job) error {
				require.Equal(t, []table.Job{job}, list)
				return refused
			})
			require.ErrorIs(t, err, refused)
			require.Equal(t, []string{"t"}, names(t, f.db))
			_, err = f.db.StartJob(t.Context(), table.Job{Kind: "import", ID: "2"}, define(t, "t", "PK:S"), anyJobs)
			require.Equal(t, table.InUse, kindOf(err))
			_, err = f.db.StartJob(t.Context(), table.Job{Kind: "export", ID: "1", Ended: true}, nil, anyJobs)
			require.NoError(t, err)

			next := begin(t, st)
			list, err := next.db.UnfinishedJobs(t.Context())
			require.NoError(t, err)
			require.Equal(t, []table.Job{{Kind: "import", ID: "1"}}, list)
			_, err = next.tryPut("t", `{'PK':{'S':'a'}}`, nil)
			require.Equal(t, table.NotFound, kindOf(err))
			_, err = next.db.Delete(t.Context(), "t")
			require.Equal(t, table.InUse, kindOf(err))
			half := table.Job{Kind: "import", ID: "1", Value: []byte("half")}
			require.NoError(t, next.db.RunJob(t.Context(), "import", "1", func(ctx context.Context, now table.Job) error {
				require.Equal(t, job, now)
				// One at a time in a shared store.
				require.NoError(t, f.db.RunJob(t.Context(), "import", "1", func(context.Context, table.Job) error {
					require.False(t, f.db.Shared(), "two servers run one job")
					return nil
				}))
				return next.db.Update(ctx, func(tx *table.Tx) error {
					tb, err := tx.Defined("t")
					require.NoError(t, err)
					_, err = tx.Put(tb, item(t, `{'PK':{'S':'a'},'g':{'S':'x'}}`), nil)
					require.NoError(t, err)
					return tx.SaveJob(now, half)
				})
			}))
			ended := table.Job{Kind: "import", ID: "1", Value: []byte("ended"), Ended: true}
			of := &table.JobTable{Name: "t", ID: def.ID}
			require.ErrorIs(t, next.db.EndJob(t.Context(), job, ended, of), table.ErrJobMoved)
			require.NoError(t, next.db.EndJob(t.Context(), half, ended, of))
			require.ErrorIs(t, next.db.EndJob(t.Context(), half, ended, of), table.ErrJobMoved)
			tb, err := next.db.Describe(t.Context(), "t")
			require.NoError(t, err)
			require.Equal(t, table.StatusActive, tb.Definition().Status(time.Now()))
			require.Equal(t, table.StatusActive, tb.Definition().Global[0].Status(time.Now()))
			next.put("t", `{'PK':{'S':'b'}}`)
			require.EqualValues(t, 2, items(t, next.db, "t"))
			now, err := next.db.Job(t.Context(), "import", "1")
			require.NoError(t, err)
			require.Equal(t, ended, now)
			list, err = next.db.UnfinishedJobs(t.Context())
			require.NoError(t, err)
			require.Empty(t, list)
			require.NoError(t, next.db.RunJob(t.Context(), "import", "1", func(context.Context, table.Job) error {
				t.Error("a job that has ended runs")
				return nil
			}))
		})
	}
}

// TestJobRemovesItsTable ends a job whose table is not wanted, and one whose table another
// one has replaced.
func TestJobRemovesItsTable(t *testing.T) {
	f := begin(t, memory.Open())
	job, def := startJob(t, f)
	ended := table.Job{Kind: "import", ID: "1", Value: []byte("failed"), Ended: true}
	other := &table.JobTable{Name: "t", ID: def.ID + "x", Remove: true}
	require.ErrorIs(t, f.db.EndJob(t.Context(), table.Job{Kind: "import", ID: "1"}, ended, other), table.ErrJobMoved)
	require.NoError(t, f.db.EndJob(t.Context(), job, ended, &table.JobTable{Name: "t", ID: def.ID, Remove: true}))
	require.Empty(t, names(t, f.db))
	again, _ := startJob(t, f)
	require.NoError(t, f.db.EndJob(t.Context(), again, ended, other))
	require.Equal(t, []string{"t"}, names(t, f.db))
}
