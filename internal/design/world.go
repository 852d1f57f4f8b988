package design

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/inside"
	"github.com/sortkey/sortkey/internal/wire"
)

// DefaultMaxItems is the default of [Options].MaxItems.
const DefaultMaxItems = 100_000

// Options configure [Build]. The zero value is ready to use.
type Options struct {
	// Seed determines the generated values. Default: the seed of the model.
	Seed uint64
	// MaxItems limits the generated items. If the model declares more, each
	// entity gets its share, and [World].Scale is that share. Default:
	// [DefaultMaxItems]. If negative, none are generated.
	MaxItems int
	// Clock is the clock of the database. Default: a fixed time.
	Clock func() time.Time
}

// A World is a database in memory with the tables and items of a model.
type World struct {
	Model *Model
	DB    *sortkey.DB
	// Items are the items in the database: samples, raw items, then generated
	// items.
	Items []Item
	// Scale is the share of the declared items that were generated.
	Scale float64
	// counts has the number of items of each entity, and made the number of
	// generated ones.
	counts, made map[*Entity]int

	mu     sync.Mutex
	spaces map[spaceID]*Space
}

// Close closes the database.
func (w *World) Close() error { return w.DB.Close() }

// An Item is an item of a world with its origin.
type Item struct {
	Table      *Table
	Entity     *Entity // nil for a raw item
	Values     Values
	Attributes attr.Item
	// Pos is the place of the sample or raw item in the file, or of the entity
	// of a generated item.
	Pos Pos
	// Generated is true if the item is not in the file.
	Generated bool
}

// Build creates the world of a model. Equal models and options give equal
// worlds. For an invalid item it returns [Errors].
func Build(ctx context.Context, m *Model, o Options) (*World, error) {
	if o.Seed == 0 {
		o.Seed = m.Seed
	}
	if o.MaxItems == 0 {
		o.MaxItems = DefaultMaxItems
	}
	if o.Clock == nil {
		moment := time.Date(2026, 1, 5, 10, 0, 0, 0, time.UTC)
		o.Clock = func() time.Time { return moment }
	}
	var seed [32]byte
	binary.LittleEndian.PutUint64(seed[:], o.Seed)
	db, err := sortkey.Open(sortkey.Options{Clock: o.Clock, Rand: &seededReader{src: rand.NewChaCha8(seed)}})
	if err != nil {
		return nil, err
	}
	b := &builder{w: &World{Model: m, DB: db, Scale: 1, counts: map[*Entity]int{}, made: map[*Entity]int{}}, o: o, seen: map[[16]byte]int32{}}
	if err := b.build(ctx); err != nil {
		db.Close()
		return nil, err
	}
	return b.w, nil
}

// A seededReader is a deterministic source of random bytes.
type seededReader struct {
	mu  sync.Mutex
	src *rand.ChaCha8
}

func (s *seededReader) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.src.Read(p)
}

type builder struct {
	w    *World
	o    Options
	seen map[[16]byte]int32 // indexes of items by key
	// pending are items not yet written.
	pending []pendingItem
}

type pendingItem struct {
	table string
	item  attr.Item
	pos   Pos
}

// errorAt returns an error about a place in the model.
func errorAt(pos Pos, format string, args ...any) error {
	return Errors{{Pos: pos, Msg: fmt.Sprintf(format, args...)}}
}

func (b *builder) build(ctx context.Context) error {
	for _, t := range b.w.Model.Tables {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		out, status := inside.Service(b.w.DB).Serve(ctx, "DynamoDB_20120810.CreateTable", t.CreateRequest(), nil)
		if status != http.StatusOK {
			return errorAt(t.Pos, "cannot create table %s: %s", t.Name, message(out))
		}
	}
	for _, e := range b.w.Model.Entities {
		for _, s := range e.Samples {
			it, err := e.item(s.Values, s.Attributes)
			if err != nil {
				return errorAt(s.Pos, "sample of %s: %v", e.Name, err)
			}
			if err := b.add(ctx, Item{Table: e.Table, Entity: e, Values: Values{text: s.Values}, Attributes: it, Pos: s.Pos}); err != nil {
				return err
			}
		}
	}
	for _, r := range b.w.Model.Items {
		if err := b.add(ctx, Item{Table: r.Table, Attributes: r.Item, Pos: r.Pos}); err != nil {
			return err
		}
	}
	if err := b.flush(ctx); err != nil {
		return err
	}
	if err := b.generate(ctx); err != nil {
		return err
	}
	return b.flush(ctx)
}

// message returns the text of a service's error.
func message(out []byte) string {
	var e struct{ Message string }
	if json.Unmarshal(out, &e) != nil || e.Message == "" {
		return string(out)
	}
	return e.Message
}

// add adds an item of the file, whose key must be new.
func (b *builder) add(ctx context.Context, it Item) error {
	id, ok := keyID(it.Table, it.Attributes)
	if !ok {
		return errorAt(it.Pos, "the item lacks a key of table %s", it.Table.Name)
	}
	if first, taken := b.seen[id]; taken {
		return errorAt(it.Pos, "this item has the same key as the one on line %d", b.w.Items[first].Pos.Line)
	}
	return b.put(ctx, id, it)
}

func (b *builder) put(ctx context.Context, id [16]byte, it Item) error {
	b.seen[id] = int32(len(b.w.Items))
	if b.w.counts[it.Entity]++; it.Generated {
		b.w.made[it.Entity]++
	}
	b.w.Items = append(b.w.Items, it)
	b.pending = append(b.pending, pendingItem{it.Table.Name, it.Attributes, it.Pos})
	if len(b.pending) < 25 {
		return nil
	}
	return b.flush(ctx)
}

// flush writes the pending items. It writes a refused batch item by item, to
// find the invalid one.
func (b *builder) flush(ctx context.Context) error {
	if len(b.pending) == 0 {
		return nil
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	list := b.pending
	b.pending = b.pending[:0]
	err := b.write(ctx, list)
	if err == nil || len(list) == 1 || context.Cause(ctx) != nil {
		return b.refused(ctx, list[0], err)
	}
	for i := range list {
		if err := b.write(ctx, list[i:i+1]); err != nil {
			return b.refused(ctx, list[i], err)
		}
	}
	return err
}

func (b *builder) refused(ctx context.Context, p pendingItem, err error) error {
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	text := err.Error()
	if e, ok := errors.AsType[*wire.Error](err); ok {
		text = e.Message
	}
	return errorAt(p.pos, "table %s refuses this item: %s", p.table, text)
}

func (b *builder) write(ctx context.Context, list []pendingItem) error {
	in := &wire.BatchWriteItemInput{RequestItems: map[string][]wire.WriteRequest{}}
	for _, p := range list {
		in.RequestItems[p.table] = append(in.RequestItems[p.table], wire.WriteRequest{PutRequest: &wire.PutRequest{Item: p.item}})
	}
	_, err := inside.Service(b.w.DB).BatchWriteItem(ctx, in)
	return err
}
