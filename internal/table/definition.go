package table

import (
	"maps"
	"slices"
	"time"

	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store"
)

// A Definition describes a table without its items. The catalogue stores it as JSON. Its times are from [DB.Clock].
type Definition struct {
	Name       string
	ID         string
	Created    time.Time
	Space      store.Space
	Attributes []keycond.Attribute
	Key        []KeyElement
	Local      []IndexDefinition `json:",omitempty"`
	Global     []IndexDefinition `json:",omitempty"`
	// Vectors are the vector indexes.
	Vectors []IndexDefinition `json:",omitempty"`

	// BillingMode is PROVISIONED, PAY_PER_REQUEST, or "" if the client did not set it. "" means PROVISIONED.
	BillingMode string `json:",omitempty"`
	// BillingChanged is when the table was last switched to PAY_PER_REQUEST.
	BillingChanged time.Time
	Throughput     Throughput
	OnDemand       *OnDemand `json:",omitempty"`
	Warm           *Warm     `json:",omitempty"`
	Class          string    `json:",omitempty"`
	ClassChanged   time.Time
	Protected      bool `json:",omitempty"`
	// Stream is the table's stream, or nil while it is off. LastStream is the label of the last stream.
	Stream     *Stream     `json:",omitempty"`
	LastStream string      `json:",omitempty"`
	Encryption *Encryption `json:",omitempty"`
	// Expiry is the name of the time-to-live attribute, or "" while time to live is disabled.
	Expiry string `json:",omitempty"`

	Labels
	// Insights has the settings of contributor insights. The key is the name of a global index, or "" for the table.
	Insights map[string]Insights `json:",omitempty"`
	// Kinesis lists the Kinesis streams that the client named, the newest first.
	Kinesis []Destination `json:",omitempty"`
	// Recovery is set while point-in-time recovery is enabled.
	Recovery *Recovery `json:",omitempty"`
	// GlobalSettings is ENABLED if the client lets the settings of this table replicate to other replicas, or else
	// DISABLED. Undissociable is true if the client does not allow the table to leave its group of replicas.
	GlobalSettings string `json:",omitempty"`
	Undissociable  bool   `json:",omitempty"`
	// States has the statuses that end at a set time. It is zero unless life.DB.Delay is set or a job fills the
	// table.
	States States `json:",omitzero"`
}

// Labels are the resource policy and the tags of a table or of a stream. The database stores them for clients.
type Labels struct {
	Policy *Policy           `json:",omitempty"`
	Tags   map[string]string `json:",omitempty"`
}

// A Policy is a resource policy. The database stores it but does not enforce it.
type Policy struct {
	// Text is the policy in canonical form, or "" if it was deleted.
	Text string `json:",omitempty"`
	// Revision is the time of the last change in milliseconds since 1970. If the clock has not advanced since the
	// previous change, it is the previous Revision plus one.
	Revision int64
	// Unversioned is true if the client's policy had no Version. Text has one in any case.
	Unversioned bool `json:",omitempty"`
}

// Insights are settings of contributor insights. The database stores them but counts nothing.
type Insights struct {
	Enabled bool
	Mode    string
	Changed time.Time
	Begun   time.Time // when the insights were last enabled; the names of their rules contain this time
}

// A Destination is a Kinesis stream to which a client wants to send the changes of a table.
type Destination struct {
	ARN string
	// Status is ACTIVE, DISABLED or ENABLE_FAILED, and Reason says why it failed.
	Status string
	Reason string `json:",omitempty"`
	// Precision is the precision of the times in the records, or "" if the client left it out.
	Precision string `json:",omitempty"`
	// Passing is the status until the time Until: ENABLING, UPDATING or DISABLING. From then on, Status counts. Both
	// fields are zero unless life.DB.Delay is set.
	Passing string    `json:",omitempty"`
	Until   time.Time `json:",omitzero"`
}

// StatusAt returns the status of the destination at a time.
func (d *Destination) StatusAt(now time.Time) string {
	if now.Before(d.Until) {
		return d.Passing
	}
	return d.Status
}

// Recovery are the settings of point-in-time recovery.
type Recovery struct {
	// Days is the number of days for which the history is kept.
	Days int64
	// History is the log of the changes of the last Days days, but of none before recovery was enabled. Each record
	// has the item before the change. History is nil if an older version of this program enabled recovery, as that
	// version kept no history.
	History *Stream `json:",omitempty"`
}

// NewHistory returns the definition of a history that begins at a time.
func NewHistory(at time.Time) *Stream { return &Stream{View: "OLD_IMAGE", Created: at, Shards: 1} }

// A KeyElement is one attribute of a key schema.
type KeyElement struct {
	Name string
	// Hash is true for a partition key attribute and false for a sort key attribute.
	Hash bool
}

// An IndexDefinition is a secondary index or a vector index.
type IndexDefinition struct {
	Name       string
	Space      store.Space
	Key        []KeyElement
	Projection Projection
	Throughput Throughput
	OnDemand   *OnDemand `json:",omitempty"`
	Warm       *Warm     `json:",omitempty"`
	// Vector is nil for a secondary index.
	Vector *Vector `json:",omitempty"`
	// Building is true until the index has an entry for each older item. Meanwhile, writes maintain the index, but
	// clients cannot read it.
	Building bool `json:",omitempty"`
	// Creating is the time until which the index is CREATING, even if it is filled earlier. Creating is zero unless
	// life.DB.Delay is set or a job fills the table.
	Creating time.Time `json:",omitzero"`
}

// A Projection is the set of attributes that an index holds besides keys.
type Projection struct {
	// Type is ALL, KEYS_ONLY or INCLUDE.
	Type string
	// Include lists the non-key attributes of an INCLUDE projection.
	Include []string `json:",omitempty"`
}

// The types of a [Projection].
const (
	ProjectAll     = "ALL"
	ProjectKeys    = "KEYS_ONLY"
	ProjectInclude = "INCLUDE"
)

// Throughput is provisioned throughput in units per second. This package only stores it; package api can enforce it.
type Throughput struct {
	Read, Write            int64
	Increased, Decreased   time.Time
	DecreasesOnThatDay     int64
	DecreasesWereCountedOn string `json:",omitempty"`
}

// OnDemand is the maximum of on-demand throughput in units per second, or -1 for no maximum.
type OnDemand struct{ Read, Write int64 }

// Warm is warm throughput in units per second.
type Warm struct{ Read, Write int64 }

// Encryption is the server-side encryption that a client asked for. The database reports it but does not encrypt.
type Encryption struct {
	Enabled bool
	Type    string `json:",omitempty"`
	KeyID   string `json:",omitempty"`
}

// OnDemandBilling reports whether the table is billed by request.
func (d *Definition) OnDemandBilling() bool { return d.BillingMode == "PAY_PER_REQUEST" }

// Clone returns a copy for editing. The copy shares what OnDemand, Warm, Encryption, Policy and the keys of the
// indexes point to: replace these parts, and do not change them.
func (d *Definition) Clone() *Definition {
	c := *d
	c.Attributes = slices.Clone(d.Attributes)
	c.Key = slices.Clone(d.Key)
	c.Local = slices.Clone(d.Local)
	c.Global = slices.Clone(d.Global)
	c.Vectors = slices.Clone(d.Vectors)
	c.Tags = maps.Clone(d.Tags)
	if d.Stream != nil {
		c.Stream = new(*d.Stream)
	}
	if d.Recovery != nil {
		c.Recovery = new(*d.Recovery)
		if d.Recovery.History != nil {
			c.Recovery.History = new(*d.Recovery.History)
		}
	}

	c.Insights = maps.Clone(d.Insights)
	c.Kinesis = slices.Clone(d.Kinesis)
	c.States.Leaving = slices.Clone(d.States.Leaving)
	return &c
}

// Spaces returns pointers to the spaces of the table, its stream, its history and its indexes, to read or assign
// them.
func (d *Definition) Spaces() []*store.Space {
	list := []*store.Space{&d.Space}
	if d.Stream != nil {
		list = append(list, &d.Stream.Space)
	}
	if h := d.History(); h != nil {
		list = append(list, &h.Space)
	}
	for _, indexes := range [][]IndexDefinition{d.Global, d.Local, d.Vectors} {
		for i := range indexes {
			list = append(list, &indexes[i].Space)
		}
	}
	return list
}

// History returns the history of the table's changes, or nil.
func (d *Definition) History() *Stream {
	if d.Recovery == nil {
		return nil
	}
	return d.Recovery.History
}

// Online returns the indexes that clients can create and delete while the table is in use: global and vector indexes.
func (d *Definition) Online() []*IndexDefinition {
	var list []*IndexDefinition
	for _, indexes := range [][]IndexDefinition{d.Global, d.Vectors} {
		for i := range indexes {
			list = append(list, &indexes[i])
		}
	}
	return list
}

// Keys returns the names of all attributes that the definition must define: the key attributes of the table and its
// indexes, and the filter attributes of its vector indexes.
func (d *Definition) Keys() map[string]bool {
	used := map[string]bool{}
	keys := [][]KeyElement{d.Key}
	for _, ix := range slices.Concat(d.Local, d.Global) {
		keys = append(keys, ix.Key)
	}
	for _, ix := range d.Vectors {
		keys = append(keys, ix.Vector.Schema)
	}
	for _, e := range slices.Concat(keys...) {
		used[e.Name] = true
	}
	return used
}

// attribute returns the definition of a key attribute.
func (d *Definition) attribute(name string) (keycond.Attribute, bool) {
	for _, a := range d.Attributes {
		if a.Name == name {
			return a, true
		}
	}
	return keycond.Attribute{}, false
}

// KeyText returns a key in the text form of [keycond.Schema].
func (d *Definition) KeyText(key []KeyElement) string { return d.schema("", key, nil).String() }

// schema compiles the key of the table or of an index. The caller has checked the definition.
func (d *Definition) schema(index string, key []KeyElement, table *keycond.Schema) *keycond.Schema {
	var partition, sort []keycond.Attribute
	for _, e := range key {
		a, _ := d.attribute(e.Name)
		if e.Hash {
			partition = append(partition, a)
		} else {
			sort = append(sort, a)
		}
	}
	if table == nil {
		return keycond.NewSchema(partition, sort)
	}
	return table.NewIndex(index, partition, sort)
}

// States has the statuses that end at a set time. [Definition.Status] compares that time with the current one, so a
// status needs no timer and survives a restart.
type States struct {
	Creating, Updating, Deleting time.Time `json:",omitzero"`
	// Leaving lists deleted indexes. They have the status DELETING until the time Updating.
	Leaving []string `json:",omitempty"`
	// Restored is the source of the items of a table that is being restored. It counts until the time Creating.
	Restored *Restored `json:",omitempty"`
	// Change has a bit for each part of the table that changes until the time Updating. Package api defines the bits.
	// Streaming is true if the change turns the stream on or off.
	Change    uint32 `json:",omitempty"`
	Streaming bool   `json:",omitempty"`
	// Before is the definition before the change. Descriptions show some of its values until the time Updating.
	Before *Definition `json:",omitempty"`
}

// Restored is the source of a restored table. Its fields are the ARN of the backup or "", the ARN of the source
// table, and the time at which the source had the restored items.
type Restored struct {
	Backup string `json:",omitempty"`
	Table  string
	At     time.Time
}

// Restoring returns the source of the table's items if the table is being restored at now, or nil.
func (d *Definition) Restoring(now time.Time) *Restored {
	if d.Status(now) != StatusCreating {
		return nil
	}
	return d.States.Restored
}

// Before returns the earlier definition of a table that is UPDATING at now, or nil if the table is not UPDATING.
func (d *Definition) Before(now time.Time) *Definition {
	if d.Status(now) != StatusUpdating {
		return nil
	}
	return d.States.Before
}

// A Stream is the log of the changes of a table's items. The Update that changes an item also writes the record as a
// row, so the log is as durable and as atomic as the change.
//
// A stream has Shards columns, each for a range of partition key hashes. Time divides a column into epochs of
// [shardLife]. A [Shard] is one epoch of one column, and its parent is the shard of the epoch before. The store needs
// no list of shards: the last sequence number of a column contains its epoch, and the shards of all earlier epochs
// are closed.
type Stream struct {
	// View is KEYS_ONLY, NEW_IMAGE, OLD_IMAGE or NEW_AND_OLD_IMAGES.
	View string
	// Created is when the stream was switched on, in whole milliseconds. Label is the same time as text, for the ARN.
	// No two streams of the same table name have the same Created or Label.
	Created time.Time
	Label   string
	Space   store.Space
	Shards  int
	Labels
}

// A Vector is the part of an index definition that only a vector index has. The key of a vector index is a partition
// key, or empty. An entry has the projected attributes and the vector. It stores the vector as a binary value of 4
// bytes per dimension, which is also the size that the service counts. A search compares every vector of the
// partition, so its result is exact, while the service's result is approximate.
//
// Sources of the rules and texts of this file: DG/VectorSearchWorkingWith.html, DG/VectorSearch.Requirements.html and
// dynoxide's captures of 2026-08-11 to 23 in eu-west-2 and us-east-1.
type Vector struct {
	Attribute  string
	Dimensions int64
	// Function is COSINE, EUCLIDEAN or DOT_PRODUCT.
	Function string
	// Schema lists the attributes that a search may compare. The attribute with Hash set is the partition key of the
	// index. The others are filter attributes.
	Schema []KeyElement `json:",omitempty"`
}

// The distance functions.
const (
	Cosine     = "COSINE"
	Euclidean  = "EUCLIDEAN"
	DotProduct = "DOT_PRODUCT"
)

// Limits of vector indexes. Source: DG/ServiceQuotas.html, vector indexes.
const (
	MaxVectorIndexes = 5
	MaxDimensions    = 4096
	MaxFilters       = 18
)
