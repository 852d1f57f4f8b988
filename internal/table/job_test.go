package table_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/life"
	"github.com/sortkey/sortkey/internal/table/tabletest"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/memory"
)

func anyJobs([]life.Job) error { return nil }

// startJob starts job 1 with table t, whose index G is CREATING too.
func startJob(t *testing.T, f *tabletest.Fixture) (life.Job, *table.Definition) {
	t.Helper()
	job := life.Job{Kind: "import", ID: "1", Value: []byte("begun")}
	tb, err := f.DB.StartJob(t.Context(), job, tabletest.Define(t, "t", "PK:S", "G g:S - ALL"), anyJobs)
	require.NoError(t, err)
	require.Equal(t, table.StatusCreating, tb.Definition().Status(time.Now()))
	require.Equal(t, table.StatusCreating, tb.Definition().Global[0].Status(time.Now()))
	return job, tb.Definition()
}

// TestJob starts a job with a table, continues it after a restart and ends it.
func TestJob(t *testing.T) {
	for name, open := range map[string]func() store.Store{
		"alone": func() store.Store { return memory.Open() }, "shared": func() store.Store { return newSharer() },
	} {
		t.Run(name, func(t *testing.T) {
			st := open()
			f := begin(t, st)
			job, def := startJob(t, f)
			refused := errors.New("refused")
			_, err := f.DB.StartJob(t.Context(), life.Job{
				Kind: "import", ID: "2",
			}, tabletest.Define(t, "u", "PK:S"), func(list []life.Job) error {
				require.Equal(t, []life.Job{job}, list)
				return refused
			})
			require.ErrorIs(t, err, refused)
			require.Equal(t, []string{"t"}, tabletest.Names(t, f.DB))
			_, err = f.DB.StartJob(t.Context(), life.Job{Kind: "import", ID: "2"},
				tabletest.Define(t, "t", "PK:S"), anyJobs)
			require.Equal(t, table.InUse, tabletest.KindOf(err))
			_, err = f.DB.StartJob(t.Context(), life.Job{Kind: "export", ID: "1", Ended: true}, nil, anyJobs)
			require.NoError(t, err)

			next := begin(t, st)
			list, err := next.DB.UnfinishedJobs(t.Context())
			require.NoError(t, err)
			require.Equal(t, []life.Job{{Kind: "import", ID: "1"}}, list)
			_, err = next.TryPut("t", `{'PK':{'S':'a'}}`, nil)
			require.Equal(t, table.NotFound, tabletest.KindOf(err))
			_, err = next.DB.Delete(t.Context(), "t")
			require.Equal(t, table.InUse, tabletest.KindOf(err))
			half := life.Job{Kind: "import", ID: "1", Value: []byte("half")}
			require.NoError(t, next.DB.RunJob(t.Context(), "import", "1", func(
				ctx context.Context, now life.Job,
			) error {
				require.Equal(t, job, now)
				// In a shared store, one server at a time runs the job.
				require.NoError(t, f.DB.RunJob(t.Context(), "import", "1", func(context.Context, life.Job) error {
					require.False(t, f.DB.Shared(), "two servers run one job")
					return nil
				}))
				return next.DB.Update(ctx, func(tx *table.Tx) error {
					tb, err := tx.Defined("t")
					require.NoError(t, err)
					_, err = tx.Put(tb, tabletest.Item(t, `{'PK':{'S':'a'},'g':{'S':'x'}}`), nil)
					require.NoError(t, err)
					return life.SaveJob(tx, now, half)
				})
			}))
			ended := life.Job{Kind: "import", ID: "1", Value: []byte("ended"), Ended: true}
			of := &life.JobTable{Name: "t", ID: def.ID}
			require.ErrorIs(t, next.DB.EndJob(t.Context(), job, ended, of), life.ErrJobMoved)
			require.NoError(t, next.DB.EndJob(t.Context(), half, ended, of))
			require.ErrorIs(t, next.DB.EndJob(t.Context(), half, ended, of), life.ErrJobMoved)
			tb, err := next.DB.Describe(t.Context(), "t")
			require.NoError(t, err)
			require.Equal(t, table.StatusActive, tb.Definition().Status(time.Now()))
			require.Equal(t, table.StatusActive, tb.Definition().Global[0].Status(time.Now()))
			next.Put("t", `{'PK':{'S':'b'}}`)
			require.EqualValues(t, 2, items(t, next.DB, "t"))
			now, err := next.DB.Job(t.Context(), "import", "1")
			require.NoError(t, err)
			require.Equal(t, ended, now)
			list, err = next.DB.UnfinishedJobs(t.Context())
			require.NoError(t, err)
			require.Empty(t, list)
			require.NoError(t, next.DB.RunJob(t.Context(), "import", "1", func(context.Context, life.Job) error {
				t.Error("a job that has ended runs")
				return nil
			}))
		})
	}
}

// TestJobRemovesItsTable ends a job that removes its table, and one whose table has been replaced by another one.
func TestJobRemovesItsTable(t *testing.T) {
	f := begin(t, memory.Open())
	job, def := startJob(t, f)
	ended := life.Job{Kind: "import", ID: "1", Value: []byte("failed"), Ended: true}
	other := &life.JobTable{Name: "t", ID: def.ID + "x", Remove: true}
	require.ErrorIs(t, f.DB.EndJob(t.Context(), life.Job{Kind: "import", ID: "1"}, ended, other), life.ErrJobMoved)
	require.NoError(t, f.DB.EndJob(t.Context(), job, ended, &life.JobTable{Name: "t", ID: def.ID, Remove: true}))
	require.Empty(t, tabletest.Names(t, f.DB))
	again, _ := startJob(t, f)
	require.NoError(t, f.DB.EndJob(t.Context(), again, ended, other))
	require.Equal(t, []string{"t"}, tabletest.Names(t, f.DB))
}
