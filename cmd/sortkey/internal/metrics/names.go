package metrics

import "strings"

// other stands for names beyond those that have a label of their own. No
// table can have this name.
const other = "(other)"

// operations are the names that have a label: all operations of the service,
// of streams too.
var operations = func() map[string]bool {
	names := map[string]bool{}
	for name := range strings.FieldsSeq(operationNames) {
		names[name] = true
	}
	return names
}()

// Operation returns the label of an operation: its name, or "(other)" if the
// service has none of that name.
func Operation(name string) string {
	if operations[name] {
		return name
	}
	return other
}

const operationNames = `
BatchExecuteStatement BatchGetItem BatchWriteItem CreateBackup
CreateGlobalTable CreateTable DeleteBackup DeleteItem DeleteResourcePolicy
DeleteTable DescribeBackup DescribeContinuousBackups
DescribeContributorInsights DescribeEndpoints DescribeExport
DescribeGlobalTable DescribeGlobalTableSettings DescribeImport
DescribeKinesisStreamingDestination DescribeLimits DescribeStream
DescribeTable DescribeTableReplicaAutoScaling DescribeTimeToLive
DisableKinesisStreamingDestination EnableKinesisStreamingDestination
ExecuteStatement ExecuteTransaction ExportTableToPointInTime GetItem
GetRecords GetResourcePolicy GetShardIterator ImportTable ListBackups
ListContributorInsights ListExports ListGlobalTables ListImports ListStreams
ListTables ListTagsOfResource PutItem PutResourcePolicy Query
RestoreTableFromBackup RestoreTableToPointInTime Scan TagResource
TransactGetItems TransactWriteItems UntagResource UpdateContinuousBackups
UpdateContributorInsights UpdateGlobalTable UpdateGlobalTableSettings
UpdateItem UpdateKinesisStreamingDestination UpdateTable
UpdateTableReplicaAutoScaling UpdateTimeToLive`
