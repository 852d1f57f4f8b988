package ask

import (
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/sortkey/sortkey/internal/sdkvalue"
	"github.com/sortkey/sortkey/internal/text"
)

// Question describes a Query in one line, with values in place of placeholders.
func Question(in *dynamodb.QueryInput) string {
	fill := func(e *string) string {
		return Fill(aws.ToString(e), in.ExpressionAttributeNames, in.ExpressionAttributeValues)
	}
	var b strings.Builder
	b.WriteString(source(in.TableName, in.IndexName))
	if in.KeyConditionExpression != nil {
		b.WriteString(" where " + fill(in.KeyConditionExpression))
	}
	if in.FilterExpression != nil {
		b.WriteString(", keeping " + fill(in.FilterExpression))
	}
	if in.ProjectionExpression != nil {
		b.WriteString(", only " + fill(in.ProjectionExpression))
	}
	if in.ScanIndexForward != nil && !*in.ScanIndexForward {
		b.WriteString(", backwards")
	}
	if in.Limit != nil {
		fmt.Fprintf(&b, ", reading at most %d", *in.Limit)
	}
	if aws.ToBool(in.ConsistentRead) {
		b.WriteString(", consistently")
	}
	return b.String()
}

// ScanQuestion describes a Scan in one line.
func ScanQuestion(in *dynamodb.ScanInput) string {
	var b strings.Builder
	b.WriteString("everything in " + source(in.TableName, in.IndexName))
	if in.FilterExpression != nil {
		b.WriteString(", keeping " + Fill(*in.FilterExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues))
	}
	if in.Limit != nil {
		fmt.Fprintf(&b, ", reading at most %d", *in.Limit)
	}
	return b.String()
}

// GetQuestion describes a GetItem in one line, with the key attributes in the
// order of names.
func GetQuestion(in *dynamodb.GetItemInput, names []string) string {
	parts := make([]string, 0, len(in.Key))
	for _, name := range names {
		if v, err := sdkvalue.Value(in.Key[name]); err == nil {
			parts = append(parts, text.Name(name)+" = "+text.Literal(v))
		}
	}
	return "the item of " + source(in.TableName, nil) + " with " + strings.Join(parts, " and ")
}

func source(table, index *string) string {
	if index != nil {
		return aws.ToString(table) + " by index " + *index
	}
	return aws.ToString(table)
}
