package server

import "sync"

// keepBytes is the size of the largest buffer of an answer that is kept for reuse.
// A query page with 1 MB of items fits. Larger buffers of bodies than [uncounted] are
// not kept: a client that sends little would hold the memory of one that sent much.
const keepBytes = 4 << 20

// A buffer holds a body. Its share is the part of a budget that it holds, 0 without a
// budget.
type buffer struct {
	b     []byte
	share share
	pool  *bufferPool
}

// A bufferPool keeps buffers of at most so many bytes for reuse.
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

// Reserve implements [event.Reservation]: it takes the share before the bytes are allocated.
func (buf *buffer) Reserve(n int) bool { return n <= buf.Reserved() || buf.share.resize(n) }

// Reserved implements [event.Reservation].
func (buf *buffer) Reserved() int { return int(buf.share.bytes) }

// settle returns the buffer to keep an answer in until the client has read it, with
// the share that it takes of the budget; buf is used up. It returns nil if the budget
// does not allow it. A short answer leaves a long buffer to others.
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
