package table_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/life"
	"github.com/sortkey/sortkey/internal/table/tabletest"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/memory"
)

// hurriedStore cancels a context after the next update.
type hurriedStore struct {
	store.Store
	cancel context.CancelFunc
}

func (s *hurriedStore) Update(ctx context.Context, fn func(store.Writer) error) error {
	err := s.Store.Update(ctx, fn)
	if s.cancel != nil {
		s.cancel()
	}
	return err
}

// TestAlterIsFinished cancels the context while Alter adds or removes an index. Once the new definition is published,
// Alter must do the rest anyway: otherwise the index would stay unreadable, or its rows would stay forever.
func TestAlterIsFinished(t *testing.T) {
	st := &hurriedStore{Store: memory.Open()}
	db, err := life.Open(context.Background(), st)
	require.NoError(t, err)
	f := &tabletest.Fixture{TB: t, DB: db}
	f.Create("t", "PK:S")
	f.Put("t", `{'PK':{'S':'a'},'g':{'S':'x'}}`)
	with := tabletest.Define(t, "t", "PK:S", "G g:S - ALL")
	rows := length(st)

	var ctx context.Context
	ctx, st.cancel = context.WithCancel(context.Background())
	_, err = db.Alter(ctx, "t", func(d *table.Definition) error {
		d.Attributes, d.Global = with.Attributes, with.Global
		return nil
	})
	st.cancel = nil
	require.NoError(t, err)
	require.Len(t, tabletest.ScanIndex(f, "t", "G"), 1)
	require.Equal(t, rows+1, length(st))

	ctx, st.cancel = context.WithCancel(context.Background())
	_, err = db.Alter(ctx, "t", func(d *table.Definition) error {
		d.Attributes, d.Global = d.Attributes[:1], nil
		return nil
	})
	st.cancel = nil
	require.NoError(t, err)
	require.Equal(t, rows, length(st), "rows of the index that is gone")
}
