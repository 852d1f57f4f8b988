package explain_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/explain"
)

// TestIsSelect recognizes statements by their first word.
func TestIsSelect(t *testing.T) {
	for text, want := range map[string]bool{
		"SELECT * FROM T":             true,
		"select\t* from T":            true,
		" \r\nSelect\r\n* FROM T":     true,
		"SELECT":                      true,
		`SELECT"a" FROM T`:            true,
		"SELECT*FROM T":               true,
		"-- one\n  --two\r\nSELECT 1": true,
		"-- SELECT":                   false,
		"selection.json":              false,
		"select.json":                 false,
		"UPDATE T SET a = 1":          false,
		"":                            false,
	} {
		require.Equal(t, want, explain.IsSelect(text), "%q", text)
	}
}
