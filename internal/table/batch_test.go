package table_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/life"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/memory"
)

// A measuringStore records the maximum bytes and rows that one update has put.
type measuringStore struct {
	store.Store
	bytes, rows int
}

func (s *measuringStore) Update(ctx context.Context, fn func(store.Writer) error) error {
	var bytes, rows int
	err := s.Store.Update(ctx, func(w store.Writer) error {
		bytes, rows = 0, 0
		return fn(measuringWriter{w, &bytes, &rows})
	})
	s.bytes, s.rows = max(s.bytes, bytes), max(s.rows, rows)
	return err
}

type measuringWriter struct {
	store.Writer
	bytes, rows *int
}

func (w measuringWriter) Put(space store.Space, partition, sort, value []byte) error {
	*w.bytes += len(value)
	*w.rows++
	return w.Writer.Put(space, partition, sort, value)
}

// TestBatches checks that background work never writes more than a batch in one update, however large the items are.
func TestBatches(t *testing.T) {
	const items = 24 // more than two batches
	large := strings.Repeat("x", 390<<10)
	at := fmt.Sprint(time.Now().Unix() - 100)
	st := &measuringStore{Store: memory.Open()}
	f := begin(t, st)
	f.Create("t", "PK:S")
	_, err := f.DB.Alter(t.Context(), "t", func(d *table.Definition) error {
		d.Expiry = "at"
		d.Stream = &table.Stream{View: "NEW_AND_OLD_IMAGES", Shards: 1}
		return nil
	})
	require.NoError(t, err)
	for i := range items {
		f.Put("t", fmt.Sprintf(`{'PK':{'S':'%d'},'g':{'S':'g'},'at':{'N':'%s'},'large':{'S':'%s'}}`, i, at, large))
	}
	for _, work := range []struct {
		name string
		do   func() error
	}{
		{"an index", func() error { return addIndex(t, f.DB) }},
		{"a backup", func() error { return f.DB.CreateBackup(t.Context(), "t", &life.Backup{ID: "1"}) }},
		{"a sweep", func() error {
			deleted, err := f.DB.Sweep(t.Context(), time.Now())
			require.Equal(t, items, deleted)
			return err
		}},
	} {
		st.bytes, st.rows = 0, 0
		require.NoError(t, work.do())
		if most := table.BatchBytes + len(large) + 1000; st.bytes > most || st.rows > table.BatchRows+1 {
			t.Errorf("%s has %d bytes in %d rows in one update, want at most %d", work.name, st.bytes, st.rows, most)
		}
	}
}
