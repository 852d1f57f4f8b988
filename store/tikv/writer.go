package tikv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	"github.com/tikv/client-go/v2/kv"
	"github.com/tikv/client-go/v2/tikv"
	"github.com/tikv/client-go/v2/tikvrpc"
	"github.com/tikv/client-go/v2/tikvrpc/interceptor"
	"github.com/tikv/client-go/v2/txnkv/transaction"
	"github.com/tikv/client-go/v2/txnkv/txnlock"

	"github.com/sortkey/sortkey/internal/address"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/internal/remote"
)

// A writer is the transaction of one attempt of an Update. The package comment says why it works as it does.
type writer struct {
	reader
	txn      *transaction.KVTxn
	changes  *remote.Changes
	locked   bool // whether it has locked a row
	observed []observation
	fault    error // error of a read; if not nil, the update cannot be committed

	mu      sync.Mutex      // guards the fields below, which requests of the commit use
	primary []byte          // key whose record in TiKV says whether the transaction is committed
	met     map[uint64]bool // transactions whose locks requests of the first phase have met
	allowed uint64          // the timestamp that the transaction may commit at
	refused error           // why it may not commit, or nil
}

// begin starts the transaction at a new timestamp, which the lease must cover.
func (w *writer) begin() error {
	ts, err := w.store.now(w.ctx)
	if err != nil {
		return err
	}
	txn, err := w.store.client.Begin(tikv.WithStartTS(ts))
	if err != nil {
		return w.failed(err)
	}
	txn.SetPessimistic(true)
	txn.SetRPCInterceptor(w.intercept)
	w.ts, w.txn = ts, txn
	return nil
}

// finish ends the transaction, unless it is committed, and releases its locks. It waits only a short time for the
// cluster, because locks that it cannot release expire.
func (w *writer) finish() {
	w.done.Store(true)
	if w.txn == nil || !w.txn.Valid() {
		return
	}
	released := make(chan struct{})
	w.store.background.Go(func() {
		defer close(released)
		_ = w.txn.Rollback()
	})
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	select {
	case <-released:
	case <-timer.C:
	case <-w.ctx.Done():
	}
}

// fail records err as the fault of the Update, unless the Update has one already.
func (w *writer) fail(err error) error {
	err = w.failed(err)
	if w.fault == nil {
		w.fault = err
	}
	return err
}

// read returns a row and locks it, whether or not it exists.
func (w *writer) read(space store.Space, addr []byte) (value []byte, ok bool, err error) {
	if w.fault != nil {
		return nil, false, w.fault
	}

	known, ok := w.changes.Get(space, addr)
	switch {
	case known.Dropped: // locked, so it has not changed
		return w.get(addr)
	case ok:
		return known.Value, !known.Deleted, nil
	}

	key := w.store.keys.key(addr)
	for tries := 1; ; tries++ {
		found, err := w.lock(key)
		if err == nil {
			read := remote.Row{Addr: addr, Deleted: !found.Exists}
			if found.Exists {
				if read.Value, _, err = decode(found.Value); err != nil {
					return nil, false, w.fail(err)
				}
			}
			w.locked = true
			w.changes.Remember(read)
			return read.Value, found.Exists, nil
		}
		if w.locked || len(w.observed) > 0 || !conflicts(err) || tries > aloneAfter || w.ctx.Err() != nil {
			return nil, false, w.fail(err)
		}

		// Nothing was read so far, so begin the transaction again at a later timestamp.
		_ = w.txn.Rollback()
		if err := w.begin(); err != nil {
			return nil, false, w.fail(err)
		}
	}
}

// lock locks a key and returns its stored value. The error is a conflict if the key has changed since the transaction
// began.
func (w *writer) lock(key []byte) (kv.ReturnedValue, error) {
	// The lock request has a timeout too. This one is longer, so that the request's own error comes first.
	ctx, cancel := context.WithTimeout(w.ctx, 2*w.store.opts.Timeout)
	defer cancel()
	request := kv.NewLockCtx(w.ts, w.store.opts.Timeout.Milliseconds(), time.Now())
	request.InitReturnValues(1)
	err := w.txn.LockKeys(ctx, request, key)
	return request.Values[string(key)], err
}

// check returns an error if a row of the given size cannot be written.
func (w *writer) check(size int) error {
	if err := w.Err(); err != nil {
		return err
	}
	switch {
	case size > maxValue:
		return fmt.Errorf("%w: a row of %d bytes, more than %d", errTooLarge, size, maxValue)
	case size > maxUpdate-w.changes.Size():
		return fmt.Errorf("%w: more than %d bytes", errTooLarge, maxUpdate)
	}
	return nil
}

// Put implements [store.Writer].
func (w *writer) Put(space store.Space, partition, sort, value []byte) error {
	if err := w.check(address.Len(partition, sort) + len(value)); err != nil {
		return err
	}
	w.changes.Set(remote.Row{Addr: address.Append(nil, space, partition, sort), Value: value})
	return nil
}

// Delete implements [store.Writer].
func (w *writer) Delete(space store.Space, partition, sort []byte) error {
	if err := w.check(address.Len(partition, sort)); err != nil {
		return err
	}
	w.changes.Set(remote.Row{Addr: address.Append(nil, space, partition, sort), Deleted: true})
	return nil
}

// Clear implements [store.Writer]. It reads the space and deletes its rows one by
// one: TiKV removes ranges only outside of transactions. See [Store.ClearLimit].
func (w *writer) Clear(space store.Space) error {
	if err := w.check(0); err != nil {
		return err
	}
	for found, err := range w.Scan(space, store.Everything()) {
		if err == nil {
			err = w.Delete(space, found.Partition, found.Sort)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// commit applies the changes. Once it has begun, it ignores the end of the context and waits for the outcome, for a
// limited time. It never guesses the outcome. An update without changes needs no commit, because all of its reads are
// as of one timestamp.
func (w *writer) commit() error {
	if w.changes.Empty() {
		return nil
	}

	var failed error
	for r := range w.changes.All() {
		switch {
		case r.Unchanged: // it is locked
		case r.Deleted:
			failed = w.txn.Delete(w.store.keys.key(r.Addr))
		default:
			failed = w.txn.Set(w.store.keys.encode(r.Addr, r.Value))
		}
		if failed != nil {
			break
		}
	}

	if failed == nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(w.ctx), w.store.opts.Timeout)
		failed = w.txn.Commit(ctx)
		cancel()
	}

	w.mu.Lock()
	defer w.mu.Unlock()
	large := tooLarge(failed)
	switch {
	case failed == nil:
		return nil
	case large != nil:
		return large
	case w.refused != nil && !errors.Is(w.refused, errConflict):
		return w.refused
	case w.refused != nil:
		return &retry{true, w.refused}
	case w.allowed != 0: // so the commit was sent
		return w.store.resolve(w.ts, w.primary, failed)
	}
	return &retry{conflicts(failed), fmt.Errorf("tikv: the update was not applied: %w", failed)}
}

// intercept returns a function that sends the requests of the transaction. When the client has written all locks, it
// gets a timestamp and asks TiKV to commit at this timestamp; intercept answers with an error instead if allow
// refuses the timestamp. If TiKV refuses it, the client asks for a later one.
func (w *writer) intercept(next interceptor.RPCInterceptorFunc) interceptor.RPCInterceptorFunc {
	return func(target string, request *tikvrpc.Request) (*tikvrpc.Response, error) {
		switch request.Type {
		case tikvrpc.CmdPrewrite:
			w.mu.Lock()
			w.primary = bytes.Clone(request.Prewrite().PrimaryLock)
			w.mu.Unlock()
			answer, err := next(target, request)
			if err == nil {
				w.refuseLocked(answer)
			}
			return answer, err
		case tikvrpc.CmdCommit:
			if err := w.allow(request.Commit().CommitVersion); err != nil {
				return &tikvrpc.Response{
					Resp: &kvrpcpb.CommitResponse{Error: &kvrpcpb.KeyError{Abort: err.Error()}},
				}, nil
			}
		}
		return next(target, request)
	}
}

// refuseLocked turns an answer of the first phase into a conflict when the phase meets the lock of a transaction for
// the second time. Then this Update gives way, and the other transaction can continue. The client would wait for the
// lock, perhaps for ever: rows that are written without being read are locked only now, and nothing detects a
// deadlock in this phase.
func (w *writer) refuseLocked(answer *tikvrpc.Response) {
	written, ok := answer.Resp.(*kvrpcpb.PrewriteResponse)
	if !ok {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, keyErr := range written.Errors {
		lock := keyErr.GetLocked()
		switch {
		case lock == nil:
		case w.met[lock.LockVersion]:
			w.refused = fmt.Errorf("%w: it holds a row that is to be written", errConflict)
			written.Errors = []*kvrpcpb.KeyError{{Abort: w.refused.Error()}}
			return
		default:
			if w.met == nil {
				w.met = map[uint64]bool{}
			}
			w.met[lock.LockVersion] = true
		}
	}
}

// allow returns an error unless the transaction may commit at a timestamp. The lease must include the timestamp, and
// what the Update has read must still be the same as of it. Single rows are locked and so the same; allow reads the
// ranges again.
func (w *writer) allow(ts uint64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refused != nil || w.allowed == ts {
		return w.refused
	}
	if w.refused = w.store.lease.covers(w.ctx, ts); w.refused != nil {
		return w.refused
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.ctx), w.store.opts.Timeout)
	defer cancel()
	for _, o := range w.observed {
		if w.refused = w.store.unchanged(ctx, o, ts, w.ts); w.refused != nil {
			return w.refused
		}
	}
	w.allowed = ts
	return nil
}

// resolve finds out the outcome of a transaction whose commit got no answer. It returns nil if the transaction is
// committed, and a retry if it is not and never will be. TiKV stores the outcome under the transaction's primary key.
// resolve asks TiKV to roll back the transaction as if its lock had expired. TiKV does so at once, unless the commit
// has already replaced the lock. The record of the rollback stops a commit that arrives later.
func (s *Store) resolve(ts uint64, primary []byte, cause error) error {
	s.counts.resolved.Add(1)
	s.opts.Logger.Warn("a commit got no answer; looking it up", "err", cause)
	ctx, cancel := context.WithTimeout(context.Background(), s.opts.Timeout)
	defer cancel()
	resolver := s.client.GetLockResolver()
	for tries := 1; ; tries++ {
		lock := &txnlock.Lock{Key: primary, Primary: primary, TxnID: ts, LockType: kvrpcpb.Op_Put}
		_, err := resolver.ResolveLocks(s.backoffer(ctx), 0, []*txnlock.Lock{lock})
		var status txnlock.TxnStatus
		if err == nil {
			status, err = resolver.GetTxnStatus(ts, 0, primary)
		}
		switch {
		case err == nil && status.IsCommitted():
			return nil
		case err == nil && status.IsRolledBack():
			return &retry{false, fmt.Errorf("tikv: the update was not applied: %w", cause)}
		}
		if waited := backoff(ctx, tries); waited != nil {
			return fmt.Errorf("%w: %w, and then %w", ErrUnknown, cause, errors.Join(err, waited))
		}
	}
}
