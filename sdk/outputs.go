package sdk

import (
	"maps"

	"github.com/sortkey/sortkey/internal/wire"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// The functions below convert our outputs to the SDK's, member by member.
// TestPropertyWays and the scripts of TestBehaviour compare them with what the SDK
// makes of a response.

// getItemOutput returns the output with the item that was visited, if any.
func (m *toSDK) getItemOutput(used *wire.ConsumedCapacity) *dynamodb.GetItemOutput {
	if m.got == nil {
		m.got = new(getOutput)
	}
	m.got.out.ConsumedCapacity = consumedOf(used)
	return &m.got.out
}

func putItemOutput(out *wire.PutItemOutput) *dynamodb.PutItemOutput {
	return &dynamodb.PutItemOutput{
		Attributes:            itemOf(out.Attributes),
		ConsumedCapacity:      consumedOf(out.ConsumedCapacity),
		ItemCollectionMetrics: metricsOf(out.ItemCollectionMetrics),
	}
}

func updateItemOutput(out *wire.UpdateItemOutput) *dynamodb.UpdateItemOutput {
	return &dynamodb.UpdateItemOutput{
		Attributes:            itemOf(out.Attributes),
		ConsumedCapacity:      consumedOf(out.ConsumedCapacity),
		ItemCollectionMetrics: metricsOf(out.ItemCollectionMetrics),
	}
}

func deleteItemOutput(out *wire.DeleteItemOutput) *dynamodb.DeleteItemOutput {
	return &dynamodb.DeleteItemOutput{
		Attributes:            itemOf(out.Attributes),
		ConsumedCapacity:      consumedOf(out.ConsumedCapacity),
		ItemCollectionMetrics: metricsOf(out.ItemCollectionMetrics),
	}
}

// queryOutput returns the output with the items that were visited.
func (m *toSDK) queryOutput(out *wire.QueryOutput) *dynamodb.QueryOutput {
	return &dynamodb.QueryOutput{
		ConsumedCapacity: consumedOf(out.ConsumedCapacity),
		Count:            narrow(out.Count),
		Items:            m.items(),
		LastEvaluatedKey: m.optional(out.LastEvaluatedKey),
		ScannedCount:     narrow(out.ScannedCount),
	}
}

// scanOutput returns the output with the items that were visited.
func (m *toSDK) scanOutput(out *wire.ScanOutput) *dynamodb.ScanOutput {
	return &dynamodb.ScanOutput{
		ConsumedCapacity: consumedOf(out.ConsumedCapacity),
		Count:            narrow(out.Count),
		Items:            m.items(),
		LastEvaluatedKey: m.optional(out.LastEvaluatedKey),
		ScannedCount:     narrow(out.ScannedCount),
	}
}

func batchGetItemOutput(out *wire.BatchGetItemOutput) *dynamodb.BatchGetItemOutput {
	return &dynamodb.BatchGetItemOutput{
		ConsumedCapacity: list(out.ConsumedCapacity, capacityOf),
		Responses:        each(out.Responses, itemsOf),
		UnprocessedKeys:  each(out.UnprocessedKeys, keysOf),
	}
}

func batchWriteItemOutput(out *wire.BatchWriteItemOutput) *dynamodb.BatchWriteItemOutput {
	return &dynamodb.BatchWriteItemOutput{
		ConsumedCapacity:      list(out.ConsumedCapacity, capacityOf),
		ItemCollectionMetrics: each(out.ItemCollectionMetrics, metricsListOf),
		UnprocessedItems: each(out.UnprocessedItems, func(writes []wire.WriteRequest) []types.WriteRequest {
			return list(writes, writeOf)
		}),
	}
}

func keysOf(k wire.KeysAndAttributes) types.KeysAndAttributes {
	return types.KeysAndAttributes{
		ConsistentRead:           copied(k.ConsistentRead),
		ExpressionAttributeNames: maps.Clone(k.ExpressionAttributeNames),
		Keys:                     itemsOf(k.Keys),
		ProjectionExpression:     copied(k.ProjectionExpression),
	}
}

func writeOf(w wire.WriteRequest) (out types.WriteRequest) {
	if w.DeleteRequest != nil {
		out.DeleteRequest = &types.DeleteRequest{Key: itemOf(w.DeleteRequest.Key)}
	}
	if w.PutRequest != nil {
		out.PutRequest = &types.PutRequest{Item: itemOf(w.PutRequest.Item)}
	}
	return out
}

func consumedOf(c *wire.ConsumedCapacity) *types.ConsumedCapacity {
	if c == nil {
		return nil
	}
	out := capacityOf(*c)
	return &out
}

func capacityOf(c wire.ConsumedCapacity) types.ConsumedCapacity {
	out := types.ConsumedCapacity{
		CapacityUnits:          c.CapacityUnits,
		GlobalSecondaryIndexes: each(c.GlobalSecondaryIndexes, partOf),
		LocalSecondaryIndexes:  each(c.LocalSecondaryIndexes, partOf),
		ReadCapacityUnits:      c.ReadCapacityUnits,
		TableName:              c.TableName,
		WriteCapacityUnits:     c.WriteCapacityUnits,
	}
	if c.Table != nil {
		part := partOf(*c.Table)
		out.Table = &part
	}
	return out
}

func partOf(c wire.Capacity) types.Capacity {
	return types.Capacity{
		CapacityUnits: c.CapacityUnits, ReadCapacityUnits: c.ReadCapacityUnits,
		WriteCapacityUnits: c.WriteCapacityUnits,
	}
}

func metricsOf(m *wire.ItemCollectionMetrics) *types.ItemCollectionMetrics {
	if m == nil {
		return nil
	}
	return &types.ItemCollectionMetrics{
		ItemCollectionKey: itemOf(m.ItemCollectionKey), SizeEstimateRangeGB: m.SizeEstimateRangeGB,
	}
}

func metricsListOf(ms []wire.ItemCollectionMetrics) []types.ItemCollectionMetrics {
	return list(ms, func(m wire.ItemCollectionMetrics) types.ItemCollectionMetrics { return *metricsOf(&m) })
}

// copied returns a pointer to a copy: what p points to belongs to the caller's
// input.
func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

func narrow(n *int64) int32 {
	if n == nil {
		return 0
	}
	return int32(*n)
}
