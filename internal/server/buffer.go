package server

import "sync"

// keepBytes is the size of the largest buffer that is kept for reuse. The
// response of a query page with 1 MB of items fits.
const keepBytes = 4 << 20

type buffer struct{ b []byte }

var buffers = sync.Pool{New: func() any { return &buffer{make([]byte, 0, 8<<10)} }}

func newBuffer() *buffer {
	buf := buffers.Get().(*buffer)
	buf.b = buf.b[:0]
	return buf
}

func (buf *buffer) free() {
	if buf != nil && cap(buf.b) <= keepBytes {
		buffers.Put(buf)
	}
}

// Write implements [io.Writer] for compressors.
func (buf *buffer) Write(p []byte) (int, error) {
	buf.b = append(buf.b, p...)
	return len(p), nil
}
