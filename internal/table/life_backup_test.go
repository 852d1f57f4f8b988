package table_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/life"
	"github.com/sortkey/sortkey/internal/table/tabletest"
	"github.com/sortkey/sortkey/store/memory"
)

func newBackup(id string) *life.Backup {
	return &life.Backup{ID: id, Name: "copy", Created: time.Unix(1, 0)}
}

// TestBackupIsOneMoment writes between the updates of a backup. The backup must have the table as it was at the
// beginning, and a restore must give the whole table with its indexes.
func TestBackupIsOneMoment(t *testing.T) {
	ctx := t.Context()
	st := unlimited(filled(t, 2500))
	f := begin(t, st)
	require.NoError(t, addIndex(t, f.DB))
	require.NoError(t, f.DB.Recover(ctx))
	want, entries := f.Scan("t"), tabletest.ScanIndex(f, "t", "G")
	st.atScan = func() {
		st.atScan = nil
		f.Put("t", `{'PK':{'S':'1'}}`)
		f.Delete("t", `{'PK':{'S':'2'}}`)
		f.Put("t", `{'PK':{'S':'new'},'g':{'S':'g1'}}`)
	}
	b := newBackup("b")
	st.scans = 0
	require.NoError(t, f.DB.CreateBackup(ctx, "t", b))
	st.atScan = nil
	require.EqualValues(t, 2500, b.Items)

	for range 2 { // the second time from a database that was opened again
		def := *b.Table
		def.Name = fmt.Sprintf("restored%d", len(tabletest.Names(t, f.DB)))
		_, err := f.DB.RestoreBackup(ctx, &def, "b")
		require.NoError(t, err)
		require.Equal(t, want, f.Scan(def.Name))
		require.Equal(t, entries, tabletest.ScanIndex(f, def.Name, "G"))
		restored, err := f.DB.Describe(t.Context(), def.Name)
		require.NoError(t, err)
		n, _ := restored.Items()
		require.EqualValues(t, 2500, n)
		require.NoError(t, f.DB.Close(ctx))
		f = begin(t, st)
		require.True(t, f.DB.Recovered())
	}
	def := *b.Table
	def.Name = "again"
	_, err := f.DB.Copy(ctx, &def, "t", time.Time{})
	require.NoError(t, err)
	require.Equal(t, f.Scan("t"), f.Scan("again"))
}

// TestBackupCut ends the process after each update of a backup and of a restore. After recovery, nothing must be left
// of what was incomplete.
func TestBackupCut(t *testing.T) {
	ctx := t.Context()
	base := memory.Open()
	f := begin(t, base)
	f.Create("t", "PK:S", "G g:S - ALL")
	for i := range 2500 {
		f.Put("t", fmt.Sprintf(`{'PK':{'S':'%d'},'g':{'S':'g%d'}}`, i, i%7))
	}
	require.NoError(t, f.DB.CreateBackup(ctx, "t", newBackup("old")))
	for what, do := range map[string]func(*tabletest.Fixture) error{
		"backup": func(f *tabletest.Fixture) error { return f.DB.CreateBackup(ctx, "t", newBackup("b")) },
		"restore": func(f *tabletest.Fixture) error {
			def := tabletest.Define(t, "new", "PK:S", "G g:S - ALL")
			_, err := f.DB.RestoreBackup(ctx, def, "old")
			return err
		},
	} {
		t.Run(what, func(t *testing.T) {
			cuts := 0
			for ; ; cuts++ {
				st := unlimited(fork(t, base))
				f := begin(t, st)
				rows := length(st)
				st.updates = cuts
				err := do(f)
				if err == nil {
					break
				}
				require.ErrorIs(t, err, errCut)
				f = begin(t, st.Store)
				require.NoError(t, f.DB.Recover(ctx))
				require.True(t, f.DB.Recovered())
				require.Equal(t, rows, length(st))
				require.Len(t, tabletest.Names(t, f.DB), 1)
				list, err := f.DB.Backups(ctx)
				require.NoError(t, err)
				require.Len(t, list, 1)
				require.NoError(t, do(f), "the same again")
			}
			require.Equal(t, 6, cuts, "spaces, their list, three parts, the end")
		})
	}
}

// TestBackupFails checks that a backup that fails while the process goes on cleans up at once.
func TestBackupFails(t *testing.T) {
	ctx := t.Context()
	st := unlimited(filled(t, 50))
	f := begin(t, st)
	require.NoError(t, f.DB.CreateBackup(ctx, "t", newBackup("b")))
	rows := length(st)
	bad := tabletest.Define(t, "new", "PK:S", "G g:S - ALL")
	for _, err := range []error{
		f.DB.CreateBackup(ctx, "none", newBackup("c")),
		second(f.DB.RestoreBackup(ctx, bad, "none")),
		second(f.DB.Copy(ctx, bad, "none", time.Time{})),
	} {
		require.Equal(t, table.NotFound, tabletest.KindOf(err))
	}
	require.Equal(t, table.InUse,
		tabletest.KindOf(second(f.DB.RestoreBackup(ctx, tabletest.Define(t, "t", "PK:S"), "b"))))
	require.Equal(t, rows, length(st))
	require.NoError(t, f.DB.DeleteBackup(ctx, "b"))
	require.NoError(t, f.DB.DeleteBackup(ctx, "b"))
	require.Equal(t, rows-51, length(st))
}

func second[T any](_ T, err error) error { return err }

// TestBackupBlocksNothing creates and changes other tables, and even deletes the table itself, while it is copied.
// Nothing must wait for the copy, and recovery must not clear the rows copied so far.
func TestBackupBlocksNothing(t *testing.T) {
	ctx := t.Context()
	st := unlimited(filled(t, 2500))
	f := begin(t, st)
	want := f.Scan("t")
	st.atScan = func() {
		st.atScan = nil
		f.Create("other", "PK:S")
		_, err := f.DB.Delete(ctx, "t")
		require.NoError(t, err)
		require.NoError(t, f.DB.Recover(ctx))
	}
	require.NoError(t, f.DB.CreateBackup(ctx, "t", newBackup("b")))
	require.Nil(t, st.atScan)
	def := tabletest.Define(t, "new", "PK:S", "G g:S - ALL")
	st.atScan = func() {
		st.atScan = nil
		require.NoError(t, f.DB.DeleteBackup(ctx, "b"))
		_, err := f.DB.Create(ctx, tabletest.Define(t, "new", "PK:S"))
		require.Equal(t, table.InUse, tabletest.KindOf(err))
		require.NoError(t, f.DB.Recover(ctx))
	}
	_, err := f.DB.RestoreBackup(ctx, def, "b")
	require.NoError(t, err)
	require.Nil(t, st.atScan)
	require.Equal(t, want, f.Scan("new"))
	_, err = f.DB.RestoreBackup(ctx, tabletest.Define(t, "late", "PK:S"), "b")
	require.Equal(t, table.NotFound, tabletest.KindOf(err))
}
