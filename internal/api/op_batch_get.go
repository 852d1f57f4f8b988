package api

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/api/event"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

// maxBatchBytes is how many bytes of items BatchGetItem returns at most. The keys of further items go to
// UnprocessedKeys. Source: the example in API_BatchGetItem, which returns 52 of 100 items of 300 KB "so as not to
// exceed the 16 MB limit". 52 items of 307,200 bytes have less than 16 million bytes, and 53 have more.
const maxBatchBytes = 16_000_000

// prefetchKeys is how many items BatchGetItem prefetches at once. With items of 400 KB that takes 10 MB of memory in
// addition to the response.
const prefetchKeys = 25

// keysOf yields each key with its table t.
func keysOf(t *table.Table, keys []attr.Item) iter.Seq2[*table.Table, attr.Item] {
	return func(yield func(*table.Table, attr.Item) bool) {
		for _, key := range keys {
			if !yield(t, key) {
				return
			}
		}
	}
}

// checkKeys returns an error if a key does not match the schema of its table. A request may list the same table
// twice, by name and by ARN. If a key is in both lists, checkKeys returns an error too. The caller has already
// compared the keys within a list. named has the keys of the tables checked so far, by table name.
func checkKeys(t *table.Table, keys []attr.Item, named map[string][]attr.Item) error {
	before, again := named[t.Name()]
	named[t.Name()] = keys
	if again {
		named[t.Name()] = slices.Concat(before, keys)
		seen := itemSet{}
		return cmp.Or(seen.addAll(t, before), seen.addAll(t, keys))
	}
	for _, key := range keys {
		if err := t.CheckKey(key); err != nil {
			return err
		}
	}
	return nil
}

// MaxBatchKeys is the maximum number of keys in a BatchGetItem.
const MaxBatchKeys = 100

// batchGetItem reads up to 100 items of any tables from one snapshot.
func (s *Service) batchGetItem(ctx context.Context, in *wire.BatchGetItemInput) (*wire.BatchGetItemOutput, error) {
	// The parameters of one table exclude those of another: conformance, eu-west-2.
	all := new(wire.KeysAndAttributes)
	for _, ka := range in.RequestItems {
		all.ProjectionExpression = cmp.Or(all.ProjectionExpression, ka.ProjectionExpression)
		if ka.AttributesToGet != nil {
			all.AttributesToGet = ka.AttributesToGet
		}
	}
	if err := wire.OpBatchGetItem.CheckParams(all); err != nil {
		return nil, err
	}

	// The service does each check for all tables before it begins with the next check.
	names := slices.Sorted(maps.Keys(in.RequestItems))
	reads := make([]readParams, len(names))
	keys := make(map[string][]attr.Item, len(names)) // by table
	total := 0
	for i, name := range names {
		ka := in.RequestItems[name]
		if err := wire.OpBatchGetItem.CheckParams(&ka); err != nil {
			return nil, err
		}
		reads[i] = readParams{
			expressions: expressions{op: wire.OpBatchGetItem, names: ka.ExpressionAttributeNames},
			consistent:  value(ka.ConsistentRead),
		}
		keys[name] = ka.Keys
		if total += len(ka.Keys); total > MaxBatchKeys {
			return nil, wire.OpBatchGetItem.Invalid("Too many items requested for the BatchGetItem call")
		}
	}

	if err := wire.OpBatchGetItem.FaultError(in.Faults, ""); err != nil {
		return nil, err
	}
	for _, ka := range in.RequestItems {
		if slices.Contains(ka.AttributesToGet, "") {
			return nil, wire.OpBatchGetItem.Invalid(msgNoName)
		}
	}
	for i, name := range names {
		ka := in.RequestItems[name]
		if err := reads[i].parseProjection(ka.ProjectionExpression, ka.AttributesToGet); err != nil {
			return nil, err
		}
		// The service compares the keys before it looks up the table: dynalite, validations/batchGetItem.js.
		seen := make(map[string]bool, len(ka.Keys))
		for k, key := range ka.Keys {
			if seen[string(key)] = true; len(seen) == k {
				return nil, wire.OpBatchGetItem.Invalid(msgDuplicateKeys)
			}
		}
	}

	out := &wire.BatchGetItemOutput{
		Responses: map[string][]attr.Item{}, UnprocessedKeys: map[string]wire.KeysAndAttributes{},
	}
	var uses []use

	// A fault may remove keys before the read; the response returns them as unprocessed.
	keys, left := leave(ctx, keys)

	b := s.budget(ctx, false)
	var throttled error // of the first key
	processed := 0      // keys
	err := s.db.View(ctx, func(view *table.View) error {
		var a answer
		read := 0 // bytes
		full := false
		// View may call this function again with newer definitions, so drop the results of an earlier call.
		throttled, processed = nil, 0
		clear(out.UnprocessedKeys)
		named := map[string][]attr.Item{} // keys by table name
		uses = uses[:0]
		for i, name := range names {
			keys, some := keys[name]
			if !some {
				continue // left by a fault
			}
			t, err := s.lookup(view.Table, &name)
			if err != nil {
				return err
			}
			if err := cmp.Or(checkKeys(t, keys, named), reads[i].checkProjection(t)); err != nil {
				return err
			}
			items := []attr.Item{}
			rest := in.RequestItems[name]
			rest.Keys = nil
			var used table.Capacity

			// If an item does not fit into the response, its key and all later keys, including those of later tables,
			// are unprocessed. If a key is throttled, only that key is unprocessed.
			for k, key := range keys {
				if full {
					rest.Keys = append(rest.Keys, keys[k:]...)
					break
				}
				if k%prefetchKeys == 0 {
					if err := view.Prefetch(keysOf(t, keys[k:min(k+prefetchKeys, len(keys))])); err != nil {
						return err
					}
				}
				item, err := readItem(view, t, key, reads[i].consistent)
				if err != nil {
					return err
				}
				projected := reads[i].project(item)
				if full = item != nil && (read+item.Size() > maxBatchBytes || !a.fits(projected)); full {
					rest.Keys = append(rest.Keys, key)
					continue
				}
				units := table.ReadUnits(t.BilledSize(item), reads[i].consistent)
				if err := b.item(t, key, units); err != nil {
					throttled = cmp.Or(throttled, err)
					rest.Keys = append(rest.Keys, key)
					continue
				}
				processed++
				used.Table += units
				if item != nil {
					read += item.Size()
					items = append(items, bytes.Clone(projected))
				}
			}

			if rest.Keys != nil {
				out.UnprocessedKeys[name] = rest
			}
			out.Responses[name] = items
			uses = append(uses, use{t.Name(), name, used})
		}
		out.ConsumedCapacity = consumedBy(in.ReturnConsumedCapacity, uses)

		if processed == 0 { // API_BatchGetItem: return an error only if all keys are throttled
			return throttled
		}
		return a.reserve(ctx)
	})

	// The keys that a fault removed come after the keys that the read did not process.
	for name, later := range left {
		ka := in.RequestItems[name]
		ka.Keys = slices.Concat(out.UnprocessedKeys[name].Keys, later)
		out.UnprocessedKeys[name] = ka
	}
	if err == nil {
		b.spend()
		consumeAll(ctx, false, uses)
		found := 0
		for _, items := range out.Responses {
			found += len(items)
		}
		event.Of(ctx).Got(processed, found)
	}
	return out, err
}
