package api

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

// A database is one region, so no table has replicas. The operations on global tables respond like the service in a
// region that cannot reach other regions. The service no longer creates global tables of the old version 2017.11.29,
// and neither does this package. Source: quirks, findings DDB-TABLE-048, 187, 203, 223 and 257, DDB-GLOBALTABLE-002
// and 004.

const noOldGlobalTables = wrongParameter + "DynamoDB global tables version 2017.11.29 is not supported. " +
	"We recommend using DynamoDB global tables version 2019.11.21, instead of version 2017.11.29 (Legacy)."

// A globalInput has the members that matter of the inputs of the operations that always fail.
type globalInput struct {
	GlobalTableName, TableName *string
	ReplicaUpdates             []wire.ReplicaUpdate
}

func (in *globalInput) missing(*Service) error {
	return wire.NewError(
		"GlobalTableNotFoundException", "Global table with name: '"+value(in.GlobalTableName)+"' does not exist.",
	)
}

// refusedOperations returns the operations on global tables that always fail.
func refusedOperations() []operation {
	return []operation{
		refused(wire.OpCreateGlobalTable, func(*globalInput, *Service) error {
			return wire.Validation(noOldGlobalTables)
		}),
		refused(wire.OpDescribeGlobalTable, func(in *globalInput, _ *Service) error {
			return wire.NewError(
				"GlobalTableNotFoundException",
				"Global table not found: Global table with name: '"+*in.GlobalTableName+"' does not exist.",
			)
		}),
		refused(wire.OpUpdateGlobalTable, (*globalInput).update),
		refused(wire.OpDescribeGlobalTableSettings, (*globalInput).missing),
		refused(wire.OpUpdateGlobalTableSettings, (*globalInput).missing),
		refused(wire.OpDescribeTableReplicaAutoScaling, (*globalInput).noReplicas),
		refused(wire.OpUpdateTableReplicaAutoScaling, (*globalInput).noReplicas),
	}
}

// refused returns an operation of which every call fails. why returns the error of a call.
func refused(op wire.Op, why func(*globalInput, *Service) error) operation {
	return typed(op, func(s *Service, _ context.Context, in wire.Input) (out Empty, err error) {
		return out, why(wire.As[globalInput](in), s)
	})
}

// update returns the error of an UpdateGlobalTable. If the input is valid, the error says that the global table does
// not exist.
func (in *globalInput) update(s *Service) error {
	if len(in.ReplicaUpdates) == 0 {
		return wire.Validation("One or more parameter values were invalid")
	}
	for _, u := range in.ReplicaUpdates {
		switch {
		case u.Create != nil:
			return wire.Validation(noOldGlobalTables)
		case u.Delete == nil: // ack-api-quirks, DDB-TABLE-457
			return wire.Validation("One or more parameter values were invalid")
		}
	}
	return in.missing(s)
}

// listGlobalTables returns an empty list, because there are no global tables.
func (s *Service) listGlobalTables(
	_ context.Context, in *wire.ListGlobalTablesInput,
) (*wire.ListGlobalTablesOutput, error) {
	return &wire.ListGlobalTablesOutput{GlobalTables: []wire.GlobalTable{}}, nil
}

// noReplicas returns the error for auto scaling of a table that is not a global table. The error is the same if the
// table does not exist: ack-api-quirks, DDB-TABLE-446.
func (in *globalInput) noReplicas(s *Service) error {
	n, err := s.tableName(in.TableName)
	if err != nil {
		return err
	}
	return wire.NewError("ResourceNotFoundException", "Global table with name: '"+n+"' does not exist.")
}

// checkReplicas returns an error if an UpdateTable has replica updates. All of them fail: the local region is not
// allowed, and other regions cannot be reached.
func (s *Service) checkReplicas(in *wire.UpdateTableInput) error {
	if len(in.ReplicaUpdates) == 0 {
		return nil
	}
	strong := value(in.MultiRegionConsistency) == "STRONG"
	witnesses := witnessRegions(in.GlobalTableWitnessUpdates)
	if len(witnesses) > 0 && !strong {
		return wire.Validation(
			"MultiRegionConsistency must be set as STRONG when GlobalTableWitnessUpdates parameter is present.",
		)
	}
	if err := checkReplicaActions(in.ReplicaUpdates, strong); err != nil {
		return err
	}

	var added, unknown []string
	for _, u := range in.ReplicaUpdates {
		var region *string
		switch {
		case u.Create != nil && u.Create.RegionName == nil: // ack-api-quirks, DDB-TABLE-457
			return wire.Validation("One or more parameter values were invalid")
		case u.Create != nil:
			region = u.Create.RegionName
			added = append(added, value(region))
		case u.Delete != nil && value(u.Delete.RegionName) == "":
			return s.unsupported("")
		case u.Update != nil && onlyRegion(u.Update): // ack-api-quirks, DDB-TABLE-294
			return wire.Validation(msgNoAction)
		case u.Update != nil:
			region = u.Update.RegionName
		case u.Delete != nil:
			region = u.Delete.RegionName
		case u.Disassociate != nil:
			region = u.Disassociate.RegionName
		default: // ack-api-quirks, DDB-TABLE-294 and 437
			return wire.Validation(msgNoAction)
		}
		if value(region) == s.opts.Region {
			return wire.Validation("Cannot add or delete the local region through ReplicaUpdates. " +
				"Use CreateTable, DeleteTable, or UpdateTable as required.")
		}
		if u.Create == nil {
			unknown = append(unknown, value(region))
		}
	}

	if strong {
		if err := s.checkStrong(added, witnesses); err != nil {
			return err
		}
	}
	switch {
	case len(added) > 0 && strong:
		return wire.Validation(
			"Unsupported Region(s) specified for global tables with MultiRegionConsistency set to STRONG: [" +
				strings.Join(added, ", ") + "].",
		)
	case len(added) > 0:
		return s.unsupported(added[0])
	}

	return wire.Validation("Update global table operation failed because one or more replicas " +
		"were not part of the global table. Please retry the request without these replicas: [" +
		strings.Join(unknown, ", ") + "].")
}

const msgNoAction = "There are no actions specified in the Replica Update Action of the request."

func (s *Service) unsupported(region string) error {
	return wire.Validation("Region " + region +
		" is not supported. The latest version of global tables are only supported in the following regions: [" +
		s.opts.Region + "]")
}

// witnessRegions returns the regions of the witnesses that a request creates or deletes. It skips a witness without a
// region: ack-api-quirks, DDB-TABLE-457.
func witnessRegions(updates []wire.GlobalTableWitnessGroupUpdate) (regions []string) {
	for _, u := range updates {
		switch {
		case u.Create != nil && value(u.Create.RegionName) != "":
			regions = append(regions, *u.Create.RegionName)
		case u.Delete != nil && value(u.Delete.RegionName) != "":
			regions = append(regions, *u.Delete.RegionName)
		}
	}
	return regions
}

// onlyRegion reports whether an update of a replica sets only RegionName.
func onlyRegion(u *wire.UpdateReplicationGroupMemberAction) bool {
	rest := *u
	rest.RegionName = nil
	return reflect.ValueOf(rest).IsZero()
}

// checkReplicaActions returns an error if a request has more than one kind of action. It also returns an error for
// more than one creation or deletion of a replica, except for a strongly consistent global table, which begins with
// several replicas. Source: ack-api-quirks, DDB-TABLE-223 and 442.
func checkReplicaActions(updates []wire.ReplicationGroupUpdate, strong bool) error {
	kinds := map[string]bool{}
	changes := 0
	for _, u := range updates {
		for kind, asked := range map[string]bool{
			"create": u.Create != nil, "delete": u.Delete != nil, "update": u.Update != nil,
		} {
			if asked {
				kinds[kind] = true
			}
		}
		if u.Create != nil || u.Delete != nil {
			changes++
		}
	}
	switch {
	case len(kinds) > 1:
		return wire.Validation("Update table operation with more than one type of replica actions not allowed.")
	case changes > 1 && !strong:
		return wire.Validation("Update table operation with more than one create or delete replica actions not allowed")
	}
	return nil
}

// checkStrong returns an error if a strongly consistent global table cannot have these regions. Source:
// ack-api-quirks, DDB-TABLE-257.
func (s *Service) checkStrong(added, witnesses []string) error {
	switch {
	case len(added) == 1 && len(witnesses) == 0:
		return wire.Validation("Unsupported replica count for global tables with MultiRegionConsistency set to STRONG.")
	case slices.ContainsFunc(witnesses, func(w string) bool { return slices.Contains(added, w) }):
		return wire.Validation("Cannot target multiple regions with the same action")
	case slices.Contains(witnesses, s.opts.Region):
		return wire.Validation("Cannot add a witness in the same region as an existing replica when creating a " +
			"global table with MultiRegionConsistency set to STRONG.")
	}
	return nil
}

// alterGlobal applies the settings for global tables that the service also accepts for a table without replicas.
func alterGlobal(def *table.Definition, in *wire.UpdateTableInput) error {
	if in.DisassociationProtectionEnabled != nil {
		def.Undissociable = *in.DisassociationProtectionEnabled
	}
	switch mode := value(in.GlobalTableSettingsReplicationMode); mode {
	case "":
	case "ENABLED", "DISABLED":
		def.GlobalSettings = mode
	default:
		return wire.Validation("Value '" + mode +
			"' at 'GlobalTableSettingsReplicationMode' failed to satisfy constraint: " +
			"Only ENABLED and DISABLED settings replication are supported for a Regional Table.")
	}
	return nil
}
