package main

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// The tables. Indexed has a global index that projects all attributes and a local index that projects some; both are
// sparse. Bank contains accounts, receipts and a counter to which all clients add.
const (
	plain   = "Plain"
	indexed = "Indexed"
	bank    = "Bank"
)

type item = map[string]types.AttributeValue

func str(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
func num(n int) types.AttributeValue    { return &types.AttributeValueMemberN{Value: strconv.Itoa(n)} }

func textOf(v types.AttributeValue) string {
	if s, ok := v.(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

func number(v types.AttributeValue) int {
	if n, ok := v.(*types.AttributeValueMemberN); ok {
		if i, err := strconv.Atoi(n.Value); err == nil {
			return i
		}
	}
	return -1
}

// A key is the key of an item of one client, in Plain or Indexed.
type key struct {
	table        string
	client, slot int
}

func (k key) attributes() item {
	return item{"PK": str(fmt.Sprintf("client %d part %d", k.client, k.slot%5)), "SK": str(fmt.Sprintf("slot %03d", k.slot))}
}

// values returns the attributes, besides the key, of the item that a client writes at k with the write of number n.
// The number determines their names and lengths. It therefore identifies the whole item, and a mixture of two writes
// matches no number.
func (k key) values(n int) item {
	it := item{"n": num(n), "body": str(strings.Repeat(fmt.Sprintf("%d/%d/%d ", k.client, k.slot, n), n*37%150))}
	if k.table == indexed {
		it["note"] = str(fmt.Sprintf("note %d", n))
		if n%5 != 0 {
			it["group"], it["when"] = str(fmt.Sprintf("group %d", n%7)), num(n)
		}
		if n%4 != 0 {
			it["rank"] = num(n % 50)
		}
	}
	return it
}

// item returns the whole item of number n. It returns nil for 0, which stands for no item.
func (k key) item(n int) item {
	if n == 0 {
		return nil
	}
	it := k.values(n)
	maps.Copy(it, k.attributes())
	return it
}

// update returns an update expression that changes any item to the item of number n.
func (k key) update(n int) (expr *string, names map[string]string, values item) {
	names, values = map[string]string{}, item{}
	var set, remove []string
	fresh := k.values(n)
	all := []string{"n", "body"}
	if k.table == indexed {
		all = append(all, "note", "group", "when", "rank")
	}
	for _, name := range all {
		names["#"+name] = name
		if v, ok := fresh[name]; ok {
			set = append(set, "#"+name+" = :"+name)
			values[":"+name] = v
		} else {
			remove = append(remove, "#"+name)
		}
	}
	text := "SET " + strings.Join(set, ", ")
	if remove != nil {
		text += " REMOVE " + strings.Join(remove, ", ")
	}
	return &text, names, values
}

func attribute(name string, typ types.ScalarAttributeType) types.AttributeDefinition {
	return types.AttributeDefinition{AttributeName: &name, AttributeType: typ}
}

// tables returns the requests that create the tables.
func tables() []*dynamodb.CreateTableInput {
	schema := func(hash, sort string) []types.KeySchemaElement {
		ks := []types.KeySchemaElement{{AttributeName: &hash, KeyType: types.KeyTypeHash}}
		if sort != "" {
			ks = append(ks, types.KeySchemaElement{AttributeName: &sort, KeyType: types.KeyTypeRange})
		}
		return ks
	}
	stream := &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages}
	s, n := types.ScalarAttributeTypeS, types.ScalarAttributeTypeN
	return []*dynamodb.CreateTableInput{
		{
			TableName: aws.String(plain), BillingMode: types.BillingModePayPerRequest,
			AttributeDefinitions: []types.AttributeDefinition{attribute("PK", s), attribute("SK", s)}, KeySchema: schema("PK", "SK"),
		},
		{
			TableName: aws.String(indexed), StreamSpecification: stream, BillingMode: types.BillingModePayPerRequest,
			AttributeDefinitions: []types.AttributeDefinition{attribute("PK", s), attribute("SK", s), attribute("group", s), attribute("when", n), attribute("rank", n)},
			KeySchema:            schema("PK", "SK"),
			GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
				IndexName: aws.String("ByGroup"), KeySchema: schema("group", "when"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
			}},
			LocalSecondaryIndexes: []types.LocalSecondaryIndex{{
				IndexName: aws.String("ByRank"), KeySchema: schema("PK", "rank"),
				Projection: &types.Projection{ProjectionType: types.ProjectionTypeInclude, NonKeyAttributes: []string{"note"}},
			}},
		},
		{
			TableName: aws.String(bank), StreamSpecification: stream, BillingMode: types.BillingModePayPerRequest,
			AttributeDefinitions: []types.AttributeDefinition{attribute("PK", s)}, KeySchema: schema("PK", ""),
		},
	}
}
