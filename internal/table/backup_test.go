package table_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/life"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/memory"
)

// backedUp returns the backup of a store that has the given number of rows in two spaces.
func backedUp(t testing.TB, rows int) []byte {
	t.Helper()
	st := memory.Open()
	require.NoError(t, st.Update(t.Context(), func(w store.Writer) error {
		spaces := []*store.Space{new(store.Space)}
		if err := table.TakeSpaces(w, spaces); err != nil {
			return err
		}
		for i := range rows {
			sort := fmt.Appendf(nil, "%04d", i)
			if err := w.Put(*spaces[0], []byte("p"), sort, bytes.Repeat(sort, 100)); err != nil {
				return err
			}
		}
		return w.Put(*spaces[0], nil, nil, nil)
	}))
	db, err := life.Open(t.Context(), st)
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, db.View(t.Context(), func(v *table.View) error { return v.Backup(&out) }))
	return out.Bytes()
}

// restored restores a backup and returns the number of rows in the first spaces.
func restored(t testing.TB, backup []byte) (n int, err error) {
	t.Helper()
	st := memory.Open()
	err = table.Restore(t.Context(), st, bytes.NewReader(backup))
	require.NoError(t, st.View(t.Context(), func(r store.Reader) error {
		for space := range store.Space(3) {
			for _, err := range r.Scan(space, store.Everything()) {
				if err != nil {
					return err
				}
				n++
			}
		}
		return nil
	}))
	if err != nil {
		require.Zero(t, n, "what is refused changes nothing")
	}
	return n, err
}

// TestRestoreDamaged checks that Restore returns an error if a bit, a block or the end of a backup is changed.
func TestRestoreDamaged(t *testing.T) {
	small, large := backedUp(t, 2), backedUp(t, 2000)
	n, err := restored(t, small)
	require.NoError(t, err)
	require.Equal(t, 4, n)
	n, err = restored(t, large)
	require.NoError(t, err)
	require.Equal(t, 2002, n)

	for i := range small {
		for bit := range 8 {
			spoilt := bytes.Clone(small)
			spoilt[i] ^= 1 << bit
			_, err := restored(t, spoilt)
			require.Error(t, err, "bit %d of byte %d", bit, i)
		}
		_, err := restored(t, small[:i])
		require.Error(t, err, "%d bytes", i)
	}
	const head, first = 17, 17 + 8 + 262_000 // minimum size of the first block, with its head
	length := int(large[head])<<24 | int(large[head+1])<<16 | int(large[head+2])<<8 | int(large[head+3])
	require.Greater(t, head+8+length, first)
	for want, text := range map[string]string{
		"not a Sortkey backup":                                "hello",
		"does not read backups of another one":                "sortkey backup 2\n" + string(small[head:]),
		"cannot read the backup: wrong checksum":              string(large[:head]) + string(large[head+8+length:]),
		"cannot read the backup: data after its end":          string(small) + "x",
		"cannot read the backup: a block of 4294967295 bytes": string(small[:head]) + strings.Repeat("\xff", 20),
		"cannot read the backup: unexpected EOF":              string(small[:len(small)-8]),
	} {
		_, err := restored(t, []byte(text))
		require.ErrorContains(t, err, want)
	}
}

// FuzzRestore restores backups with arbitrary rows and correct checksums.
func FuzzRestore(f *testing.F) {
	const head = 17
	small := backedUp(f, 2)
	f.Add(small[head+8 : len(small)-8])
	f.Fuzz(func(t *testing.T, rows []byte) {
		backup := bytes.Clone(small[:head])
		sum := crc32.Checksum(rows, crc32.MakeTable(crc32.Castagnoli))
		backup = binary.BigEndian.AppendUint32(backup, uint32(len(rows)))
		backup = append(binary.BigEndian.AppendUint32(backup, sum), rows...)
		if len(rows) > 0 {
			backup = binary.BigEndian.AppendUint32(append(backup, 0, 0, 0, 0), sum)
		}
		_, _ = restored(t, backup)
	})
}
