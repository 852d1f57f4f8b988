// Package wiretest has helpers for tests of wire shapes: new inputs by
// operation, and the JSON of any shape, encoded by reflection.
package wiretest

import (
	"encoding/base64"
	"encoding/json"
	"reflect"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/wire"
)

var inputs = map[wire.Op]wire.Input{}

func init() {
	for _, in := range []wire.Input{
		new(wire.BatchGetItemInput), new(wire.BatchWriteItemInput), new(wire.CreateTableInput),
		new(wire.DeleteItemInput),
		new(wire.DeleteTableInput), new(wire.DescribeEndpointsRequest), new(wire.DescribeLimitsInput),
		new(wire.DescribeTableInput),
		new(wire.DescribeTimeToLiveInput), new(wire.GetItemInput), new(wire.ListTablesInput),
		new(wire.ListTagsOfResourceInput),
		new(wire.PutItemInput), new(wire.QueryInput), new(wire.ScanInput), new(wire.TagResourceInput),
		new(wire.TransactGetItemsInput), new(wire.TransactWriteItemsInput), new(wire.UntagResourceInput),
		new(wire.UpdateItemInput),
		new(wire.UpdateTableInput), new(wire.UpdateTimeToLiveInput),
		new(wire.DescribeStreamInput), new(wire.GetRecordsInput), new(wire.GetShardIteratorInput),
		new(wire.ListStreamsInput),
		new(wire.BatchExecuteStatementInput), new(wire.ExecuteStatementInput), new(wire.ExecuteTransactionInput),
		new(wire.ExportTableToPointInTimeInput), new(wire.DescribeExportInput), new(wire.ListExportsInput),
		new(wire.ImportTableInput), new(wire.DescribeImportInput), new(wire.ListImportsInput),
		new(wire.CreateBackupInput), new(wire.DescribeBackupInput), new(wire.ListBackupsInput),
		new(wire.DeleteBackupInput), new(wire.RestoreTableFromBackupInput), new(wire.RestoreTableToPointInTimeInput),
		new(wire.DescribeContinuousBackupsInput), new(wire.UpdateContinuousBackupsInput),
		new(wire.PutResourcePolicyInput), new(wire.GetResourcePolicyInput), new(wire.DeleteResourcePolicyInput),
		new(wire.UpdateContributorInsightsInput), new(wire.DescribeContributorInsightsInput),
		new(wire.ListContributorInsightsInput),
		new(wire.KinesisStreamingDestinationInput), new(wire.UpdateKinesisStreamingDestinationInput),
		new(wire.DescribeKinesisStreamingDestinationInput),
		new(wire.DescribeTableReplicaAutoScalingInput), new(wire.UpdateTableReplicaAutoScalingInput),
		new(wire.CreateGlobalTableInput),
		new(wire.DescribeGlobalTableInput), new(wire.ListGlobalTablesInput), new(wire.UpdateGlobalTableInput),
		new(wire.DescribeGlobalTableSettingsInput), new(wire.UpdateGlobalTableSettingsInput),
		new(wire.SearchVectorsInput), new(wire.StartBulkPutItemsInput), new(wire.DescribeBulkOperationInput),
		new(wire.ListBulkOperationsInput), new(wire.CancelBulkOperationInput),
	} {
		name := strings.TrimSuffix(strings.TrimSuffix(reflect.TypeOf(in).Elem().Name(), "Input"), "Request")
		found := false
		for _, op := range wire.Operations() {
			// Two operations can share an input.
			if of := op.String(); of == name || of == "Enable"+name || of == "Disable"+name {
				inputs[op], found = in, true
			}
		}
		if !found {
			panic("no operation has the input " + name)
		}
	}
}

// NewInput returns a new input of an operation.
func NewInput(op wire.Op) wire.Input {
	return reflect.New(reflect.TypeOf(inputs[op]).Elem()).Interface().(wire.Input)
}

// JSON returns a shape as a JSON object without absent (nil) members.
func JSON(shape any) []byte {
	text, err := json.Marshal(plain(reflect.ValueOf(shape)))
	if err != nil {
		panic(err)
	}
	return text
}

// plain returns a value for encoding/json.
func plain(v reflect.Value) any {
	switch x := v.Interface().(type) {
	case attr.Value:
		return json.RawMessage(x.AppendJSON(nil))
	case attr.Item:
		return json.RawMessage(x.AppendJSON(nil))
	case []byte:
		return base64.StdEncoding.EncodeToString(x)
	}
	switch v.Kind() {
	case reflect.Pointer:
		return plain(v.Elem())
	case reflect.Slice:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = plain(v.Index(i))
		}
		return list
	case reflect.Map:
		m := map[string]any{}
		for _, k := range v.MapKeys() {
			m[k.String()] = plain(v.MapIndex(k))
		}
		return m
	case reflect.Struct:
		m := map[string]any{}
		for field, value := range v.Fields() {
			if field.Type != reflect.TypeFor[wire.Faults]() && present(value) {
				m[field.Name] = plain(value)
			}
		}
		return m
	}
	return v.Interface()
}

// present reports whether a member is present.
func present(v reflect.Value) bool {
	if x, ok := v.Interface().(attr.Value); ok {
		return x.Kind() != 0
	}
	return !v.IsNil()
}
