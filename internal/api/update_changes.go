package api

import (
	"strings"

	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

// A change is a set of bits, one for each kind of change that an UpdateTable can ask for.
type change uint16

const (
	changeReplicas change = 1 << iota
	changeEncryption
	changeClass
	changeProtection
	changeWarm
	changeOnDemand
	changeThroughput
	changeToProvisioned
	changeToOnDemand
	changeStream
	createIndex
	deleteIndex
	updateIndex
	changeGlobal
)

const anyChange = ^change(0)

// exclusiveChanges lists pairs of changes that one UpdateTable must not combine, in the order in which the service
// checks them. Sources: ack-api-quirks, DDB-TABLE-174, 224, 382 and 433, 2026-10-08 and 09.
var exclusiveChanges = []struct {
	one, others change
	text        string
}{
	{changeReplicas, anyChange, "Replica modification must be the only operation in the request"},
	{changeEncryption, anyChange, "Server-Side Encryption modification must be the only operation in the request"},
	{changeClass, anyChange, "TableClass modification must be the only operation in the request"},
	{changeProtection, anyChange, "DeletionProtection modification must be the only operation in the request"},
	{changeWarm, createIndex, "Create global secondary index cannot be specified when updating WarmThroughput"},
	{changeWarm, anyChange, "WarmThroughput must be the only operation in the request"},
	{
		changeOnDemand, anyChange &^ (changeToProvisioned | changeToOnDemand),
		"OnDemandThroughput can only be combined with BillingMode in an UpdateTable request",
	},
	{
		changeThroughput | changeToProvisioned, changeStream,
		"You cannot modify stream status while updating table IOPS",
	},
	{
		changeThroughput | changeToProvisioned, createIndex | deleteIndex,
		"You cannot create or delete index while updating table IOPS",
	},
	{changeStream, createIndex | deleteIndex, "You cannot create or delete index while changing stream status"},
}

// checkExclusive returns an error if one request combines changes that it must not combine.
func checkExclusive(c change) error {
	for _, a := range exclusiveChanges {
		if c&a.one != 0 && c&^a.one&a.others != 0 {
			return wrongValue(a.text)
		}
	}
	return nil
}

// changesOf returns the changes that a request asks for, and the names of the indexes that it creates and deletes, or
// "". At most one of the two is set; see checkTableUpdate. An empty WarmThroughput or OnDemandThroughput asks for no
// change: ack-api-quirks, DDB-TABLE-457.
func changesOf(in *wire.UpdateTableInput) (c change, created, deleted string) {
	add := func(asked bool, kind change) {
		if asked {
			c |= kind
		}
	}
	add(in.ReplicaUpdates != nil, changeReplicas)
	add(in.SSESpecification != nil, changeEncryption)
	add(in.TableClass != nil, changeClass)
	add(in.DeletionProtectionEnabled != nil, changeProtection)
	add(in.WarmThroughput != nil && *in.WarmThroughput != (wire.WarmThroughput{}), changeWarm)
	add(in.OnDemandThroughput != nil && *in.OnDemandThroughput != (wire.OnDemandThroughput{}), changeOnDemand)
	add(in.ProvisionedThroughput != nil, changeThroughput)
	add(value(in.BillingMode) == "PROVISIONED", changeToProvisioned)
	add(value(in.BillingMode) == "PAY_PER_REQUEST", changeToOnDemand)
	add(in.StreamSpecification != nil, changeStream)
	add(in.GlobalTableSettingsReplicationMode != nil || in.DisassociationProtectionEnabled != nil, changeGlobal)

	for _, u := range in.GlobalSecondaryIndexUpdates {
		add(u.Update != nil, updateIndex)
		if u.Create != nil {
			c, created = c|createIndex, value(u.Create.IndexName)
		}
		if u.Delete != nil {
			c, deleted = c|deleteIndex, value(u.Delete.IndexName)
		}
	}
	for _, u := range in.VectorIndexUpdates {
		if u.Create != nil {
			c, created = c|createIndex, value(u.Create.IndexName)
		}
		if u.Delete != nil {
			c, deleted = c|deleteIndex, value(u.Delete.IndexName)
		}
	}
	return c, created, deleted
}

// changeUnits are the changes that the service's messages call changes of table IOPS.
const changeUnits = changeThroughput | changeToProvisioned | changeToOnDemand

// busy lists pairs of changes. While a change in running is in progress, the service refuses a change in asked with
// the error text. A name after $ in a text stands for the table, its stream, ENABLE or DISABLE, its class, or its
// indexes. Sources: ack-api-quirks, DDB-TABLE-119, 163, 286, 369, 370, 376, 444 and 458, 2026-10-08 and 09. The end
// of the text for OnDemandThroughput during a change of the stream is not known.
var busy = []struct {
	running, asked change
	text           string
}{
	{changeUnits, changeUnits, "Table IOPS are currently being updated. Table: $table"},
	{
		changeToProvisioned | changeToOnDemand, changeOnDemand,
		"OnDemandThroughput cannot be updated while BillingMode update is in progress",
	},
	{changeUnits, changeStream, "Can't enable or disable stream while table IOPS are being updated. Table: $table"},
	{
		changeStream, changeStream,
		"A stream status change is currently in progress. Table: $table Stream: $stream Operation: $operation",
	},
	{
		changeStream, changeUnits,
		"Can't change table IOPS when stream status is being updated. " +
			"Table: $table Stream: $stream Operation: $operation",
	},
	{
		changeStream, changeClass,
		"Can't update table class when stream status is being updated. " +
			"Table: $table Stream: $stream Operation: $operation",
	},
	{changeStream, changeOnDemand, "OnDemandThroughput cannot be updated while stream status update is in progress"},
	{
		changeClass, changeClass, "Can't update table class when a table class update is in progress. " +
			"Table: $table TableClassUpdateInProgress: $class",
	},
	{
		changeClass, changeStream, "Can't change stream status when a table class update is in progress. " +
			"Table: $table TableClassUpdateInProgress: $class",
	},
	{
		changeClass, changeOnDemand, "OnDemandThroughput cannot be updated while TableClass update is in progress. " +
			"TableClassUpdateInProgress: $class",
	},
	{
		createIndex, changeUnits,
		"Can't change table IOPS when an index is being created. Table: $table Indexes: [$indexes]",
	},
	{
		createIndex, changeStream,
		"Can't change stream status when an index is being created. Table: $table Indexes: [$indexes]",
	},
	{
		createIndex, changeOnDemand,
		"OnDemandThroughput cannot be updated while index creation is in progress for indexes: [$indexes]",
	},
	{
		deleteIndex, changeUnits,
		"Can't change table IOPS when an index is being deleted. Table: $table Indexes: [$indexes]",
	},
	{
		deleteIndex, changeOnDemand,
		"OnDemandThroughput cannot be updated while index deletion is in progress for indexes: [$indexes]",
	},
}

// errBusy returns an error if a change in asked must wait for a change in running, or nil. indexes are the names of
// the indexes that are being created or deleted.
func errBusy(def *table.Definition, running, asked change, indexes []string) error {
	for _, b := range busy {
		if running&b.running == 0 || asked&b.asked == 0 {
			continue
		}
		operation := "ENABLE"
		if def.Stream == nil {
			operation = "DISABLE"
		}
		return wire.NewError("ResourceInUseException", "Attempt to change a resource which is still in use: "+
			strings.NewReplacer(
				"$table", def.Name, "$stream", def.LastStream, "$operation", operation,
				"$class", def.Class, "$indexes", strings.Join(indexes, ", "),
			).Replace(b.text))
	}
	return nil
}
