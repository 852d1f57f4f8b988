package facetest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/facetest"
)

func TestMemory(t *testing.T) {
	facetest.Run(t, "../../sdk/testdata/behaviour", func(t *testing.T, opts sortkey.Options) *sortkey.DB {
		db, err := sortkey.Open(opts)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, db.Close()) })
		return db
	})
}
