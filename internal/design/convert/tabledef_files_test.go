//go:build unix

package convert_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/files"
)

// TestReadFolder holds that files.Read refuses a file that is too large or is not a regular file, and does not block.
func TestReadFolder(t *testing.T) {
	dir := t.TempDir()
	pipe, file := filepath.Join(dir, "pipe"), filepath.Join(dir, "file")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	require.NoError(t, os.WriteFile(file, []byte(strings.Repeat("x", 100)), 0o600))
	for _, tt := range []struct {
		path string
		most int64
		want string // in the error, or "" for none
	}{
		{file, 100, ""},
		{file, 99, "file is larger than 99 bytes"},
		{pipe, 1 << 20, "pipe is a pipe or a device"},
		{"/dev/zero", 1 << 20, "/dev/zero is a pipe or a device"},
		{dir, 1 << 20, "is a folder"},
	} {
		data, err := files.Read(tt.path, tt.most)
		if tt.want == "" {
			require.NoError(t, err)
			require.Len(t, data, 100)
			continue
		}
		require.ErrorContains(t, err, tt.want)
	}
	_, err := files.Read(filepath.Join(dir, "absent"), 1)
	require.ErrorIs(t, err, fs.ErrNotExist)

	// A shell may pass an open pipe as /dev/fd/N. Read accepts it but counts its bytes.
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	_, err = w.Write(make([]byte, 100))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	_, err = files.Read(fmt.Sprint("/dev/fd/", r.Fd()), 99)
	require.ErrorContains(t, err, "is larger than 99 bytes")
}
