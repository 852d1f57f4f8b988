package ask

import (
	"encoding/json"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/sortkey/sortkey/internal/sdkvalue"
)

// Request returns the JSON of a request from [Query.Input].
func Request(in *dynamodb.QueryInput) (json.RawMessage, error) {
	m := map[string]any{}
	for name, text := range map[string]*string{
		"TableName": in.TableName, "IndexName": in.IndexName, "KeyConditionExpression": in.KeyConditionExpression,
		"FilterExpression": in.FilterExpression, "ProjectionExpression": in.ProjectionExpression,
	} {
		if text != nil {
			m[name] = *text
		}
	}
	if in.Limit != nil {
		m["Limit"] = *in.Limit
	}
	if in.ScanIndexForward != nil {
		m["ScanIndexForward"] = *in.ScanIndexForward
	}
	if in.ConsistentRead != nil {
		m["ConsistentRead"] = *in.ConsistentRead
	}
	if len(in.ExpressionAttributeNames) > 0 {
		m["ExpressionAttributeNames"] = in.ExpressionAttributeNames
	}
	if len(in.ExpressionAttributeValues) > 0 {
		values, err := sdkvalue.Item(in.ExpressionAttributeValues)
		if err != nil {
			return nil, err
		}
		m["ExpressionAttributeValues"] = json.RawMessage(values.AppendJSON(nil))
	}
	return json.Marshal(m)
}
