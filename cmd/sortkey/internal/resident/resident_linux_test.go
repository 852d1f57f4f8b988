package resident_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/resident"
)

// A deaf listener accepts nobody.
type deaf struct{ net.Listener }

var errDeaf = errors.New("deaf")

func (deaf) Accept() (net.Conn, error) { return nil, errDeaf }

const pages = 16

// mapFile maps a file of its own, whose every byte is 7.
func mapFile(t *testing.T, name string) (path string, data []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	size := pages * os.Getpagesize()
	require.NoError(t, os.WriteFile(path, bytes.Repeat([]byte{7}, size), 0o600))
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	data, err = syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, syscall.Munmap(data)) })
	return path, data
}

// in returns the kB of a mapped file that the process has.
func in(t *testing.T, path string) (kb int) {
	t.Helper()
	smaps, err := os.ReadFile("/proc/self/smaps")
	require.NoError(t, err)
	_, of, ok := strings.Cut(string(smaps), path+"\n")
	require.True(t, ok, "%s is not mapped", path)
	_, rest, ok := strings.Cut(of, "\nRss:")
	require.True(t, ok)
	_, err = fmt.Sscan(rest, &kb)
	require.NoError(t, err)
	return kb
}

func touch(data []byte) (sum int) {
	for i := 0; i < len(data); i += os.Getpagesize() {
		sum += int(data[i])
	}
	return sum
}

func TestListener(t *testing.T) {
	read, readable := mapFile(t, "read")
	require.NoError(t, syscall.Mprotect(readable, syscall.PROT_READ))
	write, writable := mapFile(t, "write")
	// As the addresses that a dynamic linker fills in.
	locked, filled := mapFile(t, "locked")
	filled[0] = 8
	require.NoError(t, syscall.Mprotect(filled, syscall.PROT_READ))
	all := touch(readable) + touch(writable) + touch(filled)

	ln := resident.Listener(deaf{})
	require.NotZero(t, in(t, read), "nothing is given back before the first Accept")
	_, err := ln.Accept()
	require.ErrorIs(t, err, errDeaf)
	require.Zero(t, in(t, read))
	require.NotZero(t, in(t, write), "what can be written to stays")
	require.NotZero(t, in(t, locked), "what was written to stays")
	require.Equal(t, byte(8), filled[0])

	require.Equal(t, all, touch(readable)+touch(writable)+touch(filled), "what was given back is there when it is used")
	_, err = ln.Accept()
	require.ErrorIs(t, err, errDeaf)
	require.NotZero(t, in(t, read), "only the first Accept gives back")
}
