package designtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/design/designtest"
	"github.com/sortkey/sortkey/sortkeytest"
)

// The tests in docs/testing.md and sortkeytest/recipes_test.go that load table definitions. sortkeytest.TestDocument
// compares the page with this file.

func TestDocumentLoad(t *testing.T) {
	t.Chdir("testdata/deploy")
	db := sortkeytest.New(t)
	designtest.Load(db, "../deploy/template.yaml", "Stage=test") // CloudFormation, also SAM
	designtest.Load(db, "../infra", "stage=test")                // a folder of Terraform files
	designtest.Load(db, "../api/serverless.yml", "stage=test")   // a service of the Serverless Framework
	require.Equal(t, "orders-test: customer / placed:N\norders-test-tf: customer / placed:N\nshop-test-carts: customer\n", db.Dump())
}

// An item expires.
func TestRecipeExpiry(t *testing.T) {
	db := sortkeytest.New(t)
	designtest.Load(db, "testdata/deploy/template.yaml", "Stage=test") // with a time to live
	db.Put("orders-test", map[string]any{"customer": "7", "placed": 1, "ends": db.Clock.Now().Add(time.Hour).Unix()})
	db.Clock.Advance(59 * time.Minute)
	require.Len(t, sortkeytest.Items[map[string]any](db, "orders-test"), 1)
	db.Clock.Advance(2 * time.Minute)
	require.Empty(t, sortkeytest.Items[map[string]any](db, "orders-test"))
}
