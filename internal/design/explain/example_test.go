package explain_test

import (
	"context"
	"fmt"
	"os"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/engine"
	"github.com/sortkey/sortkey/internal/wire"
)

func ExampleRun() {
	ctx := context.Background()
	db, err := sortkey.Open(sortkey.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	for _, request := range [][2]string{
		{"CreateTable", `{"TableName":"Drive","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"PK","AttributeType":"S"},{"AttributeName":"SK","AttributeType":"S"}],"KeySchema":[{"AttributeName":"PK","KeyType":"HASH"},{"AttributeName":"SK","KeyType":"RANGE"}]}`},
		{"PutItem", `{"TableName":"Drive","Item":{"PK":{"S":"me"},"SK":{"S":"photos-old/1.jpg"}}}`},
		{"PutItem", `{"TableName":"Drive","Item":{"PK":{"S":"me"},"SK":{"S":"photos/1.jpg"}}}`},
		{"PutItem", `{"TableName":"Drive","Item":{"PK":{"S":"me"},"SK":{"S":"photos/2.jpg"}}}`},
	} {
		if body, status := engine.Of(db).Service.Serve(ctx, "DynamoDB_20120810."+request[0], []byte(request[1]), nil); status != 200 {
			fmt.Printf("%s\n", body)
			return
		}
	}
	var values attr.Builder
	values.Add(":me", attr.NewString("me"))
	values.Add(":folder", attr.NewString("photos/"))
	q := explain.Question{Input: &wire.QueryInput{
		TableName:                 new("Drive"),
		KeyConditionExpression:    new("PK = :me AND begins_with(SK, :folder)"),
		ExpressionAttributeValues: values.Item(),
	}}
	report, err := explain.Run(ctx, explain.InProcess(db), q, explain.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := report.WriteText(os.Stdout, explain.TextOptions{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// Query of Drive
	// key        partition PK (S); sort SK (S)
	// condition  PK = "me" AND begins_with(SK, "photos/")
	//
	//        "photos-old/1.jpg"  outside
	//     ┌  from "photos/"
	//     │  "photos/1.jpg"      18 bytes
	//     │  "photos/2.jpg"      18 bytes
	//     └  before "photos0"
	//
	// rows       2 rows examined, 2 returned, in 1 page
	// size       36 bytes
	// read units 0.5 eventually consistent, 1 strongly consistent
	// ends       at the end of the range
}
