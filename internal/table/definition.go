package table

import (
	"maps"
	"slices"
	"time"

	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store"
)

// A Definition is a table without its items. It is stored with the table; times come
// from the database's clock.
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

	// BillingMode is PROVISIONED, PAY_PER_REQUEST, or "" when the client left
	// it out, which means PROVISIONED.
	BillingMode string `json:",omitempty"`
	// BillingChanged is when the table was last switched to PAY_PER_REQUEST.
	BillingChanged time.Time
	Throughput     Throughput
	OnDemand       *OnDemand `json:",omitempty"`
	Warm           *Warm     `json:",omitempty"`
	Class          string    `json:",omitempty"`
	ClassChanged   time.Time
	Protected      bool `json:",omitempty"`
	// Stream is the table's stream while it is on, and LastStream the label of the
	// last one.
	Stream     *Stream           `json:",omitempty"`
	LastStream string            `json:",omitempty"`
	Encryption *Encryption       `json:",omitempty"`
	Tags       map[string]string `json:",omitempty"`
	// Expiry is the attribute with the time at which an item expires, or ""
	// while time to live is disabled.
	Expiry string `json:",omitempty"`

	// Policy is the resource policy of the table; the stream's is with the stream.
	Policy *Policy `json:",omitempty"`
	// Insights are the settings of contributor insights by global index, "" for
	// the table.
	Insights map[string]Insights `json:",omitempty"`
	// Kinesis lists the Kinesis streams that the client named, the newest first.
	Kinesis []Destination `json:",omitempty"`
	// Recovery is set while point-in-time recovery is enabled.
	Recovery *Recovery `json:",omitempty"`
	// GlobalSettings is ENABLED or DISABLED, as the client set the replication of
	// settings, and Undissociable its protection of replicas.
	GlobalSettings string `json:",omitempty"`
	Undissociable  bool   `json:",omitempty"`
	// States are those that take time, if [DB.Delay] is set.
	States States `json:",omitzero"`
}

// A Policy is a resource policy. It is kept and not enforced.
type Policy struct {
	// Text is the policy in its canonical form, "" once it is deleted.
	Text string `json:",omitempty"`
	// Revision is the time of the last change in milliseconds since 1970. It
	// grows with each change.
	Revision int64
	// Unversioned says that the client left out the version that the text has.
	Unversioned bool `json:",omitempty"`
}

// Insights are settings of contributor insights. They are kept; nothing is
// counted.
type Insights struct {
	Enabled bool
	Mode    string
	Changed time.Time
	Begun   time.Time // when they were enabled last, which is in the names of their rules
}

// A Destination is a Kinesis stream that a client wants the changes of a table in.
type Destination struct {
	ARN string
	// Status is ACTIVE, DISABLED or ENABLE_FAILED, and Reason says why it failed.
	Status string
	Reason string `json:",omitempty"`
	// Precision is the precision of the times of records, "" when the client left it out.
	Precision string `json:",omitempty"`
	// Passing is the status until a time, if [DB.Delay] is set: ENABLING, UPDATING or DISABLING.
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
	// Days is how long the history is kept.
	Days int64
	// History has the changes since recovery was enabled, each with the item as it
	// was before. It is nil in tables of versions that kept none.
	History *Stream `json:",omitempty"`
}

// NewHistory returns a history that begins at a time.
func NewHistory(at time.Time) *Stream { return &Stream{View: "OLD_IMAGE", Created: at, Shards: 1} }

// A KeyElement is one attribute of a key schema.
type KeyElement struct {
	Name string
	// Hash is true for a partition key attribute, false for a sort key one.
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
	// Building is true until the items that are older than the index have been
	// added to it. Such an index is written to and cannot be read.
	Building bool `json:",omitempty"`
	// Creating is until when the index counts as being created, if [DB.Delay] is
	// set, whether it is filled or not.
	Creating time.Time `json:",omitzero"`
}

// A Projection is the set of attributes that an index holds besides the keys.
type Projection struct {
	// Type is ALL, KEYS_ONLY or INCLUDE.
	Type string
	// Include lists the further attributes of an INCLUDE.
	Include []string `json:",omitempty"`
}

// The types of a [Projection].
const (
	ProjectAll     = "ALL"
	ProjectKeys    = "KEYS_ONLY"
	ProjectInclude = "INCLUDE"
)

// Throughput is provisioned throughput in units a second. Package api enforces it on
// request.
type Throughput struct {
	Read, Write            int64
	Increased, Decreased   time.Time
	DecreasesOnThatDay     int64
	DecreasesWereCountedOn string `json:",omitempty"`
}

// OnDemand is the maximum of on-demand throughput in units a second; -1 is
// none.
type OnDemand struct{ Read, Write int64 }

// Warm is warm throughput in units a second.
type Warm struct{ Read, Write int64 }

// Encryption is the server-side encryption that a client asked for. It is
// reported and not done.
type Encryption struct {
	Enabled bool
	Type    string `json:",omitempty"`
	KeyID   string `json:",omitempty"`
}

// OnDemandBilling reports whether the table is billed by request.
func (d *Definition) OnDemandBilling() bool { return d.BillingMode == "PAY_PER_REQUEST" }

// Clone returns a deep copy of the parts that a change may edit.
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

// Spaces returns the spaces of the table, its stream and its indexes, to read or
// to assign.
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

// Online returns the indexes that can be created and deleted while the table is in
// use: global and vector indexes.
func (d *Definition) Online() []*IndexDefinition {
	var list []*IndexDefinition
	for _, indexes := range [][]IndexDefinition{d.Global, d.Vectors} {
		for i := range indexes {
			list = append(list, &indexes[i])
		}
	}
	return list
}

// Keys returns the names of the attributes that the keys of the table and its
// indexes use, and that searches of its vector indexes may compare.
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

// schema compiles a key; the definition has been checked.
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

// States are the states that take time. Each lasts until a time on the database's
// clock, so that it needs no timer and outlives a restart.
type States struct {
	Creating, Updating, Deleting time.Time `json:",omitzero"`
	// Leaving are the indexes that are gone and described as DELETING while Updating lasts.
	Leaving []string `json:",omitempty"`
	// Restored says what the table is restored from while Creating lasts.
	Restored *Restored `json:",omitempty"`
	// Change says, in bits that package api defines, which parts Updating changes. Streaming says that it
	// turns the stream on or off.
	Change    uint32 `json:",omitempty"`
	Streaming bool   `json:",omitempty"`
	// Before is the definition that the table had before Updating: descriptions show some of it.
	Before *Definition `json:",omitempty"`
}

// Restored is the source of a table: the ARN of a backup or "", the ARN of a table, and the time
// at which the table has the state of it.
type Restored struct {
	Backup string `json:",omitempty"`
	Table  string
	At     time.Time
}

// Restoring returns the source of a table that is being restored at a time, or nil.
func (d *Definition) Restoring(now time.Time) *Restored {
	if d.Status(now) != StatusCreating {
		return nil
	}
	return d.States.Restored
}

// Before returns the definition that a table had which is being updated at a time, or nil.
func (d *Definition) Before(now time.Time) *Definition {
	if d.Status(now) != StatusUpdating {
		return nil
	}
	return d.States.Before
}

// A Stream is the log of the changes of a table's items. Each change is a row,
// written in the same Update as the change, so it is as durable and as atomic.
//
// A stream has Shards columns, each a range of the hashes of partition keys. Time
// divides a column into epochs of [shardLife]; a [Shard] is one epoch of one
// column, and its parent is the epoch before. So the shards need no list: the
// last sequence number of a column, which includes its epoch, says which of them
// have ended.
type Stream struct {
	// View is KEYS_ONLY, NEW_IMAGE, OLD_IMAGE or NEW_AND_OLD_IMAGES.
	View string
	// Created is when the stream was switched on, in whole milliseconds, and
	// Label is the same as text, for the ARN. They are unique for a table name.
	Created time.Time
	Label   string
	Space   store.Space
	Shards  int
	// Policy is the resource policy of the stream, and Tags are its own.
	Policy *Policy           `json:",omitempty"`
	Tags   map[string]string `json:",omitempty"`
}

// A Vector is the definition that makes an index a vector index. The key of such an
// index is a partition key or nothing. A row holds the projected attributes and the
// vector, as a binary value of 4 bytes for each dimension: that is its size in the
// service's figures. A search reads the partition and compares every vector, so it is
// exact where the service's is approximate.
//
// Sources of the rules and texts of this file: DG/VectorSearchWorkingWith.html,
// DG/VectorSearch.Requirements.html and dynoxide's captures of 2026-08-11 to 23 in
// eu-west-2 and us-east-1.
type Vector struct {
	Attribute  string
	Dimensions int64
	// Function is COSINE, EUCLIDEAN or DOT_PRODUCT.
	Function string
	// Schema are the attributes that a search may compare: the partition key of the
	// index, whose Hash is true, and filters.
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
