package design_test

import (
	"context"
	"fmt"

	"github.com/sortkey/sortkey/internal/design"
)

const files = `
name: files
tables: {Drive: {partition: PK, sort: SK}}
entities:
  Version:
    attributes:
      PK: "DRIVE#{drive}"
      SK: "FILE#{file}#{version:int(4)}"
    samples:
      - {drive: a, file: notes, version: 9}
      - {drive: a, file: notes, version: 10}
patterns:
  - name: versions since 9
    query: {entity: Version, where: {drive: a, file: notes, version: {">": 9}}}
`

func ExampleBuild() {
	m, err := design.Parse("files.yaml", []byte(files))
	if err != nil {
		fmt.Println(err)
		return
	}
	w, err := design.Build(context.Background(), m, design.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	for _, it := range w.Items {
		fmt.Printf("%s: %s\n", it.Entity.Name, it.Attributes.AppendJSON(nil))
	}
	// Output:
	// Version: {"PK":{"S":"DRIVE#a"},"SK":{"S":"FILE#notes#0009"}}
	// Version: {"PK":{"S":"DRIVE#a"},"SK":{"S":"FILE#notes#0010"}}
}

func ExampleCompile() {
	m, err := design.Parse("files.yaml", []byte(files))
	if err != nil {
		fmt.Println(err)
		return
	}
	in, err := design.Compile(m, m.Patterns[0])
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v %s\n", in.Op(), design.JSON(in))
	// Output:
	// Query {"TableName":"Drive","KeyConditionExpression":"PK = :PK AND SK BETWEEN :SK_from AND :SK_to","ExpressionAttributeValues":{":PK":{"S":"DRIVE#a"},":SK_from":{"S":"FILE#notes#0009\u0000"},":SK_to":{"S":"FILE#notes#\udbff\udfff"}}}
}

func ExampleParse_errors() {
	_, err := design.Parse("files.yaml", []byte("name: files\ntables: {Drive: {partition: PK, srot: SK}}\n"))
	fmt.Println(err)
	// Output:
	// files.yaml:2:33: table Drive has no member srot
	//   hint: did you mean sort?
}
