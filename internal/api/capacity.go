package api

import (
	"context"

	"github.com/sortkey/sortkey/internal/api/event"
	"github.com/sortkey/sortkey/internal/wire"

	"github.com/sortkey/sortkey/internal/table"
)

// transactFactor is by how much an action of a transaction costs more than the same operation alone. It does not
// apply to writes to indexes. Source: DG/transaction-apis.html; for indexes, captured from the service.
const transactFactor = 2

// consumed returns the capacity that an operation consumed on a table in the form that ReturnConsumedCapacity asks
// for: nil for NONE, and with the parts of each index for INDEXES. name is the table name as the request has it,
// which may be an ARN (API_ConsumedCapacity).
func consumed(mode *string, name string, c *table.Capacity) *wire.ConsumedCapacity {
	if mode == nil || *mode == "NONE" {
		return nil
	}
	out := &wire.ConsumedCapacity{TableName: new(name), CapacityUnits: new(c.Total())}
	if *mode != "INDEXES" {
		return out
	}
	// The response to a read of an index also has the units of the table, which are 0. Source: dynalite
	// test/query.js; dynoxide.
	out.Table = &wire.Capacity{CapacityUnits: new(c.Table)}
	for _, ix := range c.Indexes {
		m := &out.GlobalSecondaryIndexes
		if ix.Local {
			m = &out.LocalSecondaryIndexes
		}
		if *m == nil {
			*m = map[string]wire.Capacity{}
		}
		(*m)[ix.Name] = wire.Capacity{CapacityUnits: new(ix.Units)}
	}

	for _, ix := range c.Vectors {
		if out.VectorIndexes == nil {
			out.VectorIndexes = map[string]wire.VectorCapacity{}
		}
		out.VectorIndexes[ix.Name] = wire.VectorCapacity{VectorWriteRequestBytes: new(ix.Bytes)}
	}
	return out
}

// consumedBy returns the consumed capacity of each use, as [consumed] does.
func consumedBy(mode *string, uses []use) (list []wire.ConsumedCapacity) {
	for i := range uses {
		if c := consumed(mode, uses[i].name, &uses[i].Capacity); c != nil {
			list = append(list, *c)
		}
	}
	return list
}

// A transactUse adds up the capacity of a transaction by table.
type transactUse struct {
	mode  *string
	reads bool // read units, or write units
	list  []use
}

func (u *transactUse) add(name string, t *table.Table, c table.Capacity) {
	c.Table *= transactFactor
	u.list = addUse(u.list, use{t.Name(), name, c})
}

// consumed returns the capacity in the form that the client asked for. It also sets ReadCapacityUnits or
// WriteCapacityUnits, as the service does for transactions only.
func (u *transactUse) consumed() []wire.ConsumedCapacity {
	all := consumedBy(u.mode, u.list)
	for i := range all {
		cc := &all[i]
		if u.reads {
			cc.ReadCapacityUnits = cc.CapacityUnits
		} else {
			cc.WriteCapacityUnits = cc.CapacityUnits
		}
		if cc.Table != nil {
			splitCapacity(cc.Table, u.reads)
		}
		for _, m := range []map[string]wire.Capacity{cc.GlobalSecondaryIndexes, cc.LocalSecondaryIndexes} {
			for name, c := range m {
				splitCapacity(&c, u.reads)
				m[name] = c
			}
		}
	}
	return all
}

// record records the consumed capacity in the event of the request.
func (u *transactUse) record(ctx context.Context) { consumeAll(ctx, !u.reads, u.list) }

// A use is the capacity that an operation consumed on one table.
type use struct {
	table string
	name  string // of the table as the request has it; for actions of a transaction, as the first one has it
	table.Capacity
}

func splitCapacity(c *wire.Capacity, reads bool) {
	if reads {
		c.ReadCapacityUnits = c.CapacityUnits
	} else {
		c.WriteCapacityUnits = c.CapacityUnits
	}
}

// consume records the capacity that an operation consumed on a table in the
// event that ctx carries, if there is one.
func consume(ctx context.Context, t string, write bool, c *table.Capacity) {
	e := event.Of(ctx)
	if e == nil {
		return
	}
	if c.Table > 0 { // a read of an index consumes no capacity of the table
		e.Used = append(e.Used, event.Use{Table: t, Write: write, Units: c.Table})
	}
	for _, ix := range c.Indexes {
		e.Used = append(e.Used, event.Use{Table: t, Index: ix.Name, Write: write, Units: ix.Units})
	}
}

// consumeAll calls [consume] for each use.
func consumeAll(ctx context.Context, write bool, uses []use) {
	for i := range uses {
		consume(ctx, uses[i].table, write, &uses[i].Capacity)
	}
}
