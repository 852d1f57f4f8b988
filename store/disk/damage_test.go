package disk_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/disk"
)

// TestDamage damages each file of a folder in each way, after Close and after a
// kill. Opening and reading it must end with an error or return every row.
// Losing rows in silence is allowed in one case alone, which no file can tell
// from a crash: the newest log cut off at its end.
//
// -v prints the outcomes.
func TestDamage(t *testing.T) {
	const rows = 400
	closed, killed := t.TempDir(), t.TempDir()
	s := open(t, closed, disk.Options{MemTableBytes: 1}) // small, so there are tables and logs
	for i := range rows {
		put(t, s, fmt.Sprintf("key %04d", i), strings.Repeat("v", 300))
		if i == rows-5 {
			require.NoError(t, s.Close())
			s = open(t, closed, disk.Options{})
		}
	}
	require.NoError(t, os.CopyFS(killed, os.DirFS(closed)))
	require.NoError(t, s.Close())

	ways := []struct {
		name string
		do   func(path string, data []byte) error
	}{
		{"flipped", func(path string, data []byte) error {
			if len(data) > 0 {
				data[len(data)/3] ^= 0x04
			}
			return os.WriteFile(path, data, 0o600)
		}},
		{"cut", func(path string, data []byte) error { return os.WriteFile(path, data[:len(data)/2], 0o600) }},
		{"emptied", func(path string, _ []byte) error { return os.WriteFile(path, nil, 0o600) }},
		{"deleted", func(path string, _ []byte) error { return os.Remove(path) }},
	}
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "folder\tfile\tbytes\tdamage\toutcome")
	for what, from := range map[string]string{"closed": closed, "killed": killed} {
		names, err := os.ReadDir(from)
		require.NoError(t, err)
		for _, name := range names {
			whole, err := os.ReadFile(filepath.Join(from, name.Name()))
			if err != nil {
				continue // a folder
			}
			for _, way := range ways {
				dir := t.TempDir()
				require.NoError(t, os.CopyFS(dir, os.DirFS(from)))
				require.NoError(t, way.do(filepath.Join(dir, name.Name()), append([]byte(nil), whole...)))
				n, err := readAll(t, dir)
				outcome := "no loss"
				switch {
				case err != nil:
					outcome = "error: " + strings.ReplaceAll(err.Error(), dir, "DIR")
				case n < rows && way.name == "cut" && strings.HasSuffix(name.Name(), ".log"):
					outcome = fmt.Sprintf("%d rows lost, as by a crash", rows-n)
				case n < rows:
					outcome = fmt.Sprintf("%d ROWS LOST", rows-n)
					t.Errorf("%s folder, %s %s: %d of %d rows are lost silently", what, name.Name(), way.name, rows-n, rows)
				}
				fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%.110s\n", what, name.Name(), len(whole), way.name, outcome)
			}
		}
	}
	require.NoError(t, w.Flush())
	t.Logf("\n%s", table.String())
}

// readAll opens a folder and returns the number of rows that put has written.
func readAll(t *testing.T, dir string) (n int, err error) {
	t.Helper()
	s, err := disk.Open(dir, disk.Options{})
	if err != nil {
		return 0, err
	}
	defer func() { _ = s.Close() }()
	err = s.View(t.Context(), func(r store.Reader) error {
		for _, err := range r.Query(1, []byte("p"), store.Range{}, false) {
			if err != nil {
				return err
			}
			n++
		}
		return nil
	})
	return n, err
}
