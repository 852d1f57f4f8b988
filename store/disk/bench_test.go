package disk_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/store"
)

func partition(i int) []byte { return fmt.Appendf(nil, "customer#%07d", i) }
func sortKey(i int) []byte   { return binary.BigEndian.AppendUint32([]byte("order#"), uint32(i)) }

// fill puts rows of 100 bytes, so many partitions of so many rows.
func fill(t testing.TB, s store.Store, partitions, rows int) {
	t.Helper()
	for p := range partitions {
		require.NoError(t, s.Update(t.Context(), func(w store.Writer) error {
			for i := range rows {
				if err := w.Put(1, partition(p), sortKey(i), make([]byte, 100)); err != nil {
					return err
				}
			}
			return nil
		}))
	}
}
