// Package api implements the operations of the service, each in a file of its own.
//
// A [Service] takes the typed input of an operation, or with [Service.Serve] the body of a request, and returns the
// output or a [*wire.Error]. Each operation does its checks in the same order as the service, so the order of the
// lines in its function matters. Package wire has the shapes, their JSON and their constraints. Package table reads
// and writes the items.
//
//	tables, err := life.Open(ctx, memory.Open())
//	s := api.New(tables, api.Options{})
//	body, status := s.Serve(ctx, "DynamoDB_20120810.GetItem",
//		[]byte(`{"TableName":"Music","Key":{"Artist":{"S":"Nina"}}}`), nil)
//	fmt.Println(status, string(body)) // 200 {"Item":{"Artist":{"S":"Nina"},"Awards":{"N":"1"}}}
//
//	out, err := s.PutItem(ctx, &wire.PutItemInput{TableName: &name, Item: item}) // without JSON
package api
