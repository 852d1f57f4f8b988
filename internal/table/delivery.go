package table

import (
	"slices"

	"github.com/sortkey/sortkey/attr"
)

// deliver keeps the change of an item for the Kinesis destinations of its table, until
// the transaction is applied. A put that leaves the item as it was is not a change.
func (tx *Tx) deliver(t *Table, old, item attr.Item) {
	if old.Equal(item) && (old == nil) == (item == nil) {
		return
	}
	r := StreamRecord{
		Time: tx.db.Clock(), Old: slices.Clone(old), New: slices.Clone(item), Event: "MODIFY", Expired: tx.expiring,
	}
	image := r.New
	switch {
	case old == nil:
		r.Event = "INSERT"
	case item == nil:
		r.Event, image = "REMOVE", r.Old
	}
	r.Keys = t.key.Key(image)
	for _, d := range t.destinations {
		tx.deliveries = append(tx.deliveries, Delivery{Table: t.def.Name, Destination: d, Record: r})
	}
}

// A Delivery is a change for a Kinesis destination.
type Delivery struct {
	Table       string
	Destination Destination
	Record      StreamRecord // without a sequence number
}
