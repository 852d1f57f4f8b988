package modelfile_test

import (
	"fmt"

	"github.com/sortkey/sortkey/internal/design/modelfile"
)

func ExampleParse_errors() {
	_, err := modelfile.Parse("files.yaml", []byte("name: files\ntables: {Drive: {partition: PK, srot: SK}}\n"))
	fmt.Println(err)
	// Output:
	// files.yaml:2:33: table Drive has no member srot
	//   hint: did you mean sort?
}
