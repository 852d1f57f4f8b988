package api

import (
	"context"
	"time"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/api/event"
	"github.com/sortkey/sortkey/internal/api/throughput"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
)

// partitionReads and partitionWrites are how many capacity units per second one partition key value can consume. A
// table or an index keeps the units that it did not use in the last burstSeconds. Sources:
// DG/bp-partition-key-design.html, DG/burst-adaptive-capacity.html.
const (
	partitionReads  = 3000
	partitionWrites = 1000
	burstSeconds    = 300
)

// A budget checks the capacity of one request. It admits the request if none of its buckets is empty, and counts the
// units that the request then takes from them. That number is only known after the request has run, so a bucket may
// become negative. A nil budget has no limits.
type budget struct {
	service *Service
	write   bool
	now     time.Time
	taken   []demand
}

// A demand is the number of units that a request takes from one bucket.
type demand struct {
	throughput.Bucket
	throughput.Limit
	since time.Time // when the bucket began to fill
	units float64
	// refuse returns the error of the request if the bucket is empty.
	refuse func() error
}

// budget returns the budget of a request, or nil if the request is not limited.
func (s *Service) budget(ctx context.Context, write bool) *budget {
	if s.meter == nil || event.IsQuiet(ctx) {
		return nil
	}
	return &budget{service: s, write: write, now: s.opts.Clock()}
}

// admit returns an error if the bucket of one of the demands is empty. For this check it subtracts the units that the
// request has taken so far. If no bucket is empty, admit adds the demands to the units that the request takes.
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

// reset sets the units that the request takes to zero. Call it before the request runs again.
func (b *budget) reset() {
	if b != nil {
		b.taken = nil
	}
}

// spend takes the units of the admitted demands from their buckets.
func (b *budget) spend() {
	if b == nil {
		return
	}
	for _, d := range b.taken {
		b.service.meter.Take(d.Bucket, d.Limit, d.since, b.now, d.units)
	}
	b.taken = nil
}

// item admits the read of an item. key is its key.
func (b *budget) item(t *table.Table, key attr.Item, units float64) error {
	if b == nil {
		return nil
	}
	return b.admit(b.demands(nil, t, nil, units, partitionOf(t.Key(), key)))
}

// page admits a page of a query or a scan, whose units are not known yet. Call spent after the read. partition is nil
// for a scan.
func (b *budget) page(read *table.Read, partition []byte) error {
	if b == nil {
		return nil
	}
	err := b.admit(b.demands(nil, read.Table, read.Index, 0, partition))
	b.taken = nil
	return err
}

// spent takes from the buckets the units that a page has consumed.
func (b *budget) spent(read *table.Read, partition []byte, c *table.Capacity) {
	if b == nil {
		return
	}
	b.taken = b.demands(b.taken, read.Table, read.Index, c.Total(), partition)
	b.spend()
}

// change admits the write of an item. The units on the table are multiplied by factor, for transactions. If one index
// does not admit the write, the whole write fails: DG/GSI.html, provisioned throughput considerations.
func (b *budget) change(t *table.Table, change *table.Change, factor float64) error {
	if b == nil {
		return nil
	}
	var demands []demand

	// Local indexes consume the throughput of the table, global indexes have their own.
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

// partitionOf returns the encoded partition key of an item, or nil if the item has none.
func partitionOf(key *keycond.Schema, it attr.Item) []byte {
	if partition, ok := key.AppendPartition(nil, it); ok {
		return partition
	}
	return nil
}

// demands appends the demands for units on a table or an index. If the throughput of the whole table or index is
// limited, there is a demand on it. There is also a demand on each different partition, with an equal part of the
// units. demands skips empty partitions. A local index uses the throughput of its table.
func (b *budget) demands(list []demand, t *table.Table, ix *table.Index, units float64, partitions ...[]byte) []demand {
	// Append the demand on the throughput of the table or of the global index.
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

	// Append the demands on partitions. There are two partitions if an update changes the partition key of an index.
	// Otherwise the old and the new partition are equal.
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

// Texts of errors of throttled requests. Sources: API_PutItem and API_TransactWriteItems, compared with logs of
// programs; DG/throttling-diagnosing.html for the maximum.
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

// throttled returns the error of a request that exceeds the throughput of a table or an index. For a provisioned
// table it is the exception for provisioned throughput, even if the cause is a hot key:
// DG/throttling-diagnosing.html.
func (b *budget) throttled(t *table.Table, ix *table.Index, kind string) error {
	code, message, messageIndex := codeThrottling, msgOnDemand, msgOnDemandIndex
	switch {
	case !t.Definition().OnDemandBilling():
		code, message, messageIndex = codeProvisioned, msgProvisioned, msgProvisionedIndex
	case kind == "MaxOnDemandThroughputExceeded":
		message, messageIndex = msgMaxOnDemand, msgMaxOnDemand
	}
	index := ""
	if ix != nil {
		index, message = ix.Name(), messageIndex
	}
	e := wire.NewError(code, message)
	e.Throttling = b.service.throttling(t.Name(), index, b.write, kind)
	return e
}

// throttling returns the reason why a read or a write of a table or an index is throttled. of is the name of the table,
// and both names may be "".
func (s *Service) throttling(of, index string, write bool, kind string) []wire.ThrottlingReason {
	name, resource := "Table", ""
	switch {
	case of == "":
	case index == "":
		resource = s.arns.Table(of)
	default:
		name, resource = "Index", s.arns.Index(of, index)
	}
	if write {
		name += "Write" + kind
	} else {
		name += "Read" + kind
	}
	return []wire.ThrottlingReason{{Reason: &name, Resource: &resource}}
}

// throttleCode returns the reason code of a throttling error. Cancelled transactions and statements of a batch have
// such codes. For other errors it returns "". Source: API_TransactWriteItems.
func throttleCode(err error) string {
	switch {
	case isCode(err, codeProvisioned):
		return "ProvisionedThroughputExceeded"
	case isCode(err, codeThrottling):
		return "ThrottlingError"
	}
	return ""
}
