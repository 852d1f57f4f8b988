package tikv

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	tikverr "github.com/tikv/client-go/v2/error"
	"github.com/tikv/client-go/v2/tikv"
	"github.com/tikv/client-go/v2/tikvrpc"
	"github.com/tikv/client-go/v2/txnkv/txnlock"
)

// A pair is a key of TiKV with its stored value.
type pair struct{ key, value []byte }

// A slice describes one read: up to limit pairs with keys in [lo, hi), as of a
// timestamp.
type slice struct {
	lo, hi  []byte
	limit   int
	reverse bool
	ts      uint64
	own     uint64 // a transaction whose locks the read ignores, or 0
}

// scan reads a slice. It sends its requests itself, because the client's iterators have no lower bound in reverse, do
// not end with a context, and read chunks of one size only.
func (s *Store) scan(ctx context.Context, in slice) (pairs []pair, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	defer cancel()
	bo := s.backoffer(ctx)
	for bytes.Compare(in.lo, in.hi) < 0 && len(pairs) < in.limit {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}

		// Read the part of the slice that is in the next region. If that region has split or moved meanwhile, the
		// loop looks up the regions again.
		part, next := in, in
		part.limit = in.limit - len(pairs)
		var loc *tikv.KeyLocation
		if in.reverse {
			if loc, err = s.client.GetRegionCache().LocateEndKey(bo, in.hi); err != nil {
				return nil, err
			}
			if bytes.Compare(loc.StartKey, in.lo) > 0 {
				part.lo = loc.StartKey
			}
			next.hi = part.lo
		} else {
			if loc, err = s.client.GetRegionCache().LocateKey(bo, in.lo); err != nil {
				return nil, err
			}
			if len(loc.EndKey) > 0 && bytes.Compare(loc.EndKey, in.hi) < 0 {
				part.hi = loc.EndKey
			}
			next.lo = part.hi
		}

		scanned, moved, err := s.scanRegion(bo, loc.Region, part)
		switch {
		case err != nil:
			return nil, err
		case moved:
			continue
		}

		found, err := s.settled(ctx, scanned, in.ts)
		if err != nil {
			return nil, err
		}
		if n := len(found); n == part.limit { // the region may contain more
			if next = in; in.reverse {
				next.hi = found[n-1].key
			} else {
				next.lo = append(slices.Clone(found[n-1].key), 0)
			}
		}

		for _, p := range found {
			if p.value != nil {
				pairs = append(pairs, p)
			}
		}

		in = next
	}

	if err := s.client.CheckVisibility(in.ts); err != nil {
		return nil, err // garbage collection may have removed rows of that timestamp
	}
	return pairs, nil
}

// scanRegion reads a slice that is in one region. If the region has split or moved, it returns true for moved.
func (s *Store) scanRegion(
	bo *tikv.Backoffer, region tikv.RegionVerID, in slice,
) (pairs []*kvrpcpb.KvPair, moved bool, err error) {
	request := &kvrpcpb.ScanRequest{StartKey: in.lo, EndKey: in.hi, Limit: uint32(in.limit), Version: in.ts}
	if in.reverse {
		request.StartKey, request.EndKey, request.Reverse = in.hi, in.lo, true
	}

	var ignored kvrpcpb.Context
	if in.own != 0 {
		ignored.ResolvedLocks = []uint64{in.own}
	}
	for {
		answer, err := s.client.SendReq(
			bo, tikvrpc.NewRequest(tikvrpc.CmdScan, request, ignored), region, tikv.ReadTimeoutMedium,
		)
		if err != nil {
			return nil, false, err
		}

		if refused, err := answer.GetRegionError(); err != nil {
			return nil, false, err
		} else if refused != nil {
			return nil, true, bo.Backoff(tikv.BoRegionMiss(), errors.New(refused.String()))
		}

		scanned, ok := answer.Resp.(*kvrpcpb.ScanResponse)
		if !ok {
			return nil, false, tikverr.ErrBodyMissing
		}
		if keyErr := scanned.GetError(); keyErr != nil {
			if err := s.settleLock(bo, keyErr, in.ts); err != nil {
				return nil, false, err
			}
			continue
		}
		return scanned.Pairs, false, nil
	}
}

// settleLock handles the lock in an error of TiKV: it asks whether the lock's transaction is committed, so that the
// read can continue. If that transaction is still running, settleLock waits for a while.
func (s *Store) settleLock(bo *tikv.Backoffer, keyErr *kvrpcpb.KeyError, ts uint64) error {
	lock, err := txnlock.ExtractLockFromKeyErr(keyErr)
	if err != nil {
		return err
	}
	wait, err := s.client.GetLockResolver().ResolveLocks(bo, ts, []*txnlock.Lock{lock})
	if err != nil || wait <= 0 {
		return err
	}
	return bo.BackoffWithMaxSleepTxnLockFast(int(wait), errors.New(keyErr.String()))
}

// settled returns the pairs of a read. For each row that was locked, it asks the client's snapshot for the value as
// of the timestamp, which is nil if the row did not exist.
func (s *Store) settled(ctx context.Context, scanned []*kvrpcpb.KvPair, ts uint64) ([]pair, error) {
	pairs := make([]pair, len(scanned))
	for i, p := range scanned {
		pairs[i] = pair{p.Key, p.Value}
		if p.GetError() == nil {
			continue
		}
		lock, err := txnlock.ExtractLockFromKeyErr(p.GetError())
		if err != nil {
			return nil, err
		}
		pairs[i].key = lock.Key
		pairs[i].value, err = s.client.GetSnapshot(ts).Get(ctx, lock.Key)
		if err != nil && !tikverr.IsErrNotFound(err) {
			return nil, err
		}
	}
	return pairs, nil
}

// backoffer returns an object of the client that limits its retries by time.
func (s *Store) backoffer(ctx context.Context) *tikv.Backoffer {
	return tikv.NewBackofferWithVars(ctx, int(s.opts.Timeout/time.Millisecond), nil)
}

// An observation is a slice that an Update has read, with a digest of its pairs.
type observation struct {
	slice
	digest [sha256.Size]byte
}

func digest(pairs []pair) (sum [sha256.Size]byte) {
	h := sha256.New()
	var size [binary.MaxVarintLen64]byte
	for _, p := range pairs {
		for _, part := range [][]byte{p.key, p.value} {
			h.Write(size[:binary.PutUvarint(size[:], uint64(len(part)))])
			h.Write(part)
		}
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// observe records the pairs of a slice. If the read stopped at its limit, there may be more pairs, so the observation
// ends with the last pair read.
func observe(in slice, pairs []pair) observation {
	if n := len(pairs); n == in.limit {
		if in.reverse {
			in.lo = pairs[n-1].key
		} else {
			in.hi = append(slices.Clone(pairs[n-1].key), 0)
		}
	}
	return observation{in, digest(pairs)}
}

// unchanged returns an error if a slice contains other pairs as of a later timestamp. It ignores locks of the
// transaction own. It reads one row more than observe recorded, so that a new row changes the digest.
func (s *Store) unchanged(ctx context.Context, o observation, ts, own uint64) error {
	again := o.slice
	again.ts, again.own, again.limit = ts, own, o.limit+1
	pairs, err := s.scan(ctx, again)
	if err == nil && digest(pairs) != o.digest {
		err = fmt.Errorf("%w: a range that the update has read has changed", errConflict)
	}
	return err
}
