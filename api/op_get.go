package api

import (
	"bytes"
	"context"
	"maps"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/table"
)

// GetItem reads one item.
func (s *Service) GetItem(ctx context.Context, in *GetItemInput) (*GetItemOutput, error) {
	var item attr.Item
	out, err := s.getItem(ctx, in, func(it attr.Item) { item = bytes.Clone(it) })
	if err != nil {
		return nil, s.typedError(err)
	}
	out.Item = item
	return out, nil
}

func (s *Service) serveGetItem(ctx context.Context, body, dst []byte) ([]byte, error) {
	in := new(GetItemInput)
	if err := in.DecodeJSON(body); err != nil {
		return nil, err
	}
	start := len(dst)
	out, err := s.getItem(ctx, in, func(it attr.Item) {
		dst = append(dst, `{"Item":`...)
		dst = it.AppendJSON(dst)
	})
	if err != nil {
		return nil, err
	}
	if len(dst) == start {
		return out.AppendJSON(dst), nil
	}
	if out.ConsumedCapacity == nil {
		return append(dst, '}'), nil
	}
	at := len(dst)
	dst = out.AppendJSON(dst)
	dst[at] = ','
	return dst, nil
}

// getItem reads one item and gives it to found, if there is one; it is valid
// until found returns.
func (s *Service) getItem(ctx context.Context, in *GetItemInput, found func(attr.Item)) (*GetItemOutput, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	if err := in.CheckParams(); err != nil {
		return nil, err
	}
	if err := OpGetItem.FaultError(in.Faults, ""); err != nil {
		return nil, err
	}
	rd := reading{
		request:    request{op: OpGetItem, names: in.ExpressionAttributeNames},
		consistent: value(in.ConsistentRead),
	}
	if err := rd.openProjection(in.ProjectionExpression, in.AttributesToGet); err != nil {
		return nil, err
	}
	out := new(GetItemOutput)
	err := s.db.View(ctx, func(snap *table.Snapshot) error {
		t, err := s.lookup(snap.Table, in.TableName)
		if err != nil {
			return err
		}
		item, err := snap.Get(t, in.Key)
		if err != nil {
			return err
		}
		if item != nil {
			found(rd.project(item))
		}
		c := table.Capacity{Table: table.ReadUnits(item.Size(), rd.consistent)}
		out.ConsumedCapacity = consumed(in.ReturnConsumedCapacity, value(in.TableName), &c)
		return nil
	})
	return out, err
}

// openProjection reads the one expression that reads by key have.
func (rd *reading) openProjection(src *string, attributes []string) (err error) {
	if err := rd.open(); err != nil {
		return err
	}
	if rd.projection, err = rd.request.projection(src, attributes); err != nil {
		return err
	}
	return rd.close()
}

// maxBatchBytes ends the answer of a BatchGetItem; the keys left are
// UnprocessedKeys. Source: API_BatchGetItem, 16 MB.
const maxBatchBytes = 16 << 20

// MaxBatchKeys is how many items a BatchGetItem may ask for.
const MaxBatchKeys = 100

const msgDuplicateKeys = "Provided list of item keys contains duplicates"

// BatchGetItem reads up to 100 items of any tables, all as they are at one
// moment.
func (s *Service) BatchGetItem(ctx context.Context, in *BatchGetItemInput) (*BatchGetItemOutput, error) {
	out, err := s.batchGet(ctx, in)
	return out, s.typedError(err)
}

func (s *Service) batchGet(ctx context.Context, in *BatchGetItemInput) (*BatchGetItemOutput, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(in.RequestItems))
	reads := make([]reading, len(names))
	total := 0
	for i, name := range names {
		ka := in.RequestItems[name]
		if err := ka.CheckParams(); err != nil {
			return nil, err
		}
		reads[i] = reading{
			request:    request{op: OpBatchGetItem, names: ka.ExpressionAttributeNames},
			consistent: value(ka.ConsistentRead),
		}
		if total += len(ka.Keys); total > MaxBatchKeys {
			return nil, OpBatchGetItem.Invalid("Too many items requested for the BatchGetItem call")
		}
	}
	if err := OpBatchGetItem.FaultError(in.Faults, ""); err != nil {
		return nil, err
	}
	for i, name := range names {
		ka := in.RequestItems[name]
		if err := reads[i].openProjection(ka.ProjectionExpression, ka.AttributesToGet); err != nil {
			return nil, err
		}
	}
	out := &BatchGetItemOutput{Responses: map[string][]attr.Item{}, UnprocessedKeys: map[string]KeysAndAttributes{}}
	err := s.db.View(ctx, func(snap *table.Snapshot) error {
		read := 0
		for i, name := range names {
			ka := in.RequestItems[name]
			t, err := s.lookup(snap.Table, &name)
			if err != nil {
				return err
			}
			if err := checkDuplicates(t, ka.Keys); err != nil {
				return err
			}
			c := &collector{items: []attr.Item{}}
			var used table.Capacity
			for k, key := range ka.Keys {
				if read >= maxBatchBytes {
					rest := ka
					rest.Keys = ka.Keys[k:]
					out.UnprocessedKeys[name] = rest
					break
				}
				item, err := snap.Get(t, key)
				if err != nil {
					return err
				}
				used.Table += table.ReadUnits(item.Size(), reads[i].consistent)
				if item != nil {
					read += item.Size()
					if err := c.add(reads[i].project(item)); err != nil {
						return err
					}
				}
			}
			out.Responses[name] = c.items
			if cc := consumed(in.ReturnConsumedCapacity, name, &used); cc != nil {
				out.ConsumedCapacity = append(out.ConsumedCapacity, *cc)
			}
		}
		return nil
	})
	return out, err
}

// checkDuplicates refuses two keys of one item, however they are written.
func checkDuplicates(t *table.Table, keys []attr.Item) error {
	seen := make(map[string]bool, len(keys))
	for _, key := range keys {
		id, err := itemID(t, key)
		if err != nil {
			return err
		}
		if seen[id] {
			return Validation(msgDuplicateKeys)
		}
		seen[id] = true
	}
	return nil
}

// itemID returns a string that two keys of one table share only when they are
// of one item.
func itemID(t *table.Table, key attr.Item) (string, error) {
	partition, sort, err := t.Address(key)
	if err != nil {
		return "", err
	}
	return string(attr.AppendKey(nil, attr.NewBinary(partition))) + string(sort), nil
}
