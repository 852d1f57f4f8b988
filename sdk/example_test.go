package sdk_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/sdk"
)

// fileTree creates a table of paths with the given client.
func fileTree(client *dynamodb.Client) {
	ctx := context.Background()
	_, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName:   aws.String("Drive"),
		BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("drive"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("path"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("drive"), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String("path"), KeyType: types.KeyTypeRange},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, path := range []string{"root/photos/b.jpg", "root/notes.txt", "root/photos/a.jpg"} {
		_, err := client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: aws.String("Drive"),
			Item: map[string]types.AttributeValue{
				"drive": &types.AttributeValueMemberS{Value: "a91"}, "path": &types.AttributeValueMemberS{Value: path},
			},
		})
		if err != nil {
			log.Fatal(err)
		}
	}
}

func list(client *dynamodb.Client, folder string) {
	out, err := client.Query(context.Background(), &dynamodb.QueryInput{
		TableName:                aws.String("Drive"),
		KeyConditionExpression:   aws.String("drive = :d AND begins_with(#p, :folder)"),
		ExpressionAttributeNames: map[string]string{"#p": "path"},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":d": &types.AttributeValueMemberS{Value: "a91"}, ":folder": &types.AttributeValueMemberS{Value: folder},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, item := range out.Items {
		fmt.Println(item["path"].(*types.AttributeValueMemberS).Value)
	}
}

// The client is a real client of the SDK, so the code that uses it need not know of Sortkey.
func ExampleClient() {
	db, err := sortkey.Open(sortkey.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	client := sdk.Client(db)
	fileTree(client)
	list(client, "root/photos/")
	// Output:
	// root/photos/a.jpg
	// root/photos/b.jpg
}

// The same code, answered without JSON. Errors still have the SDK's types.
func ExampleDirect() {
	db, err := sortkey.Open(sortkey.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	client := sdk.Direct(db)
	fileTree(client)
	list(client, "root/n")

	_, err = client.DeleteItem(context.Background(), &dynamodb.DeleteItemInput{
		TableName: aws.String("Drive"),
		Key: map[string]types.AttributeValue{
			"drive": &types.AttributeValueMemberS{Value: "a91"},
			"path":  &types.AttributeValueMemberS{Value: "root/none"},
		},
		ConditionExpression: aws.String("attribute_exists(drive)"),
	})
	if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		fmt.Println(failed.ErrorMessage())
	}
	// Output:
	// root/notes.txt
	// The conditional request failed
}
