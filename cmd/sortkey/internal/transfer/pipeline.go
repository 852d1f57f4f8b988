package transfer

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/aws/smithy-go"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/wire"
)

const (
	// loadBytes is the memory in bytes that collected items may take until a pipeline loads them directly into a
	// database.
	loadBytes = 64 << 20
	// sendBytes is the memory in bytes that collected items may take until a pipeline sends them to an endpoint.
	sendBytes = 12 << 20
	// loadTime is the longest time between two writes. An import that is killed thus loses at most the work of this
	// time.
	loadTime = 5 * time.Second
	// readingBytes bounds the total text of the blocks that goroutines are decoding, in bytes. Limiting the number of
	// blocks is not enough, because a block may be one long line.
	readingBytes = 32 << 20
	// keptBytes is the largest buffer that an unused block keeps for the text of its next records, in bytes.
	keptBytes = 8 * blockBytes
)

// A pipeline writes the records of a source. Several goroutines decode blocks of records. The pipeline collects the
// decoded blocks in the order of the file, and writes many of them at once. It writes directly to a database if that
// is in this process and its store has a faster way to load many sorted rows. Otherwise the pipeline sends requests.
type pipeline struct {
	ctx     context.Context //nolint:containedctx // of the writes, which outlives the context of reading
	bulk    *api.Bulk       // nil if the pipeline sends requests
	send    *sender
	keys    keys
	work    chan *running
	workers sync.WaitGroup
	every   int64      // the most records between two writes; 0 for no limit
	running []*running // in the order of the file
	unused  []*running
	ready   []part
	rows    []*api.BulkPart // to use again
	reading int             // bytes of text in the running blocks
	bytes   int             // bytes of the ready parts
	since   time.Time       // of the last write
}

// A running is a block that a goroutine is decoding.
type running struct {
	block
	part
	file string
	done chan struct{}
}

// A part is a decoded block.
type part struct {
	rows             *api.BulkPart // for writing directly to a database
	entries          []entry       // for an endpoint
	rejects          []Reject
	written, deleted int64
	bytes            int
}

// An entry is one write to an endpoint.
type entry struct {
	item   attr.Item
	remove bool
	key    string
	at     Reject // place in the input; Reason is set if the endpoint has rejected the entry
}

func startPipeline(ctx context.Context, b *api.Bulk, s *sender, k keys, every int64) *pipeline {
	p := &pipeline{
		ctx: ctx, bulk: b, send: s, keys: k, every: every, work: make(chan *running), since: time.Now(),
	}
	if p.every <= 0 && b == nil {
		p.every = DefaultEvery
	}
	for range runtime.GOMAXPROCS(0) {
		p.workers.Go(func() {
			d := decoder{reuse: true}
			for b := range p.work {
				p.prepare(b, &d)
				b.done <- struct{}{}
			}
		})
	}
	return p
}

// close stops the goroutines. It drops the blocks that are decoded but not written, so call write first.
func (p *pipeline) close() {
	close(p.work)
	p.workers.Wait()
}

// prepare decodes the records of a block into its part.
func (p *pipeline) prepare(b *running, d *decoder) {
	var key []byte
	first := b.count - int64(len(b.records))
	for i := range b.records {
		rec := &b.records[i]
		at := Reject{File: b.file, Line: rec.Line, order: first + int64(i) + 1}
		it, remove, err := b.decode(rec, d)
		if err == nil {
			key, err = p.keys.appendKey(key[:0], it)
		}
		switch {
		case err != nil:
		case p.bulk == nil:
			b.entries = append(b.entries, entry{bytes.Clone(it), remove, string(key), at})
			b.bytes += len(it)
		case remove:
			err = refusal(b.rows.Delete(it))
		default:
			err = refusal(b.rows.Put(it))
		}

		switch {
		case err != nil:
			at.Reason = reason(err)
			b.rejects = append(b.rejects, at)
		case remove:
			b.deleted++
		default:
			b.written++
		}
	}
	if b.rows != nil {
		b.bytes = b.rows.Bytes()
	}
}

// refusal reduces an error of the database to its message, without the code.
func refusal(err error) error {
	if e, ok := errors.AsType[*wire.Error](err); ok {
		return errors.New(e.Message)
	}
	return err
}

// read reads a block of a file and passes it to a goroutine for decoding.
func (p *pipeline) read(r *Reader, file string) error {
	b, ok := pop(&p.unused)
	if !ok {
		b = &running{done: make(chan struct{}, 1)}
	}
	b.file = file
	most := blockRecords
	if p.every > 0 {
		most = int(min(p.every, blockRecords))
	}
	err := r.readBlock(&b.block, most)
	if len(b.records) == 0 {
		p.unused = append(p.unused, b)
		return err
	}
	if p.bulk != nil {
		if b.rows, ok = pop(&p.rows); !ok {
			b.rows = p.bulk.Part()
		}
	}
	p.running = append(p.running, b)
	p.reading += len(b.data)
	p.work <- b
	return err
}

// pop removes the last element of a list and returns it.
func pop[T any](list *[]T) (last T, ok bool) {
	n := len(*list)
	if n == 0 {
		return last, false
	}
	last = (*list)[n-1]
	*list = (*list)[:n-1]
	return last, true
}

// next waits until the first of the running blocks is decoded, and appends it to the blocks that are ready to be
// written. It returns the number of records of the file up to the end of that block, and the line there.
func (p *pipeline) next() (count, line int64) {
	b := p.running[0]
	<-b.done
	p.running = slices.Delete(p.running, 0, 1)
	p.ready = append(p.ready, b.part)
	p.bytes += b.bytes
	if p.reading -= len(b.data); cap(b.data) > keptBytes {
		b.data = nil
	}
	b.part = part{}
	p.unused = append(p.unused, b)
	return b.count, b.line
}

// full reports whether it is time to write the blocks that are ready.
func (p *pipeline) full() bool {
	most := loadBytes
	if p.bulk == nil {
		most = sendBytes
	}
	return p.bytes >= most || len(p.ready) > 0 && time.Since(p.since) >= loadTime
}

// write writes the items of the blocks that are ready. It returns the rejects in the order of the file, and the
// numbers of items that it has written and deleted. If it returns an error, both numbers are 0, although it may have
// written some items.
func (p *pipeline) write() (rejects []Reject, written, deleted int64, err error) {
	if p.bulk == nil {
		err = p.send.write(p.ctx, p.ready)
	} else {
		rows := make([]*api.BulkPart, len(p.ready))
		for i, b := range p.ready {
			rows[i] = b.rows
		}
		err = p.bulk.Write(p.ctx, rows)
		p.rows = append(p.rows, rows...)
		for _, r := range rows {
			r.Reset()
		}
	}
	for _, b := range p.ready {
		rejects = append(rejects, b.rejects...)
		written += b.written
		deleted += b.deleted
		for _, e := range b.entries {
			switch {
			case e.at.Reason == "":
				continue
			case e.remove:
				deleted--
			default:
				written--
			}
			rejects = append(rejects, e.at)
		}
	}
	slices.SortFunc(rejects, func(a, b Reject) int { return int(a.order - b.order) })
	clear(p.ready)
	p.ready, p.bytes, p.since = p.ready[:0], 0, time.Now()
	if err != nil {
		return nil, 0, 0, p.explain(err)
	}
	return rejects, written, deleted, nil
}

// explain returns the cause of an error of the database, such as a full disk. If the table does not exist any more,
// it returns an error that says so.
func (p *pipeline) explain(err error) error {
	code := ""
	if e, ok := errors.AsType[*wire.Error](err); ok {
		if e.Err != nil {
			return e.Err
		}
		code = e.Code
	} else if e, ok := errors.AsType[smithy.APIError](err); ok {
		code = e.ErrorCode()
	}
	if code != "ResourceNotFoundException" {
		return err
	}
	return fail(errors.Join(ErrRestart, err), "", "table %s was deleted, with the items written to it", p.send.table)
}

// importRecords imports the records of a file after the position at.
func (im *importer) importRecords(
	ctx context.Context, p *pipeline, in *input, f File, r *Reader, at position,
) error {
	table, last := &im.journal.Tables[at.Source], at.Records
	// absorb calls next until at most n blocks are running. When enough blocks are ready, it writes them and saves a
	// checkpoint.
	absorb := func(n int) error {
		for len(p.running) > n || len(p.running) > 0 && p.reading > readingBytes {
			before := at.Records
			at.Records, at.Line = p.next()
			im.items += at.Records - before
			im.result.Read += at.Records - before
			table.Read += at.Records - before
			im.progress(
				Progress{Phase: "import", Bytes: im.before + in.packed.Load(), Total: im.total, Items: im.items},
			)
			if p.full() || p.every > 0 && at.Records-last >= p.every {
				if err := im.checkpoint(p, at); err != nil {
					return err
				}
				last = at.Records
			}
		}
		return nil
	}
	for ctx.Err() == nil {
		err := p.read(r, f.Path)
		if err == nil {
			if err := absorb(2 * runtime.GOMAXPROCS(0)); err != nil {
				return err
			}
			continue
		}
		if err := absorb(0); err != nil {
			return err
		}
		if errors.Is(err, io.EOF) {
			return im.end(p, in, f, r, at)
		}
		return im.broken(p, f, at, err)
	}

	if err := absorb(0); err != nil {
		return err
	}
	stop := context.Cause(ctx)
	if err := im.checkpoint(p, at); err != nil && !errors.Is(err, stop) {
		return errors.Join(stop, err)
	}
	return stop
}
