package sortkey

import (
	"context"
	"sync/atomic"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

// GetBelow reads an item by the function below the operations, for benchmarks.
func GetBelow(ctx context.Context, db *DB, name string, key attr.Item, visit func(attr.Item)) error {
	return db.tables.ViewItem(ctx, func(view *table.View) error {
		t, err := view.Table(name)
		if err != nil {
			return err
		}
		it, err := view.Get(t, key)
		visit(it)
		return err
	})
}

// Poison makes operations overwrite all memory of theirs that others use after them, so that
// whatever keeps a part of it reads nonsense. Every other state is used again, as always; the
// rest stays overwritten.
func Poison() {
	var count atomic.Uint64
	discard = func(c *call, state any) bool {
		drop := count.Add(1)%2 == 0
		switch s := state.(type) {
		case *get:
			spoil(s.in.Key)
			if drop {
				s.in = wire.GetItemInput{TableName: new(spoilt), Key: attr.Item(spoilt), ConsistentRead: new(true)}
			}
		case *write:
			if drop {
				s.put = wire.PutItemInput{TableName: new(spoilt), Item: attr.Item(spoilt)}
				s.delete = wire.DeleteItemInput{TableName: new(spoilt), Key: attr.Item(spoilt)}
				s.update = wire.UpdateItemInput{TableName: new(spoilt), Key: attr.Item(spoilt)}
			}
		case *reading:
			if drop {
				s.query = wire.QueryInput{TableName: new(spoilt), Limit: new(int64(-1))}
				s.start = attr.Item(spoilt)
			}
		}
		spoilCall(c)
		return drop
	}
}

// spoilCall overwrites the memory of a call. Its map of names is replaced, as that of the next
// call must be empty.
func spoilCall(c *call) {
	spoil(c.raw)
	spoil(c.text)
	for place := range c.names {
		c.names[place] = spoilt
	}
	if c.names != nil {
		c.names["#spoilt"] = spoilt
		c.names = nil
	}
	c.consistent, c.limit, c.segment, c.segments = !c.consistent, -1, -1, -1
}

const spoilt = "spoilt by a test"

func spoil(b []byte) {
	for i := range b[:cap(b)] {
		b[:cap(b)][i] = 0xA5
	}
}

// Spoilt reports what a call of each kind leaves in the memory that it shares with the next:
// the bytes, a name, and the name of the input's table.
func Spoilt() (bytes []byte, names []string, tables []string) {
	name := "Items"
	for len(tables) < 8 { // every other state is dropped
		g := gets.Get().(*get)
		in, key := &g.in, attr.Item("a key")
		in.TableName, in.Key = &name, key
		used, raw := useNames(&g.call)
		g.free()
		bytes, names = append(append(bytes, key...), raw...), append(names, used["#n1"])
		tables = append(tables, tableOf(in.TableName))

		w := newWrite(&opPut, "")
		put := &w.put
		put.TableName = &name
		used, raw = useNames(&w.call)
		w.free()
		bytes, names = append(bytes, raw...), append(names, used["#n1"])
		tables = append(tables, tableOf(put.TableName))

		r := newReading(&opQuery, "", "")
		query := &r.query
		query.TableName = &name
		used, raw = useNames(&r.call)
		r.free()
		bytes, names = append(bytes, raw...), append(names, used["#n1"])
		tables = append(tables, tableOf(query.TableName))
	}
	return bytes, names, tables
}

func useNames(c *call) (names map[string]string, raw []byte) {
	c.name("size")
	c.raw = append(c.raw, "value"...)
	return c.names, c.raw
}

func tableOf(name *string) string {
	if name == nil {
		return ""
	}
	return *name
}
