package sdk

import (
	"slices"
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
	s.older("", in.AttributesToGet != nil)
	s.get = wire.GetItemInput{
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
	s.older(in.ConditionalOperator, in.Expected != nil)
	return &wire.PutItemInput{
		ConditionExpression:                 s.string(in.ConditionExpression),
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
	s.older(in.ConditionalOperator, in.Expected != nil, in.AttributeUpdates != nil)
	return &wire.UpdateItemInput{
		ConditionExpression:                 s.string(in.ConditionExpression),
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
	s.older(in.ConditionalOperator, in.Expected != nil)
	return &wire.DeleteItemInput{
		ConditionExpression:                 s.string(in.ConditionExpression),
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
	s.older(in.ConditionalOperator, in.AttributesToGet != nil, in.KeyConditions != nil, in.QueryFilter != nil)
	return &wire.QueryInput{
		ConsistentRead:            in.ConsistentRead,
		ExclusiveStartKey:         s.item(in.ExclusiveStartKey),
		ExpressionAttributeNames:  s.names(in.ExpressionAttributeNames),
		ExpressionAttributeValues: s.item(in.ExpressionAttributeValues),
		FilterExpression:          s.string(in.FilterExpression),
		IndexName:                 s.string(in.IndexName),
		KeyConditionExpression:    s.string(in.KeyConditionExpression),
		Limit:                     wide(in.Limit),
		ProjectionExpression:      s.string(in.ProjectionExpression),
		ReturnConsumedCapacity:    enum(s, in.ReturnConsumedCapacity),
		ScanIndexForward:          in.ScanIndexForward,
		Select:                    enum(s, in.Select),
		TableName:                 s.string(in.TableName),
	}
}

func (s *fromSDK) scan(in *dynamodb.ScanInput) *wire.ScanInput {
	s.older(in.ConditionalOperator, in.AttributesToGet != nil, in.ScanFilter != nil)
	return &wire.ScanInput{
		ConsistentRead:            in.ConsistentRead,
		ExclusiveStartKey:         s.item(in.ExclusiveStartKey),
		ExpressionAttributeNames:  s.names(in.ExpressionAttributeNames),
		ExpressionAttributeValues: s.item(in.ExpressionAttributeValues),
		FilterExpression:          s.string(in.FilterExpression),
		IndexName:                 s.string(in.IndexName),
		Limit:                     wide(in.Limit),
		ProjectionExpression:      s.string(in.ProjectionExpression),
		ReturnConsumedCapacity:    enum(s, in.ReturnConsumedCapacity),
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
	s.older("", in.AttributesToGet != nil)
	return wire.KeysAndAttributes{
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

// older refuses the parameters from before expressions, which go over the wire.
func (s *fromSDK) older(operator types.ConditionalOperator, given ...bool) {
	s.refuse(operator != "" || slices.Contains(given, true))
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
