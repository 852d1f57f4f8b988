package server

import "sync"

// keepBytes is the capacity of the largest answer buffer that goes back to its pool. A query page with 1 MB of items
// fits. Body buffers go back only up to [uncounted] bytes: otherwise a client that sends little would hold the memory
// of a client that sent much.
const keepBytes = 4 << 20

// A buffer holds a body. Its share is the part of a budget that it has taken. If no budget counts the buffer, share.b
// is nil.
type buffer struct {
	b     []byte
	share share
	pool  *bufferPool
}

// A bufferPool keeps buffers of at most keep bytes for reuse.
type bufferPool struct {
	sync.Pool
	keep int
}

var (
	bodyBuffers   = &bufferPool{keep: uncounted}
	answerBuffers = &bufferPool{keep: keepBytes}
)

func (p *bufferPool) get() *buffer {
	buf, _ := p.Get().(*buffer)
	if buf == nil {
		buf = &buffer{b: make([]byte, 0, 8<<10), pool: p}
	}
	buf.b = buf.b[:0]
	return buf
}

// newBuffer returns an empty buffer for an answer.
func newBuffer() *buffer { return answerBuffers.get() }

func (buf *buffer) free() {
	if buf == nil {
		return
	}
	buf.share.free()
	buf.share = share{}
	if cap(buf.b) <= buf.pool.keep {
		buf.pool.Put(buf)
	}
}

// Reserve implements [event.Reservation]. The handler calls it before it allocates n bytes for the answer.
func (buf *buffer) Reserve(n int) bool { return n <= buf.Reserved() || buf.share.resize(n) }

// Reserved implements [event.Reservation].
func (buf *buffer) Reserved() int { return int(buf.share.bytes) }

// settle returns the buffer that holds an answer until the client has read it, and counts that buffer against the
// budget. It copies a short answer out of a long buffer, so others can use the long one. It returns nil if the budget
// is used up. Do not use buf afterwards.
func (buf *buffer) settle() *buffer {
	if buf.share.b == nil {
		return buf
	}

	if cap(buf.b) > uncounted && cap(buf.b) > 2*len(buf.b) {
		short := &buffer{b: append([]byte(nil), buf.b...), share: share{b: buf.share.b}, pool: buf.pool}
		buf.free()
		buf = short
	}
	if !buf.share.resize(cap(buf.b)) {
		buf.free()
		return nil
	}
	return buf
}

// Write implements [io.Writer] for compressors.
func (buf *buffer) Write(p []byte) (int, error) {
	buf.b = append(buf.b, p...)
	return len(p), nil
}
