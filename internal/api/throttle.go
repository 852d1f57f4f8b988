package api

import (
	"context"
	"errors"
	"time"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/api/event"
	"github.com/sortkey/sortkey/internal/api/throughput"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
)

// The units a second that one value of a partition key can take, and for how many
// seconds a table or an index keeps units that nobody used.
// Sources: DG/bp-partition-key-design.html, DG/burst-adaptive-capacity.html.
const (
	partitionReads  = 3000
	partitionWrites = 1000
	burstSeconds    = 300
)

// A budget counts the units that one request takes from the throughput of tables. A
// request is admitted while each bucket that it takes from holds something; what it
// takes is known once it has run, so a bucket can fall into debt. A nil budget has no
// limits.
type budget struct {
	service *Service
	write   bool
	now     time.Time
	taken   []demand
}

// A demand says how much a request takes from one bucket.
type demand struct {
	throughput.Bucket
	throughput.Limit
	since time.Time // when the bucket began to fill
	units float64
	// refuse returns the error of a request that the bucket does not admit.
	refuse func() error
}

// budget returns the budget of a request, nil if no limits are enforced on it.
func (s *Service) budget(ctx context.Context, write bool) *budget {
	if s.meter == nil || event.IsQuiet(ctx) {
		return nil
	}
	return &budget{service: s, write: write, now: s.opts.Clock()}
}

// admit refuses a request if a bucket that it takes from is empty. Otherwise it
// remembers what the request takes.
func (b *budget) admit(demands []demand) error {
	for _, d := range demands {
		left := b.service.meter.Level(d.Bucket, d.Limit, d.since, b.now)
		for _, other := range b.taken {
			if other.Bucket == d.Bucket {
				left -= other.units
			}
		}
		if left <= 0 {
			return d.refuse()
		}
	}
	b.taken = append(b.taken, demands...)
	return nil
}

// reset forgets what the request took, as it runs again.
func (b *budget) reset() {
	if b != nil {
		b.taken = nil
	}
}

// spend takes the units of the request from the buckets.
func (b *budget) spend() {
	if b == nil {
		return
	}
	for _, d := range b.taken {
		b.service.meter.Take(d.Bucket, d.Limit, d.since, b.now, d.units)
	}
	b.taken = nil
}

// item admits a read of the item with a key.
func (b *budget) item(t *table.Table, key attr.Item, units float64) error {
	if b == nil {
		return nil
	}
	return b.admit(b.demands(nil, t, nil, units, partitionOf(t.Key(), key)))
}

// page admits a page of a query or a scan, whose units are not known yet: spent takes
// them. A scan has no partition.
func (b *budget) page(read *table.Read, partition []byte) error {
	if b == nil {
		return nil
	}
	err := b.admit(b.demands(nil, read.Table, read.Index, 0, partition))
	b.taken = nil
	return err
}

// spent takes the units of a page.
func (b *budget) spent(read *table.Read, partition []byte, c *table.Capacity) {
	if b == nil {
		return
	}
	b.taken = b.demands(b.taken, read.Table, read.Index, c.Total(), partition)
	b.spend()
}

// change admits a write of the item with a key, which a transaction multiplies on the
// table. A write that an index does not admit fails as a whole: DG/GSI.html,
// provisioned throughput considerations.
func (b *budget) change(t *table.Table, change *table.Change, factor float64) error {
	if b == nil {
		return nil
	}
	var demands []demand

	// Local indexes consume the throughput of the table, global ones their own.
	onTable := change.Capacity.Table * factor
	for _, used := range change.Capacity.Indexes {
		if used.Local {
			onTable += used.Units
			continue
		}
		for _, ix := range t.Indexes() {
			if ix.Name() == used.Name {
				demands = b.demands(
					demands, t, ix, used.Units, partitionOf(ix.Key(), change.Old), partitionOf(ix.Key(), change.New),
				)
			}
		}
	}

	item := change.New
	if item == nil {
		item = change.Old
	}
	return b.admit(b.demands(demands, t, nil, onTable, partitionOf(t.Key(), item)))
}

// partitionOf returns the partition of an item, nil if it has none.
func partitionOf(key *keycond.Schema, it attr.Item) []byte {
	if partition, ok := key.AppendPartition(nil, it); ok {
		return partition
	}
	return nil
}

// demands appends what units of a table, or of an index, take: from the whole of it,
// and from the partitions, each once and in equal parts; empty ones count for nothing. A
// local index has the throughput of its table.
func (b *budget) demands(list []demand, t *table.Table, ix *table.Index, units float64, partitions ...[]byte) []demand {
	// The whole: the rate of the table or of the global index, if one is limited.
	def := t.Definition()
	resource, provisioned, limited := def.ID, def.Throughput, def.OnDemand
	if ix != nil && ix.Local() {
		ix = nil
	}
	if ix != nil {
		resource, provisioned, limited = def.ID+"/"+ix.Name(), ix.Definition().Throughput, ix.Definition().OnDemand
	}
	whole, one, kind := provisioned.Read, float64(partitionReads), "ProvisionedThroughputExceeded"
	if b.write {
		whole, one = provisioned.Write, partitionWrites
	}
	if def.OnDemandBilling() {
		if kind, whole = "MaxOnDemandThroughputExceeded", 0; limited != nil {
			if whole = limited.Read; b.write {
				whole = limited.Write
			}
		}
	}

	if whole > 0 { // -1 is no limit
		list = append(list, demand{
			throughput.Bucket{Resource: resource, Write: b.write},
			throughput.Limit{Rate: float64(whole), Burst: float64(whole) * burstSeconds},
			def.Created, units, func() error { return b.throttled(t, ix, kind) },
		})
	}

	// The partitions: an item that moves in an index touches two, otherwise old and new are the same.
	var keys []string
	for _, p := range partitions {
		if len(p) > 0 && (len(keys) == 0 || keys[0] != string(p)) {
			keys = append(keys, string(p))
		}
	}
	for _, key := range keys {
		list = append(list, demand{
			throughput.Bucket{Resource: resource, Partition: key, Write: b.write},
			throughput.Limit{Rate: one, Burst: one},
			time.Time{}, units / float64(len(keys)),
			func() error { return b.throttled(t, ix, "KeyRangeThroughputExceeded") },
		})
	}

	return list
}

// The texts of throttled requests. Sources: API_PutItem and API_TransactWriteItems,
// compared with what programs logged; DG/throttling-diagnosing.html for the maximum.
const (
	msgProvisioned = "The level of configured provisioned throughput for the table was exceeded. " +
		"Consider increasing your provisioning level with the UpdateTable API."
	msgProvisionedIndex = "The level of configured provisioned throughput for one or more global secondary indexes " +
		"of the table was exceeded. Consider increasing your provisioning level for the under-provisioned global " +
		"secondary indexes with the UpdateTable API"
	msgOnDemand = "Throughput exceeds the current capacity of your table or index. " +
		"DynamoDB is automatically scaling your table or index so please try again shortly. " +
		"If exceptions persist, check if you have a hot key: " +
		"https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html"
	msgOnDemandIndex = "Throughput exceeds the current capacity for one or more global secondary indexes. " +
		"DynamoDB is automatically scaling your index so please try again shortly."
	msgMaxOnDemand = "Throughput exceeds the maximum OnDemandThroughput configured on table or index"
)

const (
	codeProvisioned = "ProvisionedThroughputExceededException"
	codeThrottling  = "ThrottlingException"
)

// throttled returns the error of a request that takes too much of a table or an index.
// A hot key of a provisioned table has the exception of provisioned throughput:
// DG/throttling-diagnosing.html.
func (b *budget) throttled(t *table.Table, ix *table.Index, kind string) error {
	code, message, messageIndex := codeThrottling, msgOnDemand, msgOnDemandIndex
	switch {
	case !t.Definition().OnDemandBilling():
		code, message, messageIndex = codeProvisioned, msgProvisioned, msgProvisionedIndex
	case kind == "MaxOnDemandThroughputExceeded":
		message, messageIndex = msgMaxOnDemand, msgMaxOnDemand
	}
	name, resource := "Table", b.service.arns.Table(t.Name())
	if ix != nil {
		name, resource, message = "Index", b.service.arns.Index(t.Name(), ix.Name()), messageIndex
	}
	if b.write {
		name += "Write" + kind
	} else {
		name += "Read" + kind
	}
	e := wire.NewError(code, message)
	e.Throttling = []wire.ThrottlingReason{{Reason: &name, Resource: &resource}}
	return e
}

// throttleCode returns the code of the reason for which a transaction is cancelled, or a
// statement of a batch fails, because of throttling; "" for other errors.
// Source: API_TransactWriteItems.
func throttleCode(err error) string {
	e, _ := errors.AsType[*wire.Error](err)
	switch {
	case e == nil:
		return ""
	case e.Code == codeProvisioned:
		return "ProvisionedThroughputExceeded"
	case e.Code == codeThrottling:
		return "ThrottlingError"
	}
	return ""
}
