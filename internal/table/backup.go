package table

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"math"
	"strings"

	"github.com/sortkey/sortkey/internal/address"
	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/internal/throttle"
	"github.com/sortkey/sortkey/store"
)

// A backup has all rows of a store as they were at one moment, sorted by address. This is the format of the file:
//
//	"sortkey backup 1\n"
//	blocks   length uint32 | checksum uint32 | rows
//	rows     length of the address | address | length of the value | value
//
// The length and the checksum of a block are big-endian. The lengths in a row are varints. The checksum is the
// CRC-32C of all rows from the first block to the end of this one, so Restore detects a block that is missing or out
// of place. The last block is empty. Increment the number in the first line when the format of addresses or items
// changes, so that older versions of the program reject the file and do not misread it.
const (
	backupHead    = "sortkey backup "
	backupVersion = "1\n"

	blockHead = 8
	blockSize = 256 << 10 // flush when a block has this many bytes
	maxBlock  = 1 << 30
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Backup writes all rows of the store to w: the items, the index entries, the catalogue and the request tokens.
func (s *View) Backup(w io.Writer) error {
	last, err := LastSpace(s.r)
	if err != nil {
		return err
	}
	b := backupWriter{w: w, work: s.db.Work(s.serial), block: make([]byte, blockHead, 2*blockSize)}
	defer b.work.Done()
	if _, err := io.WriteString(w, backupHead+backupVersion); err != nil {
		return err
	}
	for space := CatalogueSpace; space <= last; space++ {
		if err := b.add(s, space); err != nil {
			return err
		}
	}
	if err := b.add(s, tokenSpace); err != nil {
		return err
	}
	if len(b.block) > blockHead {
		if err := b.flush(); err != nil {
			return err
		}
	}
	return b.flush()
}

// A backupWriter collects rows and writes blocks.
type backupWriter struct {
	w     io.Writer
	work  throttle.Work
	block []byte // the head and the rows so far
	addr  []byte
	sum   uint32 // of the rows so far
}

// add adds the rows of a space.
func (b *backupWriter) add(s *View, space store.Space) error {
	for row, err := range s.r.Scan(space, store.Everything()) {
		if err != nil {
			return err
		}
		b.addr = address.Append(b.addr[:0], space, row.Partition, row.Sort)
		b.block = append(binary.AppendUvarint(b.block, uint64(len(b.addr))), b.addr...)
		b.block = append(binary.AppendUvarint(b.block, uint64(len(row.Value))), row.Value...)
		if err := b.work.Add(s.ctx, len(b.addr)+len(row.Value)); err != nil {
			return err
		}
		if len(b.block) >= blockSize {
			if err := b.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush writes a block.
func (b *backupWriter) flush() error {
	b.work.Done() // release the slot for heavy work, as Write may block
	rows := b.block[blockHead:]
	b.sum = crc32.Update(b.sum, castagnoli, rows)
	binary.BigEndian.PutUint32(b.block, uint32(len(rows)))
	binary.BigEndian.PutUint32(b.block[4:], b.sum)
	_, err := b.w.Write(b.block)
	b.block = b.block[:blockHead]
	return err
}

// Restore writes the rows of a backup into a store without tables. If it returns an error, it has written none of
// them.
func Restore(ctx context.Context, st store.Store, r io.Reader) error {
	b := &backupReader{ctx: ctx, r: bufio.NewReader(r)}
	if err := b.readHead(); err != nil {
		return err
	}
	if loader, ok := st.(capability.Loader); ok {
		return loader.Load(ctx, func(l store.Loading) error {
			if err := checkEmpty(l); err != nil {
				return err
			}
			const run = 64 << 20 // bytes of rows per file
			for !b.ended && b.err == nil {
				if err := l.Add(b.rows(run)); err != nil {
					return err
				}
			}
			return b.err
		})
	}

	began := false
	return st.Update(ctx, func(w store.Writer) error {
		if began { // an update that the store retries cannot read r again
			return errors.New("somebody else writes to the store: restore into one that nobody uses")
		}
		began = true
		if err := checkEmpty(w); err != nil {
			return err
		}
		for addr, value := range b.rows(math.MaxInt) {
			space, partition, sort, _ := address.Parse(addr, nil)
			if err := w.Put(space, partition, sort, bytes.Clone(value)); err != nil {
				return err
			}
		}
		return b.err
	})
}

func checkEmpty(r store.Reader) error {
	for _, err := range r.Scan(CatalogueSpace, store.Everything()) {
		if err != nil {
			return err
		}
		return errors.New("the store is not empty: restore into a new one")
	}
	return nil
}

// A backupReader reads a backup and returns an error if the file is damaged.
type backupReader struct {
	ctx   context.Context //nolint:containedctx // of the call
	r     *bufio.Reader
	block bytes.Buffer // the rest of the current block
	last  []byte       // the address of the last row; addresses must ascend
	sum   uint32       // of the rows so far
	ended bool
	err   error
}

func (b *backupReader) readHead() error {
	head, err := b.r.Peek(len(backupHead) + len(backupVersion))
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return unreadable(err)
	case !strings.HasPrefix(string(head), backupHead):
		return errors.New("not a Sortkey backup")
	case string(head) != backupHead+backupVersion:
		return errors.New("this version of Sortkey does not read backups of another one: use a newer version")
	}
	_, err = b.r.Discard(len(head))
	return err
}

// rows yields addresses and values until it has yielded about most bytes or has reached the end of the backup. If
// reading fails, rows sets b.err and ends. A pair is valid until the next iteration.
func (b *backupReader) rows(most int) iter.Seq2[[]byte, []byte] {
	return func(yield func(addr, value []byte) bool) {
		for n := 0; n < most && b.err == nil; {
			if b.block.Len() == 0 {
				if b.err = b.next(); b.ended || b.err != nil {
					return
				}
			}
			addr, value, err := b.row()
			if err != nil {
				b.err = err
				return
			}
			n += len(addr) + len(value)
			if !yield(addr, value) {
				return
			}
		}
	}
}

// next reads a block.
func (b *backupReader) next() error {
	if b.ctx.Err() != nil {
		return context.Cause(b.ctx)
	}
	var head [blockHead]byte
	if _, err := io.ReadFull(b.r, head[:]); err != nil {
		return unreadable(err)
	}
	length := binary.BigEndian.Uint32(head[:])
	if length > maxBlock {
		return unreadable(fmt.Errorf("a block of %d bytes", length))
	}
	b.block.Reset()
	// CopyN allocates memory only for bytes that it reads, so a wrong length does no harm.
	if _, err := io.CopyN(&b.block, b.r, int64(length)); err != nil {
		return unreadable(err)
	}
	if b.sum = crc32.Update(b.sum, castagnoli, b.block.Bytes()); b.sum != binary.BigEndian.Uint32(head[4:]) {
		return unreadable(errors.New("wrong checksum"))
	}
	if length > 0 {
		return nil
	}

	b.ended = true
	switch _, err := b.r.ReadByte(); { // read to the end, as a gzip reader verifies its checksum only there
	case err == nil:
		return unreadable(errors.New("data after its end"))
	case !errors.Is(err, io.EOF):
		return unreadable(err)
	}
	return nil
}

// row reads the next row of the block.
func (b *backupReader) row() (addr, value []byte, err error) {
	for _, part := range []*[]byte{&addr, &value} {
		n, err := binary.ReadUvarint(&b.block)
		if err != nil || n > uint64(b.block.Len()) {
			return nil, nil, unreadable(errors.New("a row without an end"))
		}
		*part = b.block.Next(int(n))
	}
	if _, _, _, ok := address.Parse(addr, nil); !ok || bytes.Compare(addr, b.last) <= 0 {
		return nil, nil, unreadable(errors.New("a row out of place"))
	}
	b.last = append(b.last[:0], addr...)
	return addr, value, nil
}

func unreadable(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("cannot read the backup: %w", err)
}
