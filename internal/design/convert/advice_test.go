package convert_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/advice"
)

func TestError(t *testing.T) {
	err := advice.New("give a table", "no table name for %s", "f.json")
	require.EqualError(t, err, "no table name for f.json")
	require.Equal(t, "give a table", advice.Of(fmt.Errorf("import: %w", err)))

	caused := advice.New("", "cannot read f.json: %w", io.ErrUnexpectedEOF)
	require.ErrorIs(t, caused, io.ErrUnexpectedEOF)
	require.Empty(t, advice.Of(caused))
	require.Equal(t, "give a table", advice.Of(advice.New("", "import: %w", err)), "the advice of the cause")
	require.Empty(t, advice.Of(nil))
	require.Empty(t, advice.Of(errors.New("x")))
}
