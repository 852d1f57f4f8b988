package api

import (
	"strings"

	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

// settings are the on-demand limits and the warm throughput that a request gives a table or one of its global
// indexes.
type settings struct {
	index    string // "" for the table
	update   bool   // the request is an UpdateTable
	onDemand *wire.OnDemandThroughput
	warm     *wire.WarmThroughput
}

// apply sets the on-demand limits and the warm throughput of a table or index, or returns the error with which the
// service refuses them. units is the provisioned throughput of the table or index, and exists is false if it is new.
// Sources: ack-api-quirks, DDB-TABLE-038, 039, 051, 059, 178 and 457, 2026-10-08 and 09, and its list of texts, 442.
func (in *settings) apply(
	def *table.Definition, units table.Throughput, limits **table.OnDemand, warm **table.Warm, exists bool,
) error {
	if o := in.onDemand; o != nil {
		for _, m := range []struct {
			name  string
			units *int64
		}{{"MaxReadRequestUnits", o.MaxReadRequestUnits}, {"MaxWriteRequestUnits", o.MaxWriteRequestUnits}} {
			if err := in.checkCeiling(def, m.name, m.units, exists); err != nil {
				return err
			}
		}
		*limits = ceilings(*limits, o)
	}
	w := in.warm
	if w == nil || *w == (wire.WarmThroughput{}) {
		return nil
	}
	next := warmOf(def, *warm, units)
	if w.ReadUnitsPerSecond != nil {
		if *w.ReadUnitsPerSecond < next.Read {
			return in.tooCold(def, "Read", exists)
		}
		next.Read = *w.ReadUnitsPerSecond
	}
	if w.WriteUnitsPerSecond != nil {
		if *w.WriteUnitsPerSecond < next.Write {
			return in.tooCold(def, "Write", exists)
		}
		next.Write = *w.WriteUnitsPerSecond
	}
	*warm = &next
	return nil
}

// checkCeiling returns an error for an invalid limit of on-demand throughput. The value -1 is valid for a table or
// index that exists already; it removes the limit.
func (in *settings) checkCeiling(def *table.Definition, member string, units *int64, exists bool) error {
	if units == nil {
		return nil
	}
	if !def.OnDemandBilling() {
		of, end := " for OnDemandThroughput", "table BillingMode is PROVISIONED."
		if in.index != "" {
			of += " for index: " + in.index
		}
		if in.update {
			end = "the table BillingMode is PROVISIONED"
		}
		return wrongValue(member + of + " cannot be specified when " + end)
	}
	if *units > 0 || *units == -1 && exists {
		return nil
	}
	of := "table"
	if in.index != "" {
		of = "index : " + in.index
	}
	return wrongValue(
		"Requested " + member + " for OnDemandThroughput for " + of + " is outside of valid range")
}

// tooCold returns the error for a warm throughput that is too low. kind is Read or Write.
func (in *settings) tooCold(def *table.Definition, kind string, exists bool) error {
	of := "table"
	if in.index != "" {
		of = "index " + in.index
	}
	text := wrongParameter + "Requested " + kind + "UnitsPerSecond for WarmThroughput for " + of + " is lower than "
	switch {
	case exists:
		text += "current WarmThroughput, decreasing WarmThroughput is not supported"
	case def.OnDemandBilling():
		text += "initial throughput for OnDemand. See: https://docs.aws.amazon.com/amazondynamodb/latest/" +
			"developerguide/on-demand-capacity-mode.html#on-demand-capacity-mode-initial"
	default:
		text += kind + "CapacityUnits of ProvisionedThroughput"
	}
	return wire.Validation(text)
}

// ceilings returns the on-demand limits after a request. have are the limits before it. A limit of -1 in the request
// removes a limit, and nil keeps it. If no limit is left, ceilings returns nil.
func ceilings(have *table.OnDemand, o *wire.OnDemandThroughput) *table.OnDemand {
	if o == nil {
		return have
	}
	d := table.OnDemand{Read: -1, Write: -1}
	if have != nil {
		d = *have
	}
	if o.MaxReadRequestUnits != nil {
		d.Read = *o.MaxReadRequestUnits
	}
	if o.MaxWriteRequestUnits != nil {
		d.Write = *o.MaxWriteRequestUnits
	}
	if d.Read < 0 && d.Write < 0 {
		return nil
	}
	return &d
}

// onDemand describes on-demand limits. It omits a limit that is not set.
func onDemand(o *table.OnDemand) *wire.OnDemandThroughput {
	if o == nil || o.Read < 0 && o.Write < 0 {
		return nil
	}
	var d wire.OnDemandThroughput
	if o.Read >= 0 {
		d.MaxReadRequestUnits = new(o.Read)
	}
	if o.Write >= 0 {
		d.MaxWriteRequestUnits = new(o.Write)
	}
	return &d
}

// warmOf returns the warm throughput of a table or index. It is w, but at least the default for the billing mode. w
// is nil if no request has set a warm throughput. Source: ack-api-quirks, DDB-TABLE-032.
func warmOf(def *table.Definition, w *table.Warm, t table.Throughput) table.Warm {
	least := table.Warm{Read: t.Read, Write: t.Write}
	if def.OnDemandBilling() {
		least = table.Warm{Read: warmReads, Write: warmWrites}
	}
	if w != nil {
		least.Read, least.Write = max(least.Read, w.Read), max(least.Write, w.Write)
	}
	return least
}

// keepWarm makes sure that no warm throughput in def is lower than it is in before, as the service never lowers a
// warm throughput. Source: ack-api-quirks, DDB-TABLE-061.
func keepWarm(def, before *table.Definition) {
	keep := func(now **table.Warm, is, was table.Throughput, had *table.Warm) {
		warm, least := warmOf(before, had, was), warmOf(def, *now, is)
		if warm.Read > least.Read || warm.Write > least.Write {
			*now = &table.Warm{Read: max(warm.Read, least.Read), Write: max(warm.Write, least.Write)}
		}
	}
	keep(&def.Warm, def.Throughput, before.Throughput, before.Warm)
	for i := range def.Global {
		ix := &def.Global[i]
		if was := globalIndex(before, ix.Name); was != nil {
			keep(&ix.Warm, ix.Throughput, was.Throughput, was.Warm)
		}
	}
}

// checkClass refuses an unknown table class.
func checkClass(class *string) error {
	if value(class) != wire.NoTableClass {
		return nil
	}
	return wire.Validation("Invalid table-class parameter provided. Please try again with a valid table-class value: " +
		"[STANDARD, STANDARD_INFREQUENT_ACCESS].")
}

// checkEncryption returns an error for a key or a type if encryption is disabled, for a key without a type, and for
// the type AES256. Source: ack-api-quirks, DDB-TABLE-437 and 442.
func checkEncryption(e *wire.SSESpecification) error {
	if e == nil {
		return nil
	}
	off := e.Enabled != nil && !*e.Enabled
	switch {
	case off && e.SSEType != nil:
		return wrongValue("SSEType can not be specified if Enabled is false")
	case off && e.KMSMasterKeyId != nil:
		return wrongValue("KMSMasterKeyId can not be specified if Enabled is false")
	case e.KMSMasterKeyId != nil && e.SSEType == nil:
		return wrongValue("SSEType KMS is required if KMSMasterKeyId is specified")
	case value(e.SSEType) == "AES256":
		return wrongValue("SSEType AES256 is not supported")
	}
	return nil
}

// encryptionOf returns the KMS encryption that a request asks for, or nil. A request that only sets a type, without
// Enabled, asks for encryption too: ack-api-quirks, DDB-TABLE-044.
func encryptionOf(e *wire.SSESpecification) *table.Encryption {
	if e == nil || !value(e.Enabled) && e.SSEType == nil {
		return nil
	}
	return &table.Encryption{Enabled: true, Type: "KMS", KeyID: value(e.KMSMasterKeyId)}
}

// alterEncryption sets the encryption of a table. It returns an error if the encryption would not change. Source:
// ack-api-quirks, DDB-TABLE-047, 141 and 437.
func (s *Service) alterEncryption(def *table.Definition, e *wire.SSESpecification) error {
	next := encryptionOf(e)
	switch {
	case next == nil && def.Encryption == nil:
		return wrongValue("Table is already encrypted by default")
	case next != nil && def.Encryption != nil && strings.HasPrefix(next.KeyID, wire.ARNPrefix) &&
		next.KeyID == s.arns.Key(def.Encryption.KeyID):
		return wrongValue("Table is already encrypted with given KMSMasterKeyId. " +
			"Use KMSMasterKeyId parameter if you want to change Master Key")
	}
	def.Encryption = next
	return nil
}
