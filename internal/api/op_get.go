package api

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/sortkey/sortkey/internal/item"
	"github.com/sortkey/sortkey/internal/wire"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/table"
)

// GetItem reads one item.
func (s *Service) GetItem(ctx context.Context, in *wire.GetItemInput) (*wire.GetItemOutput, error) {
	g := new(getting)
	if err := s.getItem(ctx, in, g); err != nil {
		return nil, err
	}
	return &g.out, nil
}

// getting is a GetItem while it runs, and its answer: the item is in out, or
// for a body in JSON behind dst.
type getting struct {
	reading
	s     *Service
	in    *wire.GetItemInput
	view  func(*table.Snapshot) error // read, or nil
	use   use
	out   wire.GetItemOutput
	to    func(attr.Item)
	json  bool
	found bool
	dst   []byte
}

// take is given the item, which is valid until it returns.
func (g *getting) take(it attr.Item) {
	g.found = true
	switch {
	case g.to != nil:
		g.to(it)
	case g.json:
		g.dst = append(g.dst, `{"Item":`...)
		g.dst = it.AppendJSON(g.dst)
	default:
		g.out.Item = bytes.Clone(it)
	}
}

// A pooledGetting is used again: nobody keeps what is in it.
type pooledGetting struct {
	body wire.GetItemInput
	getting
}

var gettings = sync.Pool{New: func() any {
	g := new(pooledGetting)
	g.view = g.read
	return g
}}

func (g *pooledGetting) release() {
	*g = pooledGetting{getting: getting{view: g.view}}
	gettings.Put(g)
}

func (s *Service) serveGetItem(ctx context.Context, body, dst []byte) ([]byte, error) {
	g := gettings.Get().(*pooledGetting)
	defer g.release()
	if err := g.body.DecodeJSON(body); err != nil {
		return nil, err
	}
	g.json, g.dst = true, dst
	if err := s.getItem(ctx, &g.body, &g.getting); err != nil {
		return nil, err
	}
	switch dst = g.dst; {
	case !g.found:
		return g.out.AppendJSON(dst), nil
	case g.out.ConsumedCapacity == nil:
		return append(dst, '}'), nil
	}
	at := len(dst)
	dst = g.out.AppendJSON(dst)
	dst[at] = ',' // in the place of the brace
	return dst, nil
}

// getItem reads one item and gives it to g, if there is one.
func (s *Service) getItem(ctx context.Context, in *wire.GetItemInput, g *getting) error {
	if s.opts.Observer == nil { // without the closure of the other way
		return s.typedError(s.readItem(ctx, in, g))
	}
	_, err := call(ctx, s, wire.OpGetItem, in, func(ctx context.Context, in *wire.GetItemInput) (empty, error) {
		return empty{}, s.readItem(ctx, in, g)
	})
	return err
}

func (s *Service) readItem(ctx context.Context, in *wire.GetItemInput, g *getting) error {
	g.s, g.in = s, in
	if err := g.check(); err != nil {
		return err
	}
	view := g.view
	if view == nil {
		view = g.read
	}
	if err := s.db.View(ctx, view); err != nil {
		return err
	}
	if s.opts.Observer != nil {
		consume(ctx, g.use.table, false, &g.use.Capacity)
	}
	return nil
}

// check refuses an input that is wrong whatever the table.
func (g *getting) check() error {
	in := g.in
	if err := in.Validate(); err != nil {
		return err
	}
	if err := in.CheckParams(); err != nil {
		return err
	}
	if err := wire.OpGetItem.FaultError(in.Faults, ""); err != nil {
		return err
	}
	g.op, g.names, g.consistent = wire.OpGetItem, in.ExpressionAttributeNames, value(in.ConsistentRead)
	return g.openProjection(in.ProjectionExpression, in.AttributesToGet)
}

// read reads the item.
func (g *getting) read(snap *table.Snapshot) error {
	t, err := g.s.lookup(snap.Table, g.in.TableName)
	if err != nil {
		return err
	}
	item, err := snap.Get(t, g.in.Key)
	if err != nil {
		return err
	}
	if err := g.checkProjection(t); err != nil {
		return err
	}
	if item != nil {
		g.take(g.project(item))
	}
	g.use = use{table: t.Name(), Capacity: table.Capacity{Table: table.ReadUnits(item.Size(), g.consistent)}}
	g.out.ConsumedCapacity = consumed(g.in.ReturnConsumedCapacity, value(g.in.TableName), &g.use.Capacity)
	return nil
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
func (s *Service) BatchGetItem(ctx context.Context, in *wire.BatchGetItemInput) (*wire.BatchGetItemOutput, error) {
	return call(ctx, s, wire.OpBatchGetItem, in, s.batchGet)
}

func (s *Service) batchGet(ctx context.Context, in *wire.BatchGetItemInput) (*wire.BatchGetItemOutput, error) {
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
			request:    request{op: wire.OpBatchGetItem, names: ka.ExpressionAttributeNames},
			consistent: value(ka.ConsistentRead),
		}
		if total += len(ka.Keys); total > MaxBatchKeys {
			return nil, wire.OpBatchGetItem.Invalid("Too many items requested for the BatchGetItem call")
		}
	}
	if err := wire.OpBatchGetItem.FaultError(in.Faults, ""); err != nil {
		return nil, err
	}
	for i, name := range names {
		ka := in.RequestItems[name]
		if err := reads[i].openProjection(ka.ProjectionExpression, ka.AttributesToGet); err != nil {
			return nil, err
		}
	}
	out := &wire.BatchGetItemOutput{Responses: map[string][]attr.Item{}, UnprocessedKeys: map[string]wire.KeysAndAttributes{}}
	var uses []use
	err := s.db.View(ctx, func(snap *table.Snapshot) error {
		read := 0
		seen := itemSet{} // of all tables: one may be there by its name and by its ARN
		uses = uses[:0]
		for i, name := range names {
			ka := in.RequestItems[name]
			t, err := s.lookup(snap.Table, &name)
			if err != nil {
				return err
			}
			if err := cmp.Or(seen.addAll(t, ka.Keys), reads[i].checkProjection(t)); err != nil {
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
			uses = append(uses, use{table: t.Name(), Capacity: used})
			if cc := consumed(in.ReturnConsumedCapacity, name, &used); cc != nil {
				out.ConsumedCapacity = append(out.ConsumedCapacity, *cc)
			}
		}
		return nil
	})
	if err == nil {
		consumeAll(ctx, false, uses)
	}
	return out, err
}

// itemSet holds the items that a request has named.
type itemSet map[string]bool

// add takes up the item of a key, however the key and its table are written. It
// reports false for an item that is there already. The error is that of a key
// that does not fit the table.
func (s itemSet) add(t *table.Table, key attr.Item) (bool, error) {
	partition, sort, err := t.Address(key)
	if err != nil {
		return false, err
	}
	id := t.Name() + "\x00" + string(item.AppendKey(nil, attr.NewBinary(partition))) + string(sort)
	if s[id] {
		return false, nil
	}
	s[id] = true
	return true, nil
}

// addAll refuses two keys of one item.
func (s itemSet) addAll(t *table.Table, keys []attr.Item) error {
	for _, key := range keys {
		ok, err := s.add(t, key)
		if err != nil {
			return err
		}
		if !ok {
			return wire.Validation(msgDuplicateKeys)
		}
	}
	return nil
}
