// Package keyexpr turns keys and ranges of package keys into key conditions for
// the expression package of the AWS SDK.
//
//	customer := keys.MustParse("CUSTOMER#{customer}")
//	order := keys.MustParse("ORDER#{placed:date}#{id}")
//
//	partition, err := keyexpr.Partition("PK", customer, "7")
//	january, err := order.BeginsWith("2026-01")
//	expr, err := expression.NewBuilder().WithKeyCondition(keyexpr.And(partition, "SK", january)).Build()
//
// The attributes have type S. Attributes of type N need no template: write
// expression.Key("year").Equal(expression.Value(2026)). Names of key attributes
// with a dot do not work, because the SDK's builder parses them as paths.
package keyexpr

import (
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/sortkey/sortkey/keys"
)

// Partition returns the condition that an attribute, the partition key, equals the key that t builds from args.
// Arguments are as for [keys.Template.Format]. The error is a [*keys.Error].
func Partition(attribute string, t *keys.Template, args ...any) (expression.KeyConditionBuilder, error) {
	key, err := t.Format(args...)
	if err != nil {
		return expression.KeyConditionBuilder{}, err
	}
	return expression.Key(attribute).Equal(expression.Value(key)), nil
}

// Sort returns the condition that an attribute, the sort key, is in a range. [And] calls it; use it to join
// conditions yourself. Sort returns false when the range has no bounds and so needs no condition.
func Sort(attribute string, r keys.Range) (expression.KeyConditionBuilder, bool) {
	key := expression.Key(attribute)
	switch op, operands := r.Condition(); op {
	case "=":
		return key.Equal(expression.Value(operands[0])), true
	case "begins_with":
		return key.BeginsWith(operands[0]), true
	case "BETWEEN":
		return key.Between(expression.Value(operands[0]), expression.Value(operands[1])), true
	case ">=":
		return key.GreaterThanEqual(expression.Value(operands[0])), true
	case "<=":
		return key.LessThanEqual(expression.Value(operands[0])), true
	}
	return expression.KeyConditionBuilder{}, false
}

// And returns the whole key condition of a query: the condition on the partition key, and the condition that an
// attribute, the sort key, is in a range. If the range has no bounds, it returns partition alone.
func And(partition expression.KeyConditionBuilder, attribute string, r keys.Range) expression.KeyConditionBuilder {
	sort, bounded := Sort(attribute, r)
	if !bounded {
		return partition
	}
	return partition.And(sort)
}
