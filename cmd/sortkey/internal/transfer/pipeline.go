package transfer

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/sdkvalue"
)

const (
	batchWrites = 25 // the most writes of a BatchWriteItem
	// batchEntries bounds the entries of a batch. Of those with one key only the
	// last is written.
	batchEntries = 1000
	// batchBytes bounds the size of a batch, and flightBytes the size of all
	// items that have been read but not yet written. The service limits a
	// request to 16 MB.
	batchBytes  = 2 << 20
	flightBytes = 12 << 20
	queueLength = 64
)

// An entry is one write.
type entry struct {
	item   attr.Item
	remove bool
	key    string
	at     Reject // place in the input, without a reason
	size   int
}

// A message tells a worker to write an entry, to write its batch now, or to
// write its batch and call barrier.Done.
type message struct {
	entry   entry
	flush   bool
	barrier *sync.WaitGroup
}

// A pipeline writes entries with several workers. All entries of one key go to
// one worker, which keeps their order.
type pipeline struct {
	ctx    context.Context //nolint:containedctx // of the writes, which outlives the context of reading
	retry  *retrier
	table  string
	keys   *keys
	sender *sender // of a client that sends requests over HTTP; may be nil
	queues []chan message
	done   sync.WaitGroup

	mu      sync.Mutex
	freed   sync.Cond
	used    int // bytes in flight
	err     error
	rejects []Reject
	written int64
	deleted int64
}

func startPipeline(ctx context.Context, r *retrier, table string, k *keys, workers int, http bool) *pipeline {
	p := &pipeline{ctx: ctx, retry: r, table: table, keys: k}
	if http {
		p.sender = newSender(r.client)
	}
	p.freed.L = &p.mu
	for range workers {
		q := make(chan message, queueLength)
		p.queues = append(p.queues, q)
		p.done.Go(func() {
			p.work(q)
		})
	}
	return p
}

// close implements [recordWriter].
func (p *pipeline) close() {
	for _, q := range p.queues {
		close(q)
	}
	p.done.Wait()
}

// put passes an entry to a worker. It waits while too many bytes are in flight.
// It returns the error of an earlier write, if one failed.
func (p *pipeline) put(e entry, key []byte) error {
	p.mu.Lock()
	if p.full(e.size) {
		// The bytes in flight may all be in batches that are not full.
		p.mu.Unlock()
		for _, q := range p.queues {
			q <- message{flush: true}
		}
		p.mu.Lock()
		for p.full(e.size) {
			p.freed.Wait()
		}
	}
	p.used += e.size
	err := p.err
	p.mu.Unlock()
	if err != nil {
		return err
	}
	p.queues[shard(key, len(p.queues))] <- message{entry: e}
	return nil
}

func (p *pipeline) full(more int) bool {
	return p.err == nil && p.used > 0 && p.used+more > flightBytes
}

// barrier implements [recordWriter].
func (p *pipeline) barrier() (rejects []Reject, written, deleted int64, err error) {
	var wg sync.WaitGroup
	wg.Add(len(p.queues))
	for _, q := range p.queues {
		q <- message{barrier: &wg}
	}
	wg.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	rejects, written, deleted = p.rejects, p.written, p.deleted
	p.rejects, p.written, p.deleted = nil, 0, 0
	slices.SortFunc(rejects, func(a, b Reject) int { return int(a.order - b.order) })
	return rejects, written, deleted, p.err
}

// reject adds a rejected record.
func (p *pipeline) reject(r Reject) {
	p.mu.Lock()
	p.rejects = append(p.rejects, r)
	p.mu.Unlock()
}

// settle releases the bytes of an entry and counts it if it was written.
func (p *pipeline) settle(e entry, done bool) {
	p.mu.Lock()
	p.used -= e.size
	switch {
	case !done:
	case e.remove:
		p.deleted++
	default:
		p.written++
	}
	p.mu.Unlock()
	p.freed.Broadcast()
}

func (p *pipeline) fail(err error) {
	p.mu.Lock()
	if p.err == nil {
		p.err = err
	}
	p.mu.Unlock()
	p.freed.Broadcast()
}

func (p *pipeline) failed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err != nil
}

func (p *pipeline) work(q <-chan message) {
	var batch []entry
	bytes := 0
	last := map[string]int{} // index in batch of the last entry with a key
	flush := func() {
		if len(batch) > 0 {
			p.write(batch, last)
		}
		clear(batch)
		clear(last)
		batch, bytes = batch[:0], 0
	}
	for m := range q {
		switch {
		case m.barrier != nil:
			flush()
			m.barrier.Done()
		case m.flush:
			flush()
		default:
			if bytes+m.entry.size > batchBytes {
				flush()
			}
			last[m.entry.key] = len(batch)
			batch = append(batch, m.entry)
			if bytes += m.entry.size; len(last) == batchWrites || len(batch) == batchEntries {
				flush()
			}
		}
	}

	for _, e := range batch {
		p.settle(e, false)
	}
}

// write writes a batch or, if the endpoint rejects it, each of its entries alone,
// also those that a later one replaces: that may be the one that is rejected.
func (p *pipeline) write(batch []entry, last map[string]int) {
	if p.failed() {
		for _, e := range batch {
			p.settle(e, false)
		}
		return
	}
	if err := p.writeBatch(batch, last); err != nil {
		if !rejected(err) {
			if _, gone := errors.AsType[*types.ResourceNotFoundException](err); gone {
				err = errDeleted(err, p.table)
			}
			p.fail(err)
			for _, e := range batch {
				p.settle(e, false)
			}
			return
		}
		for _, e := range batch {
			if p.failed() {
				p.settle(e, false)
				continue
			}
			err := p.writeOne(e)
			switch {
			case err == nil:
			case rejected(err):
				r := e.at
				r.Reason = rejectReason(err)
				p.reject(r)
			default:
				p.fail(err)
			}
			p.settle(e, err == nil)
		}
	}
}

// errDeleted returns the error for a table that was deleted during an import.
func errDeleted(err error, table string) error {
	return fail(errors.Join(ErrRestart, err), "", "table %s was deleted, with the items written to it", table)
}

// writeBatch writes the last entry of each key in a batch, retrying unprocessed
// ones: the service refuses a batch with one key twice. It settles all entries
// unless there is an error, after which some may have been written.
func (p *pipeline) writeBatch(batch []entry, last map[string]int) error {
	latest := make([]entry, 0, len(last))
	for i, e := range batch {
		if last[e.key] == i {
			latest = append(latest, e)
		}
	}
	if p.sender == nil || !p.sender.send(p.ctx, bodyOf(p.table, latest)) {
		if err := p.retry.write(p.ctx, p.table, latest); err != nil {
			return err
		}
	}
	for _, e := range batch {
		p.settle(e, true)
	}
	return nil
}

// Put writes items of different keys into a table.
func Put(ctx context.Context, client *dynamodb.Client, table string, items []attr.Item) error {
	r := newRetrier(ctx, client, 0, nil)
	for batch := range slices.Chunk(items, batchWrites) {
		entries := make([]entry, len(batch))
		for i, it := range batch {
			entries[i].item = it
		}
		if err := r.write(ctx, table, entries); err != nil {
			return err
		}
	}
	return nil
}

// write writes entries of different keys, at most batchWrites, with the SDK's client.
func (r *retrier) write(ctx context.Context, table string, batch []entry) error {
	left := make([]types.WriteRequest, len(batch))
	for i, e := range batch {
		if e.remove {
			left[i].DeleteRequest = &types.DeleteRequest{Key: sdkvalue.Of(e.item)}
		} else {
			left[i].PutRequest = &types.PutRequest{Item: sdkvalue.Of(e.item)}
		}
	}
	return r.do(ctx, func() error {
		out, err := r.client.BatchWriteItem(
			ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{table: left}}, once,
		)
		if err != nil {
			return err
		}
		before := len(left)
		if left = out.UnprocessedItems[table]; len(left) > 0 {
			return &unprocessed{left: len(left), some: len(left) < before}
		}
		return nil
	})
}

// bodyOf returns the body of a BatchWriteItem, made of the items without the shapes of the SDK.
func bodyOf(table string, batch []entry) []byte {
	body := append(strconv.AppendQuote([]byte(`{"RequestItems":{`), table), ":["...)
	for i, e := range batch {
		if i > 0 {
			body = append(body, ',')
		}
		if e.remove {
			body = append(body, `{"DeleteRequest":{"Key":`...)
		} else {
			body = append(body, `{"PutRequest":{"Item":`...)
		}
		body = append(e.item.AppendJSON(body), "}}"...)
	}
	return append(body, "]}}"...)
}

func (p *pipeline) writeOne(e entry) (err error) {
	if e.remove {
		_, err = call(p.ctx, p.retry, p.retry.client.DeleteItem, &dynamodb.DeleteItemInput{
			TableName: &p.table, Key: sdkvalue.Of(e.item),
		})
		return err
	}
	_, err = call(p.ctx, p.retry, p.retry.client.PutItem, &dynamodb.PutItemInput{
		TableName: &p.table, Item: sdkvalue.Of(e.item),
	})
	return err
}

// rejected reports whether the endpoint rejects the data, so that a retry is
// useless.
func rejected(err error) bool {
	if e, ok := errors.AsType[smithy.APIError](err); ok {
		switch e.ErrorCode() {
		case "ValidationException", "SerializationException", "ItemCollectionSizeLimitExceededException",
			"RequestEntityTooLarge", "RequestEntityTooLargeException":
			return true
		}
	}
	resp, ok := errors.AsType[*smithyhttp.ResponseError](err)
	return ok && resp.HTTPStatusCode() == http.StatusRequestEntityTooLarge
}

func rejectReason(err error) string {
	if e, ok := errors.AsType[smithy.APIError](err); ok && e.ErrorMessage() != "" {
		return reason(errors.New(e.ErrorMessage()))
	}
	return reason(err)
}
