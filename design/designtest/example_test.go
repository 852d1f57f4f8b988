package designtest_test

import (
	"fmt"
	"testing"

	"github.com/sortkey/sortkey/design/designtest"
	"github.com/sortkey/sortkey/sortkeytest"
)

// example replaces the *testing.T of a test.
type example struct{ testing.TB }

func (example) Helper()        {}
func (example) Name() string   { return "example" }
func (example) Cleanup(func()) {}

var t example

func ExampleLoad() {
	db := sortkeytest.New(t)
	designtest.Load(db, "testdata/deploy/template.yaml", "Stage=test") // of CloudFormation
	fmt.Print(db.Dump())
	// Output: orders-test: customer / placed:N
}
