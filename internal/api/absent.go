package api

import (
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/wire"
)

// An absence is what the service does and Sortkey does not: operations, and
// what there is instead of them.
type absence struct {
	what    string
	ops     []string
	instead string
}

// absences hold every operation that has no handler. Where an endpoint does not
// have an operation the service's clients expect an UnknownOperationException,
// so that is what it is; only the text is ours.
var absences = []absence{
	{
		"PartiQL", []string{"BatchExecuteStatement", "ExecuteStatement", "ExecuteTransaction"},
		"Use Query, Scan and the operations on items, in a batch or a transaction if need be.",
	},
	{
		"streams", []string{"DescribeStream", "GetRecords", "GetShardIterator", "ListStreams"},
		"A StreamSpecification is described and nothing is recorded; ReturnValues shows what a write changed.",
	},
	{
		"streams to Kinesis", []string{
			"DescribeKinesisStreamingDestination", "DisableKinesisStreamingDestination", "EnableKinesisStreamingDestination",
			"UpdateKinesisStreamingDestination",
		},
		"ReturnValues shows what a write changed.",
	},
	{
		"backups", []string{
			"CreateBackup", "DeleteBackup", "DescribeBackup", "DescribeContinuousBackups", "ListBackups",
			"RestoreTableFromBackup", "RestoreTableToPointInTime", "UpdateContinuousBackups",
		},
		"Copy a database with 'sortkey snapshot' and 'sortkey restore', or in a program with Snapshot and Fork.",
	},
	{
		"export to and import from S3", []string{
			"DescribeExport", "DescribeImport", "ExportTableToPointInTime", "ImportTable", "ListExports", "ListImports",
		},
		"Use 'sortkey export' and 'sortkey import', which write and read the same files.",
	},
	{
		"bulk put", []string{"CancelBulkOperation", "DescribeBulkOperation", "ListBulkOperations", "StartBulkPutItems"},
		"Use 'sortkey import' or BatchWriteItem.",
	},
	{
		"global tables", []string{
			"CreateGlobalTable", "DescribeGlobalTable", "DescribeGlobalTableSettings", "DescribeTableReplicaAutoScaling",
			"ListGlobalTables", "UpdateGlobalTable", "UpdateGlobalTableSettings", "UpdateTableReplicaAutoScaling",
		},
		"A table is in one place and has no replicas: leave the call out.",
	},
	{
		"contributor insights", []string{"DescribeContributorInsights", "ListContributorInsights", "UpdateContributorInsights"},
		"See what is read with 'sortkey explain', a trace or the metrics of 'sortkey serve'.",
	},
	{
		"resource policies", []string{"DeleteResourcePolicy", "GetResourcePolicy", "PutResourcePolicy"},
		"Every client may do everything: leave the call out.",
	},
	{
		"vector search", []string{"SearchVectors"},
		"Query and Scan find items by their keys and by filters.",
	},
}

// IsOperation reports whether the service has an operation of that name, answered
// here or not.
func IsOperation(name string) bool {
	if _, ok := wire.Lookup("DynamoDB_20120810." + name); ok {
		return true
	}
	return slices.ContainsFunc(absences, func(a absence) bool { return slices.Contains(a.ops, name) })
}

// Unanswered returns the error for a target that no handler answers: what is
// not there and what to use instead, or no text when the service has no such
// operation either.
func Unanswered(target string) *wire.Error {
	e := wire.UnknownOperation()
	_, name, _ := strings.Cut(target, ".")
	for _, a := range absences {
		if slices.Contains(a.ops, name) {
			e.Message = "Sortkey does not answer " + name + ", it has no " + a.what + ". " + a.instead
		}
	}
	return e
}
