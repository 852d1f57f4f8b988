package design

import (
	"context"
	"encoding/binary"
	"encoding/json"
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

// DefaultMaxItems is how many items [Build] generates at most unless told
// otherwise.
const DefaultMaxItems = 100_000

// Options configure [Build]. The zero value is ready to use.
type Options struct {
	// Seed is where generated values start from. Default: that of the model.
	Seed uint64
	// MaxItems is how many items are generated at most. When the model declares
	// more, each entity gets its share, and [World].Scale says how much that
	// is. Default: [DefaultMaxItems]. Negative generates none.
	MaxItems int
	// Clock tells the database the time. Default: one fixed moment.
	Clock func() time.Time
}

// A World is a model come to life: a database in memory with its tables and
// items.
type World struct {
	Model *Model
	DB    *sortkey.DB
	// Items are the items in the database: samples, raw items, generated ones.
	Items []Item
	// Scale is generated items by declared ones, 1 when all are there.
	Scale float64
	// counts are the items of each entity, made those that were generated.
	counts, made map[*Entity]int
}

// Close closes the database.
func (w *World) Close() error { return w.DB.Close() }

// An Item is an item of a world and where it comes from.
type Item struct {
	Table      *Table
	Entity     *Entity // nil for a raw item
	Values     Values
	Attributes attr.Item
	// Pos is the sample or the raw item in the file, or the entity of a
	// generated one.
	Pos Pos
	// Generated says that it is not written in the file.
	Generated bool
}

// Build makes a world of a model. Equal models and options make equal worlds.
// The error is [Errors] for an item that cannot be.
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
	db, err := sortkey.Open(sortkey.Options{Clock: o.Clock, Rand: &seeded{src: rand.NewChaCha8(seed)}})
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

// seeded is a source of ids that is the same every time.
type seeded struct {
	mu  sync.Mutex
	src *rand.ChaCha8
}

func (s *seeded) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.src.Read(p)
}

type builder struct {
	w    *World
	o    Options
	seen map[[16]byte]int32 // keys of items so far, and which items have them
	// pending are requests not yet sent.
	pending []pending
}

type pending struct {
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
			return errorAt(t.Pos, "table %s cannot be made: %s", t.Name, message(out))
		}
	}
	for _, e := range b.w.Model.Entities {
		for _, s := range e.Samples {
			it, err := e.item(s.Values, s.Attributes)
			if err != nil {
				return errorAt(s.Pos, "this sample of %s: %v", e.Name, err)
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

// add adds an item that the file lists; its key must be new.
func (b *builder) add(ctx context.Context, it Item) error {
	id, ok := keyID(it.Table, it.Attributes)
	if !ok {
		return errorAt(it.Pos, "the item has not all keys of table %s", it.Table.Name)
	}
	if first, taken := b.seen[id]; taken {
		return errorAt(it.Pos, "this item has the same key as the one in line %d", b.w.Items[first].Pos.Line)
	}
	return b.put(ctx, id, it)
}

func (b *builder) put(ctx context.Context, id [16]byte, it Item) error {
	b.seen[id] = int32(len(b.w.Items))
	if b.w.counts[it.Entity]++; it.Generated {
		b.w.made[it.Entity]++
	}
	b.w.Items = append(b.w.Items, it)
	b.pending = append(b.pending, pending{it.Table.Name, it.Attributes, it.Pos})
	if len(b.pending) < 25 {
		return nil
	}
	return b.flush(ctx)
}

// flush writes what is pending. A batch that is refused is written item by
// item, to find the one that cannot be.
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

func (b *builder) refused(ctx context.Context, p pending, err error) error {
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	text := err.Error()
	if e, ok := err.(*wire.Error); ok {
		text = e.Message
	}
	return errorAt(p.pos, "table %s does not take this item: %s", p.table, text)
}

func (b *builder) write(ctx context.Context, list []pending) error {
	in := &wire.BatchWriteItemInput{RequestItems: map[string][]wire.WriteRequest{}}
	for _, p := range list {
		in.RequestItems[p.table] = append(in.RequestItems[p.table], wire.WriteRequest{PutRequest: &wire.PutRequest{Item: p.item}})
	}
	_, err := inside.Service(b.w.DB).BatchWriteItem(ctx, in)
	return err
}
