package transfer

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"
)

const (
	readBuffer = 64 << 10
	// maxWindow bounds the memory of a zstd decoder, in bytes.
	maxWindow = 32 << 20
)

var (
	magicGzip = []byte{0x1f, 0x8b}
	magicZstd = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

// openOwn opens a file that an import or export writes for its own purposes, such as a journal or a manifest. If
// openOwn creates the file, only the owner can read it. If the file is not regular, openOwn returns an error, because
// the file could be somebody's link to another file.
func openOwn(path string, flags int) (*os.File, error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, errNotRegular(path)
	}
	f, err := os.OpenFile(path, flags|noFollow, 0o600)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(errNotRegular(path), f.Close())
	}
	return f, nil
}

func errNotRegular(path string) error { return fmt.Errorf("%s is not a regular file", path) }

// An input reads a file and decompresses it.
type input struct {
	io.Reader
	packed atomic.Int64 // bytes read from the file, before decompression
	close  []func() error
}

// openInput opens a file, or standard input for "-".
func openInput(path string) (*input, error) {
	in := &input{}
	var file io.Reader = os.Stdin
	if path != stdin {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		file = f
		in.close = append(in.close, f.Close)
	}
	if err := in.unpack(file); err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return in, nil
}

// unpack sets in.Reader to a reader of the file, which decompresses the file if it is compressed.
func (in *input) unpack(file io.Reader) error {
	unpacked, done, err := Unpack(&counter{r: file, n: &in.packed}, maxWindow)
	if err != nil {
		return err
	}
	in.Reader = unpacked
	in.close = append(in.close, done)
	return nil
}

// Close closes the file.
func (in *input) Close() (err error) {
	for i := len(in.close) - 1; i >= 0; i-- {
		err = errors.Join(err, in.close[i]())
	}
	return err
}

// stdin is the path of standard input.
const stdin = "-"

// Unpack returns a reader of r, and a function that frees the reader. The reader decompresses r if it begins like a
// gzip or zstd file. Window bounds the memory of a zstd decoder, in bytes.
func Unpack(r io.Reader, window uint64) (io.Reader, func() error, error) {
	br := bufio.NewReaderSize(r, readBuffer)
	head, err := br.Peek(len(magicZstd))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	switch {
	case bytes.HasPrefix(head, magicGzip):
		zr, err := gzip.NewReader(br)
		if err != nil {
			return nil, nil, packedError("gzip", err)
		}
		return &unpacked{r: zr, name: "gzip"}, zr.Close, nil
	case bytes.HasPrefix(head, magicZstd):
		zr, err := zstd.NewReader(
			br, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(window),
		)
		if err != nil {
			return nil, nil, packedError("zstd", err)
		}
		return &unpacked{r: zr, name: "zstd"}, func() error { zr.Close(); return nil }, nil
	}
	return br, func() error { return nil }, nil
}

// unpacked is the reader of a decompressor, whose errors name the compression.
type unpacked struct {
	r    io.Reader
	name string
}

// Read implements [io.Reader].
func (u *unpacked) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = packedError(u.name, err)
	}
	return n, err
}

func packedError(name string, err error) error {
	return fmt.Errorf("%s data is damaged: %v", name, err) // it is not the caller's io.EOF
}

// A counter counts the bytes read from r.
type counter struct {
	r io.Reader
	n *atomic.Int64
}

// Read implements [io.Reader].
func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}
