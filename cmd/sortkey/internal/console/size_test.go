package console_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/tests/proptest"
)

// TestLargeItems tests that the page of an item as large as an item can be shows its JSON, without indentation if that
// would take more than 1 MB.
func TestLargeItems(t *testing.T) {
	proptest.NeedLong(t)
	t.Parallel()
	c := start(t)
	c.db.Table("Things", "PK")
	for name, value := range map[string]string{
		"flat": `{"L": [` + strings.Repeat(`{"NULL": true},`, 190_000) + `{"NULL": true}]}`,
		"deep": strings.Repeat(`{"L": [`, 29) + strings.Repeat(`{"NULL": true},`, 6000) + `{"NULL": true}` +
			strings.Repeat(`]}`, 29),
		"text": `{"S": "` + strings.Repeat(`\"`, 400_000) + `"}`,
	} {
		c.db.PutJSON("Things", fmt.Appendf(nil, `{"PK": {"S": "%s"}, "value": %s}`, name, value))
		key := base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"PK": {"S": "%s"}}`, name))
		page := c.page("item?name=Things&key=" + key)
		require.Less(t, len(page), 8<<20, name)
		require.Contains(t, page, "<textarea", name)
	}
}
