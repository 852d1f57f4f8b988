package sortkey

import (
	"sync/atomic"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/wire"
)

// Poison makes finished operations overwrite the memory that later operations may reuse, so that code that has kept a
// reference to it reads nonsense. Every second state goes back to the pool as usual; the others are not used again,
// so they stay overwritten.
func Poison() {
	var count atomic.Uint64
	discard = func(c *call) bool {
		drop := count.Add(1)%2 == 0
		spoil(c.get.Key)
		if drop {
			c.inputs = inputs{
				get:    wire.GetItemInput{TableName: new(spoilt), Key: attr.Item(spoilt), ConsistentRead: new(true)},
				put:    wire.PutItemInput{TableName: new(spoilt), Item: attr.Item(spoilt)},
				delete: wire.DeleteItemInput{TableName: new(spoilt), Key: attr.Item(spoilt)},
				update: wire.UpdateItemInput{TableName: new(spoilt), Key: attr.Item(spoilt)},
				query:  wire.QueryInput{TableName: new(spoilt), Limit: new(int64(-1))},
				start:  attr.Item(spoilt),
			}
		}
		spoilCall(c)
		return drop
	}
}

// spoilCall overwrites the memory of a call. It replaces the map of names, because the next call expects an empty
// one.
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
