package transfer

import (
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/wire"
)

const (
	// loadBytes is how much memory the items take that are written at once.
	loadBytes = 64 << 20
	// loadTime is the longest time between two writes, so that an import that is killed
	// loses no more than that.
	loadTime = 5 * time.Second
	// readingBytes bounds the text of the blocks that are being decoded: a block may be one long line.
	readingBytes = 32 << 20
	// keptBytes is the most memory that an unused block keeps for its text.
	keptBytes = 8 * blockBytes
)

// A loader hands the records of a source to a database in this process. Goroutines decode
// blocks of records and prepare their rows; the loader collects them in their order, until
// they are enough to be written at once.
type loader struct {
	ctx     context.Context //nolint:containedctx // of the writes, as in pipeline
	bulk    *api.Bulk
	table   string
	keys    *keys
	mask    func(table string, it attr.Item) (attr.Item, error)
	work    chan *loadBlock
	workers sync.WaitGroup
	running []*loadBlock // in the order of the file
	blocks  []*loadBlock // unused
	ready   []prepared
	parts   []*api.BulkPart // unused
	reading int             // bytes of the text of the running blocks
	bytes   int             // that the ready ones take
	since   time.Time       // of the last write
}

// A loadBlock is a block that is being decoded.
type loadBlock struct {
	block
	prepared
	file string
	done chan struct{}
}

// A prepared is what becomes of the records of a block.
type prepared struct {
	part             *api.BulkPart
	rejects          []Reject
	written, deleted int64
}

func startLoader(
	ctx context.Context, b *api.Bulk, table string, k *keys, mask func(string, attr.Item) (attr.Item, error),
) *loader {
	l := &loader{
		ctx: ctx, bulk: b, table: table, keys: k, mask: mask, work: make(chan *loadBlock),
		since: time.Now(),
	}
	for range runtime.GOMAXPROCS(0) {
		l.workers.Go(func() {
			d := decoder{reuse: true}
			for b := range l.work {
				l.prepare(b, &d)
				b.done <- struct{}{}
			}
		})
	}
	return l
}

func (l *loader) close() {
	close(l.work)
	l.workers.Wait()
}

// prepare decodes the records of a block.
func (l *loader) prepare(b *loadBlock, d *decoder) {
	var key []byte
	first := b.count - int64(len(b.records))
	for i := range b.records {
		rec := &b.records[i]
		it, remove, err := b.decode(rec, d)
		if err == nil && l.mask != nil {
			it, err = l.mask(l.table, it)
		}
		if err == nil {
			key, err = l.keys.appendKey(key[:0], it)
		}

		text := ""
		switch {
		case err != nil:
			text = reason(err)
		case remove:
			if err = b.part.Delete(it); err == nil {
				b.deleted++
			}
		default:
			if err = b.part.Put(it); err == nil {
				b.written++
			}
		}

		if e, ok := errors.AsType[*wire.Error](err); ok && text == "" {
			text = reason(errors.New(e.Message))
		}
		if text != "" {
			refused := Reject{File: b.file, Line: rec.Line, Reason: text, order: first + int64(i) + 1}
			b.rejects = append(b.rejects, refused)
		}
	}
}

// read reads a block of a file and lets a goroutine decode it.
func (l *loader) read(r *Reader, file string) error {
	b, ok := pop(&l.blocks)
	if !ok {
		b = &loadBlock{done: make(chan struct{}, 1)}
	}
	b.file = file
	err := r.readBlock(&b.block)
	if len(b.records) == 0 {
		l.blocks = append(l.blocks, b)
		return err
	}
	if b.part, ok = pop(&l.parts); !ok {
		b.part = l.bulk.Part()
	}
	l.running = append(l.running, b)
	l.reading += len(b.data)
	l.work <- b
	return err
}

// pop takes the last element of a list.
func pop[T any](list *[]T) (last T, ok bool) {
	n := len(*list)
	if n == 0 {
		return last, false
	}
	last = (*list)[n-1]
	*list = (*list)[:n-1]
	return last, true
}

// next waits for the earliest block that is being decoded, and returns where it ends.
func (l *loader) next() (count, line int64) {
	b := l.running[0]
	<-b.done
	l.running = slices.Delete(l.running, 0, 1)
	l.ready = append(l.ready, b.prepared)
	l.bytes += b.part.Bytes()
	if l.reading -= len(b.data); cap(b.data) > keptBytes {
		b.data = nil
	}
	b.prepared = prepared{}
	l.blocks = append(l.blocks, b)
	return b.count, b.line
}

// full reports whether the items that are ready should be written.
func (l *loader) full() bool {
	return l.bytes >= loadBytes || len(l.ready) > 0 && time.Since(l.since) >= loadTime
}

// barrier writes the items that are ready. It returns what the one of pipeline does.
func (l *loader) barrier() (rejects []Reject, written, deleted int64, err error) {
	parts := make([]*api.BulkPart, len(l.ready))
	for i, b := range l.ready {
		parts[i] = b.part
	}
	if err = l.bulk.Write(l.ctx, parts); err == nil {
		for _, b := range l.ready {
			rejects = append(rejects, b.rejects...)
			written += b.written
			deleted += b.deleted
		}
	}
	for _, b := range l.ready {
		b.part.Reset()
		l.parts = append(l.parts, b.part)
	}
	clear(l.ready)
	l.ready, l.bytes, l.since = l.ready[:0], 0, time.Now()
	if e, ok := errors.AsType[*wire.Error](err); ok && e.Code == codeNoTable {
		err = errDeleted(err, l.table)
	}
	return rejects, written, deleted, err
}

const codeNoTable = "ResourceNotFoundException"

// loadRecords imports the records of a file from a position on.
func (im *importer) loadRecords(ctx context.Context, l *loader, in *input, f File, r *Reader, at position) error {
	table, last := &im.journal.Tables[at.Source], at.Records
	depth := 2 * runtime.GOMAXPROCS(0)
	// absorb takes over decoded blocks until no more than n are left.
	absorb := func(n int) error {
		for len(l.running) > n || len(l.running) > 0 && l.reading > readingBytes {
			before := at.Records
			at.Records, at.Line = l.next()
			im.items += at.Records - before
			im.result.Read += at.Records - before
			table.Read += at.Records - before
			im.progress(
				Progress{Phase: "import", Bytes: im.before + in.packed.Load(), Total: im.total, Items: im.items},
			)
			if l.full() || im.o.Every > 0 && at.Records-last >= im.o.Every {
				if err := im.checkpoint(l, at); err != nil {
					return err
				}
				last = at.Records
			}
		}
		return nil
	}
	for ctx.Err() == nil {
		err := l.read(r, f.Path)
		if err == nil {
			if err := absorb(depth); err != nil {
				return err
			}
			continue
		}
		if err := absorb(0); err != nil {
			return err
		}
		if errors.Is(err, io.EOF) {
			return im.end(l, in, f, r, at)
		}
		return im.broken(l, f, at, err)
	}

	if err := absorb(0); err != nil {
		return err
	}
	return im.interrupt(ctx, l, at)
}
