package wire

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sortkey/sortkey/attr"
)

// Key returns the value of the SDK of a key value: an S, N or B.
func Key(v attr.Value) types.AttributeValue {
	switch v.Kind() {
	case attr.Number:
		return &types.AttributeValueMemberN{Value: string(v.AppendNumber(nil))}
	case attr.Binary:
		return &types.AttributeValueMemberB{Value: v.Raw()}
	}
	return &types.AttributeValueMemberS{Value: string(v.Raw())}
}
