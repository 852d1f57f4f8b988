package table_test

import (
	"context"
	"encoding/binary"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/life"
	"github.com/sortkey/sortkey/internal/table/tabletest"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/memory"
)

// FuzzCatalogue damages one row of the catalogue. Open must then return an error or open the tables. Operations must
// not panic or lose rows of other tables.
func FuzzCatalogue(f *testing.F) {
	base := memory.Open()
	x := begin(f, base)
	x.Create("keep", "PK:S", "G g:S - ALL")
	x.Create("t", "PK:S SK:N", "G g:S at:N INCLUDE x", "LSI PK:S n:N ALL")
	for _, pk := range []string{"a", "b", "c"} {
		x.Put("keep", `{'PK':{'S':'`+pk+`'},'g':{'S':'g'}}`)
		x.Put("t", `{'PK':{'S':'`+pk+`'},'SK':{'N':'1'},'g':{'S':'g'},'at':{'N':'1'},'n':{'N':'2'},'x':{'S':'x'}}`)
	}
	begun := time.Unix(1_000_000, 0)
	require.NoError(f, x.DB.Update(context.Background(), func(tx *table.Tx) error {
		_, _, err := tx.Remember("token", table.Token{Digest: []byte("d"), Time: begun})
		return err
	}))
	require.NoError(f, x.DB.CreateBackup(context.Background(), "t", newBackup("b")))
	keep := x.Scan("keep")
	require.NoError(f, x.DB.Close(context.Background()))

	partitions := []string{"tables", "counters", "garbage", "tokens", "token times", "backups"}
	spaceOf := func(partition string) store.Space {
		if partition == "tokens" || partition == "token times" {
			return 1 << 63
		}
		return 0
	}
	for i, partition := range partitions {
		require.NoError(f, base.View(context.Background(), func(r store.Reader) error {
			for row, err := range r.Query(spaceOf(partition), []byte(partition), store.Range{}, false) {
				if err != nil {
					return err
				}
				f.Add(uint8(i), append([]byte(nil), row.Sort...), append([]byte(nil), row.Value...))
			}
			return nil
		}))
		f.Add(uint8(i), []byte("short"), []byte("null"))
		f.Add(uint8(i), []byte(nil), []byte("{}"))
	}
	for space := range uint64(7) { // space 0 is the catalogue, the others belong to the tables
		f.Add(uint8(2), binary.BigEndian.AppendUint64(nil, space), []byte{1})
	}
	for _, last := range []string{"0", "3", "18446744073709551614", "18446744073709551615", "-1"} {
		f.Add(uint8(1), []byte("space"), []byte(last))
	}
	for _, def := range []string{
		// that of keep
		`{"Name":"t","Space":1,"Attributes":[{"Name":"PK","Kind":1}],"Key":[{"Name":"PK","Hash":true}]}`,
		`{"Name":"t","Space":0,"Attributes":[{"Name":"PK","Kind":1}],"Key":[{"Name":"PK","Hash":true}]}`,
		`{"Name":"u","Space":3,"Attributes":[{"Name":"PK","Kind":1}],"Key":[{"Name":"PK","Hash":true}]}`,
		`{"Name":"t","Space":3,"Attributes":[{"Name":"PK","Kind":9}],"Key":[{"Name":"PK","Hash":true}]}`,
		`{"Name":"t","Space":3,"Key":[]}`,
		`{"Name":"t","Space":3,"Attributes":[{"Name":"PK","Kind":1},{"Name":"g","Kind":1}],"Key":[{"Name":"PK",` +
			`"Hash":true}],"Global":[{"Name":"G","Space":4,"Building":true,"Key":[{"Name":"g","Hash":true}],` +
			`"Projection":{"Type":"ALL"}}]}`,
	} {
		f.Add(uint8(0), []byte("t"), []byte(def))
	}

	f.Fuzz(func(t *testing.T, partition uint8, sort, value []byte) {
		name := partitions[int(partition)%len(partitions)]
		if name == "tables" && string(sort) == "keep" {
			return // this one is to be kept
		}
		st, err := base.Fork()
		require.NoError(t, err)
		ctx := t.Context()
		require.NoError(t, st.Update(ctx, func(w store.Writer) error {
			return w.Put(spaceOf(name), []byte(name), sort, value)
		}))
		db, err := life.Open(ctx, st)
		if err != nil {
			return
		}
		x := &tabletest.Fixture{TB: t, DB: db}
		use := func() {
			for _, name := range tabletest.Names(t, db) {
				useTable(t, db, name)
			}
		}
		use()
		_ = db.Recover(ctx)
		_ = db.Update(ctx, func(tx *table.Tx) error {
			_, _, err := tx.Remember("other", table.Token{Time: begun.Add(time.Hour)})
			return err
		})
		_, _ = db.Sweep(ctx, begun)
		if _, err := db.Create(ctx, tabletest.Define(t, "new", "PK:S", "G g:S - ALL")); err == nil {
			x.Put("new", `{'PK':{'S':'z'},'g':{'S':'g'}}`)
		}
		use()
		require.Equal(t, keep, x.Scan("keep"))
		for _, name := range tabletest.Names(t, db) {
			if name != "keep" {
				_, _ = db.Alter(ctx, name, func(def *table.Definition) error { def.Global = nil; return nil })
				_, _ = db.Delete(ctx, name)
			}
		}
		require.Equal(t, keep, x.Scan("keep"))
		require.NoError(t, db.Close(ctx))
		x = begin(t, st)
		require.Equal(t, keep, x.Scan("keep"))
	})
}

// useTable reads a table and its indexes, and puts back each of its items.
func useTable(t *testing.T, db *life.DB, name string) {
	t.Helper()
	var items []attr.Item
	_ = db.View(t.Context(), func(v *table.View) error {
		tb, err := v.Table(name)
		if err != nil {
			return err
		}
		keep := func(it attr.Item) error {
			items = append(items, append(attr.Item(nil), it...))
			return nil
		}
		_, _ = v.Scan(&table.Scan{Read: table.Read{Table: tb}}, keep)
		for _, ix := range tb.Indexes() {
			_, _ = v.Scan(&table.Scan{Read: table.Read{Table: tb, Index: ix}}, keep)
		}
		return nil
	})
	for _, it := range items {
		_ = db.Update(t.Context(), func(tx *table.Tx) error {
			tb, err := tx.Table(name)
			if err != nil {
				return err
			}
			_, err = tx.Put(tb, it, nil)
			return err
		})
	}
}
