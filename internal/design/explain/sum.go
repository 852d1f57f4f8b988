package explain

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

// Sum returns a report of what several requests read together. The report has the range of the first request. If a
// request was refused, Sum returns the report of that request.
func Sum(reports []*Report) *Report {
	sum := *reports[0]
	sum.Rows, sum.Tail = slices.Clone(sum.Rows), slices.Clone(sum.Tail)
	sum.Items, sum.Entities = slices.Clone(sum.Items), slices.Clone(sum.Entities)
	for _, r := range reports[1:] {
		if r.Refused != nil {
			return r
		}
		sum.Pages += r.Pages
		sum.Examined += r.Examined
		sum.Returned += r.Returned
		sum.Bytes += r.Bytes
		sum.Wasted += r.Wasted
		sum.Fetched += r.Fetched
		sum.Strong += r.Strong
		sum.Eventual += r.Eventual
		sum.Consumed += r.Consumed
		sum.Rows = append(sum.Rows, r.Rows...)
		sum.Tail = append(sum.Tail, r.Tail...)
		sum.Items = append(sum.Items, r.Items...)
		sum.addShares(r.Entities)
	}
	return &sum
}

// addShares adds another report's shares to those of r.
func (r *Report) addShares(more []Share) {
	for _, s := range more {
		i := slices.IndexFunc(r.Entities, func(own Share) bool { return own.Entity == s.Entity })
		if i < 0 {
			r.Entities = append(r.Entities, s)
			continue
		}
		own := &r.Entities[i]
		own.Examined += s.Examined
		own.Returned += s.Returned
		own.Bytes += s.Bytes
		own.Wasted += s.Wasted
	}
	slices.SortFunc(r.Entities, func(a, b Share) int { return cmp.Compare(a.Entity, b.Entity) })
}

// A Batch describes the items that BatchGetItem requests read.
type Batch struct {
	// Requests is the number of BatchGetItem requests. Keys is the number of different keys, and Items the number of
	// items that exist. Bytes is the size of these items by the documented rules.
	Requests, Keys, Items, Bytes int
	// Strong and Eventual are the read units with and without ConsistentRead.
	Strong, Eventual float64
}

// batchKeys is the largest number of keys in a BatchGetItem:
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html
const batchKeys = 100

// GetBatch reads items of a table by key, in batches of 100. It reads each key once, even if keys repeats it.
func GetBatch(ctx context.Context, t Target, tableName string, keys []attr.Item) (*Batch, error) {
	b := new(Batch)
	seen := map[string]bool{}
	var rest []attr.Item
	for _, k := range keys {
		if !seen[string(k)] {
			seen[string(k)] = true
			rest = append(rest, k)
		}
	}
	b.Keys = len(rest)
	for len(rest) > 0 {
		now := rest[:min(batchKeys, len(rest))]
		rest = rest[len(now):]
		in := &wire.BatchGetItemInput{RequestItems: map[string]wire.KeysAndAttributes{tableName: {Keys: now}}}
		out, _, err := t.Do(ctx, in)
		if err != nil {
			return nil, err
		}
		got, ok := out.(*wire.BatchGetItemOutput)
		if !ok {
			return nil, fmt.Errorf("the answer to a BatchGetItem is a %T", out)
		}

		b.Requests++
		items := got.Responses[tableName]
		unprocessed := got.UnprocessedKeys[tableName].Keys
		left := len(unprocessed)
		rest = append(slices.Clone(unprocessed), rest...)
		if left == len(now) {
			return nil, fmt.Errorf("the endpoint reads none of %s of table %s", text.Count(left, "item"), tableName)
		}
		b.Items += len(items)
		for _, it := range items {
			b.Bytes += it.Size()
			b.Strong += table.ReadUnits(it.Size(), true)
		}
		// A key without an item costs as much as an empty item.
		b.Strong += float64(len(now)-left-len(items)) * table.ReadUnits(0, true)
	}
	b.Eventual = b.Strong / 2
	return b, nil
}
