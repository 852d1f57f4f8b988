package dataset_test

import (
	"context"
	"fmt"

	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/modelfile"
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
	m, err := modelfile.Parse("files.yaml", []byte(files))
	if err != nil {
		fmt.Println(err)
		return
	}
	w, err := dataset.Build(context.Background(), m, dataset.Options{})
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
