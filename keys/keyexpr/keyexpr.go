// Package keyexpr makes key conditions of the keys and ranges of package keys,
// for the expression package of the AWS SDK.
//
//	customer := keys.MustParse("CUSTOMER#{customer}")
//	order := keys.MustParse("ORDER#{placed:date}#{id}")
//
//	partition, err := keyexpr.Partition("PK", customer, "7")
//	january, err := order.BeginsWith("2026-01")
//	expr, err := expression.NewBuilder().WithKeyCondition(keyexpr.And(partition, "SK", january)).Build()
//
// The attributes are of type S. Those of type N need no template: write
// expression.Key("year").Equal(expression.Value(2026)). The SDK's builder takes
// a dot in the name of a key attribute for a path, so such names do not work.
package keyexpr

import (
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/sortkey/sortkey/keys"
)

// Partition returns the condition that an attribute is the key of t for these
// values, one for each component in order, as [keys.Template.Format] takes
// them. Its errors are a [*keys.Error].
func Partition(attribute string, t *keys.Template, args ...any) (expression.KeyConditionBuilder, error) {
	key, err := t.Format(args...)
	if err != nil {
		return expression.KeyConditionBuilder{}, err
	}
	return expression.Key(attribute).Equal(expression.Value(key)), nil
}

// Sort returns the condition that an attribute lies in a range, and false when
// the range has no bounds and so needs none.
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

// And returns the condition of a partition together with that of a range of an
// attribute, or the former alone when the range has no bounds.
func And(partition expression.KeyConditionBuilder, attribute string, r keys.Range) expression.KeyConditionBuilder {
	sort, bounded := Sort(attribute, r)
	if !bounded {
		return partition
	}
	return partition.And(sort)
}
