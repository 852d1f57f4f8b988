package gen_test

import (
	"fmt"

	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/modelfile"
)

const drive = `
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

func Example_compilePattern() {
	m, err := modelfile.Parse("files.yaml", []byte(drive))
	if err != nil {
		fmt.Println(err)
		return
	}
	in, err := compile.Pattern(m.Patterns[0])
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v %s\n", in.Op(), compile.JSON(in))
	// Output:
	// Query {"TableName":"Drive","KeyConditionExpression":"PK = :PK AND SK BETWEEN :SK_from AND :SK_to","ExpressionAttributeValues":{":PK":{"S":"DRIVE#a"},":SK_from":{"S":"FILE#notes#0009\u0000"},":SK_to":{"S":"FILE#notes#\udbff\udfff"}}}
}
