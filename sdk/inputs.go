package sdk

import (
	"unicode/utf8"

	"github.com/sortkey/sortkey/internal/wire"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sortkey/sortkey/attr"
)

// The functions below convert inputs of the SDK to ours, member by member.
// TestPropertyWays and the scripts of TestBehaviour compare the answers to them with
// those to the requests that the SDK serialises.

func (s *fromSDK) getItem(in *dynamodb.GetItemInput) *wire.GetItemInput {
	s.get = wire.GetItemInput{
		AttributesToGet:          list(in.AttributesToGet, s.checked),
		ConsistentRead:           in.ConsistentRead,
		ExpressionAttributeNames: s.names(in.ExpressionAttributeNames),
		Key:                      s.brief(in.Key),
		ProjectionExpression:     s.string(in.ProjectionExpression),
		ReturnConsumedCapacity:   enum(s, in.ReturnConsumedCapacity),
		TableName:                s.string(in.TableName),
	}
	return &s.get
}

func (s *fromSDK) putItem(in *dynamodb.PutItemInput) *wire.PutItemInput {
	return &wire.PutItemInput{
		ConditionExpression:                 s.string(in.ConditionExpression),
		ConditionalOperator:                 enum(s, in.ConditionalOperator),
		Expected:                            entries(s, in.Expected, s.expected),
		ExpressionAttributeNames:            s.names(in.ExpressionAttributeNames),
		ExpressionAttributeValues:           s.item(in.ExpressionAttributeValues),
		Item:                                s.item(in.Item),
		ReturnConsumedCapacity:              enum(s, in.ReturnConsumedCapacity),
		ReturnItemCollectionMetrics:         enum(s, in.ReturnItemCollectionMetrics),
		ReturnValues:                        enum(s, in.ReturnValues),
		ReturnValuesOnConditionCheckFailure: enum(s, in.ReturnValuesOnConditionCheckFailure),
		TableName:                           s.string(in.TableName),
	}
}

func (s *fromSDK) updateItem(in *dynamodb.UpdateItemInput) *wire.UpdateItemInput {
	return &wire.UpdateItemInput{
		AttributeUpdates: entries(s, in.AttributeUpdates, func(
			in types.AttributeValueUpdate,
		) wire.AttributeValueUpdate {
			return wire.AttributeValueUpdate{Action: enum(s, in.Action), Value: s.optional(in.Value)}
		}),
		ConditionExpression:                 s.string(in.ConditionExpression),
		ConditionalOperator:                 enum(s, in.ConditionalOperator),
		Expected:                            entries(s, in.Expected, s.expected),
		ExpressionAttributeNames:            s.names(in.ExpressionAttributeNames),
		ExpressionAttributeValues:           s.item(in.ExpressionAttributeValues),
		Key:                                 s.item(in.Key),
		ReturnConsumedCapacity:              enum(s, in.ReturnConsumedCapacity),
		ReturnItemCollectionMetrics:         enum(s, in.ReturnItemCollectionMetrics),
		ReturnValues:                        enum(s, in.ReturnValues),
		ReturnValuesOnConditionCheckFailure: enum(s, in.ReturnValuesOnConditionCheckFailure),
		TableName:                           s.string(in.TableName),
		UpdateExpression:                    s.string(in.UpdateExpression),
	}
}

func (s *fromSDK) deleteItem(in *dynamodb.DeleteItemInput) *wire.DeleteItemInput {
	return &wire.DeleteItemInput{
		ConditionExpression:                 s.string(in.ConditionExpression),
		ConditionalOperator:                 enum(s, in.ConditionalOperator),
		Expected:                            entries(s, in.Expected, s.expected),
		ExpressionAttributeNames:            s.names(in.ExpressionAttributeNames),
		ExpressionAttributeValues:           s.item(in.ExpressionAttributeValues),
		Key:                                 s.item(in.Key),
		ReturnConsumedCapacity:              enum(s, in.ReturnConsumedCapacity),
		ReturnItemCollectionMetrics:         enum(s, in.ReturnItemCollectionMetrics),
		ReturnValues:                        enum(s, in.ReturnValues),
		ReturnValuesOnConditionCheckFailure: enum(s, in.ReturnValuesOnConditionCheckFailure),
		TableName:                           s.string(in.TableName),
	}
}

func (s *fromSDK) query(in *dynamodb.QueryInput) *wire.QueryInput {
	return &wire.QueryInput{
		AttributesToGet:           list(in.AttributesToGet, s.checked),
		ConditionalOperator:       enum(s, in.ConditionalOperator),
		ConsistentRead:            in.ConsistentRead,
		ExclusiveStartKey:         s.item(in.ExclusiveStartKey),
		ExpressionAttributeNames:  s.names(in.ExpressionAttributeNames),
		ExpressionAttributeValues: s.item(in.ExpressionAttributeValues),
		FilterExpression:          s.string(in.FilterExpression),
		IndexName:                 s.string(in.IndexName),
		KeyConditionExpression:    s.string(in.KeyConditionExpression),
		KeyConditions:             entries(s, in.KeyConditions, s.condition),
		Limit:                     wide(in.Limit),
		ProjectionExpression:      s.string(in.ProjectionExpression),
		QueryFilter:               entries(s, in.QueryFilter, s.condition),
		ReturnConsumedCapacity:    enum(s, in.ReturnConsumedCapacity),
		ScanIndexForward:          in.ScanIndexForward,
		Select:                    enum(s, in.Select),
		TableName:                 s.string(in.TableName),
	}
}

func (s *fromSDK) scan(in *dynamodb.ScanInput) *wire.ScanInput {
	return &wire.ScanInput{
		AttributesToGet:           list(in.AttributesToGet, s.checked),
		ConditionalOperator:       enum(s, in.ConditionalOperator),
		ConsistentRead:            in.ConsistentRead,
		ExclusiveStartKey:         s.item(in.ExclusiveStartKey),
		ExpressionAttributeNames:  s.names(in.ExpressionAttributeNames),
		ExpressionAttributeValues: s.item(in.ExpressionAttributeValues),
		FilterExpression:          s.string(in.FilterExpression),
		IndexName:                 s.string(in.IndexName),
		Limit:                     wide(in.Limit),
		ProjectionExpression:      s.string(in.ProjectionExpression),
		ReturnConsumedCapacity:    enum(s, in.ReturnConsumedCapacity),
		ScanFilter:                entries(s, in.ScanFilter, s.condition),
		Segment:                   wide(in.Segment),
		Select:                    enum(s, in.Select),
		TableName:                 s.string(in.TableName),
		TotalSegments:             wide(in.TotalSegments),
	}
}

func (s *fromSDK) batchGetItem(in *dynamodb.BatchGetItemInput) *wire.BatchGetItemInput {
	return &wire.BatchGetItemInput{
		RequestItems:           entries(s, in.RequestItems, s.keysAndAttributes),
		ReturnConsumedCapacity: enum(s, in.ReturnConsumedCapacity),
	}
}

func (s *fromSDK) keysAndAttributes(in types.KeysAndAttributes) wire.KeysAndAttributes {
	return wire.KeysAndAttributes{
		AttributesToGet:          list(in.AttributesToGet, s.checked),
		ConsistentRead:           in.ConsistentRead,
		ExpressionAttributeNames: s.names(in.ExpressionAttributeNames),
		Keys:                     list(in.Keys, s.key),
		ProjectionExpression:     s.string(in.ProjectionExpression),
	}
}

// key is an element of a list, where versions of the SDK differ in what they
// send for nil.
func (s *fromSDK) key(attributes map[string]types.AttributeValue) attr.Item {
	s.refuse(attributes == nil)
	return s.item(attributes)
}

func (s *fromSDK) batchWriteItem(in *dynamodb.BatchWriteItemInput) *wire.BatchWriteItemInput {
	return &wire.BatchWriteItemInput{
		RequestItems: entries(s, in.RequestItems, func(writes []types.WriteRequest) []wire.WriteRequest {
			s.refuse(writes == nil) // which versions of the SDK send differently
			return list(writes, s.writeRequest)
		}),
		ReturnConsumedCapacity:      enum(s, in.ReturnConsumedCapacity),
		ReturnItemCollectionMetrics: enum(s, in.ReturnItemCollectionMetrics),
	}
}

func (s *fromSDK) writeRequest(in types.WriteRequest) (out wire.WriteRequest) {
	if in.DeleteRequest != nil {
		out.DeleteRequest = &wire.DeleteRequest{Key: s.item(in.DeleteRequest.Key)}
	}
	if in.PutRequest != nil {
		out.PutRequest = &wire.PutRequest{Item: s.item(in.PutRequest.Item)}
	}
	return out
}

func (s *fromSDK) transactGetItems(in *dynamodb.TransactGetItemsInput) *wire.TransactGetItemsInput {
	return &wire.TransactGetItemsInput{
		ReturnConsumedCapacity: enum(s, in.ReturnConsumedCapacity),
		TransactItems: list(in.TransactItems, func(in types.TransactGetItem) (out wire.TransactGetItem) {
			if in := in.Get; in != nil {
				out.Get = &wire.Get{
					ExpressionAttributeNames: s.names(in.ExpressionAttributeNames),
					Key:                      s.item(in.Key),
					ProjectionExpression:     s.string(in.ProjectionExpression),
					TableName:                s.string(in.TableName),
				}
			}
			return out
		}),
	}
}

func (s *fromSDK) transactWriteItems(in *dynamodb.TransactWriteItemsInput) *wire.TransactWriteItemsInput {
	return &wire.TransactWriteItemsInput{
		ClientRequestToken:          s.string(in.ClientRequestToken),
		ReturnConsumedCapacity:      enum(s, in.ReturnConsumedCapacity),
		ReturnItemCollectionMetrics: enum(s, in.ReturnItemCollectionMetrics),
		TransactItems:               list(in.TransactItems, s.transactWriteItem),
	}
}

func (s *fromSDK) transactWriteItem(in types.TransactWriteItem) (out wire.TransactWriteItem) {
	if in := in.ConditionCheck; in != nil {
		out.ConditionCheck = &wire.ConditionCheck{
			ConditionExpression:                 s.string(in.ConditionExpression),
			ExpressionAttributeNames:            s.names(in.ExpressionAttributeNames),
			ExpressionAttributeValues:           s.item(in.ExpressionAttributeValues),
			Key:                                 s.item(in.Key),
			ReturnValuesOnConditionCheckFailure: enum(s, in.ReturnValuesOnConditionCheckFailure),
			TableName:                           s.string(in.TableName),
		}
	}

	if in := in.Delete; in != nil {
		out.Delete = &wire.Delete{
			ConditionExpression:                 s.string(in.ConditionExpression),
			ExpressionAttributeNames:            s.names(in.ExpressionAttributeNames),
			ExpressionAttributeValues:           s.item(in.ExpressionAttributeValues),
			Key:                                 s.item(in.Key),
			ReturnValuesOnConditionCheckFailure: enum(s, in.ReturnValuesOnConditionCheckFailure),
			TableName:                           s.string(in.TableName),
		}
	}

	if in := in.Put; in != nil {
		out.Put = &wire.Put{
			ConditionExpression:                 s.string(in.ConditionExpression),
			ExpressionAttributeNames:            s.names(in.ExpressionAttributeNames),
			ExpressionAttributeValues:           s.item(in.ExpressionAttributeValues),
			Item:                                s.item(in.Item),
			ReturnValuesOnConditionCheckFailure: enum(s, in.ReturnValuesOnConditionCheckFailure),
			TableName:                           s.string(in.TableName),
		}
	}

	if in := in.Update; in != nil {
		out.Update = &wire.Update{
			ConditionExpression:                 s.string(in.ConditionExpression),
			ExpressionAttributeNames:            s.names(in.ExpressionAttributeNames),
			ExpressionAttributeValues:           s.item(in.ExpressionAttributeValues),
			Key:                                 s.item(in.Key),
			ReturnValuesOnConditionCheckFailure: enum(s, in.ReturnValuesOnConditionCheckFailure),
			TableName:                           s.string(in.TableName),
			UpdateExpression:                    s.string(in.UpdateExpression),
		}
	}

	return out
}

func (s *fromSDK) condition(in types.Condition) wire.Condition {
	return wire.Condition{
		AttributeValueList: s.values(in.AttributeValueList), ComparisonOperator: enum(s, in.ComparisonOperator),
	}
}

func (s *fromSDK) expected(in types.ExpectedAttributeValue) wire.ExpectedAttributeValue {
	return wire.ExpectedAttributeValue{
		AttributeValueList: s.values(in.AttributeValueList), ComparisonOperator: enum(s, in.ComparisonOperator),
		Exists: in.Exists, Value: s.optional(in.Value),
	}
}

// names returns the substitutes for names, which are only read.
func (s *fromSDK) names(names map[string]string) map[string]string {
	for name, substitute := range names {
		s.checked(name)
		s.checked(substitute)
	}
	return names
}

// checked refuses text that is not UTF-8: the SDK would send it changed.
func (s *fromSDK) checked(text string) string {
	s.refuse(!utf8.ValidString(text))
	s.size += len(text)
	return text
}

func (s *fromSDK) string(text *string) *string {
	if text != nil {
		s.checked(*text)
	}
	return text
}

// enum is a value of an enumeration, which the SDK leaves out when empty.
func enum[T ~string](s *fromSDK, v T) *string {
	if v == "" {
		return nil
	}
	text := s.checked(string(v))
	return &text
}

func wide(n *int32) *int64 {
	if n == nil {
		return nil
	}
	v := int64(*n)
	return &v
}

// entries is each for inputs.
func entries[A, B any](s *fromSDK, in map[string]A, convert func(A) B) map[string]B {
	for k := range in {
		s.checked(k)
	}
	return each(in, convert)
}

// each converts the values of a map, nil to nil.
func each[A, B any](in map[string]A, convert func(A) B) map[string]B {
	if in == nil {
		return nil
	}
	out := make(map[string]B, len(in))
	for k, v := range in {
		out[k] = convert(v)
	}
	return out
}

// list converts the elements of a list, nil to nil.
func list[A, B any](in []A, convert func(A) B) []B {
	if in == nil {
		return nil
	}
	out := make([]B, len(in))
	for i, v := range in {
		out[i] = convert(v)
	}
	return out
}
