package console_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/sortkeytest"
)

// offers are the keys that the key box offers.
type offers struct {
	Keys []struct{ Text, Typed, Link string }
	All  string
	Note string
}

func (o *offers) texts() string {
	all := make([]string, len(o.Keys))
	for i, k := range o.Keys {
		all[i] = k.Text
	}
	return strings.Join(all, " ")
}

func (c *client) offers(pairs ...string) (o offers) {
	c.Helper()
	query := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		query.Set(pairs[i], pairs[i+1])
	}
	status, text := c.do("GET", "keys?"+query.Encode(), "")
	require.Equal(c, http.StatusOK, status, text)
	require.NoError(c, json.Unmarshal([]byte(text), &o))
	return o
}

// TestKeys checks that the key box offers keys that begin with the typed text.
func TestKeys(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.db.Table("Shop", "PK / SK", sortkeytest.Global("ByTotal", "state / total:N"))
	for i := range 3 {
		for k := range 30 {
			c.db.Put("Shop", map[string]any{
				"PK": fmt.Sprint("CUSTOMER#c", i), "SK": fmt.Sprintf("ORDER#%04d", 10*k), "state": "new", "total": 10 * k,
			})
		}
	}
	c.db.Put("Shop", map[string]any{"PK": "PRODUCT#p1", "SK": "INFO"})
	c.db.Table("Numbers", "id:N")
	c.db.Table("Bytes", "id:B / at:B")
	for i := range 20 {
		c.db.Put("Numbers", map[string]any{"id": i * 100})
		c.db.Put("Bytes", map[string]any{"id": []byte{0, byte(i)}, "at": []byte{byte(i), 7}})
	}
	c.db.Table("Empty", "id")

	for _, tt := range []struct{ table, index, partition, typed, want, note string }{
		{"Shop", "", "", "", "CUSTOMER#c0 CUSTOMER#c1 CUSTOMER#c2 PRODUCT#p1", "4 partitions"},
		{"Shop", "", "", "CUST", "CUSTOMER#c0 CUSTOMER#c1 CUSTOMER#c2", "3 partitions"},
		{"Shop", "", "", `"PROD`, "PRODUCT#p1", "1 partition"},
		{"Shop", "", "", "PRODUCTS", "", "no partition begins with this"},
		{"Shop", "", "CUSTOMER#c1", "ORDER#002", "ORDER#0020", "1 row"},
		{"Shop", "", "CUSTOMER#c1", "ORDER#0025", "", "no sort key of this partition begins with this"},
		{"Shop", "", "CUSTOMER#c1", "ORDER#02", "ORDER#0200 ORDER#0210 ORDER#0220 ORDER#0230 ORDER#0240 ORDER#0250 ORDER#0260 ORDER#0270 ORDER#0280 ORDER#0290", "10 rows"},
		{"Shop", "", "CUSTOMER#c1", "Z", "", "no sort key of this partition begins with this"},
		{"Shop", "", "PRODUCT#p1", "", "INFO", "1 row"},
		{"Shop", "", "nobody", "x", "", "no sort key of this partition begins with this"},
		{"Shop", "", "nobody", "", "", "there are no rows in this partition"},
		{"Shop", "ByTotal", "", "n", "new", "1 partition"},
		{"Shop", "ByTotal", "new", "285", "290 · CUSTOMER#c1, ORDER#0290 290 · CUSTOMER#c0, ORDER#0290 290 · CUSTOMER#c2, ORDER#0290", "3 rows"},
		{"Shop", "ByTotal", "new", "-", "", "the first 12 rows"},
		{"Numbers", "", "", "18", "1800", "1 partition"},
		{"Numbers", "", "", "1e2", "100", "1 partition"},
		{"Bytes", "", "", "0x000", "", "16 partitions"},
		{"Bytes", "", "0x0003", "0x03", "0x0307", "1 row"},
		{"Bytes", "", "0x0003", "0x02", "", "no sort key of this partition begins with this"},
		{"Bytes", "", "0x0003", "0x0", "0x0307", "1 row"},
		{"Empty", "", "", "a", "", "there are no partitions"},
	} {
		got := c.offers("name", tt.table, "index", tt.index, "partition", tt.partition, "prefix", tt.typed)
		if tt.want != "" || len(got.Keys) == 0 {
			require.Equal(t, tt.want, got.texts(), "%+v", tt)
		}
		require.Equal(t, tt.note, got.Note, "%+v", tt)
	}

	require.Equal(t, "collection?name=Shop&partition=CUSTOMER%23c1&sort=begins_with+%22ORDER%2302%22",
		c.offers("name", "Shop", "partition", "CUSTOMER#c1", "prefix", "ORDER#02").All)
	require.Contains(t, c.offers("name", "Numbers", "prefix", "18").Keys[0].Link, "item?", "it has no sort key")
	for _, path := range []string{"keys?name=Nope", "keys?name=Shop&index=Nope", "keys?name=Shop&partition=x&prefix=" + strings.Repeat("x", 5000)} {
		status, _ := c.do("GET", path, "")
		require.Less(t, status, http.StatusInternalServerError, path)
	}
}

// TestHostileOffers tests that the key box offers hostile keys as visible text, and that both an offer and its typed
// text lead to the item.
func TestHostileOffers(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.db.Table("Texts", "PK / SK")
	for _, v := range hostileKeys {
		c.db.PutJSON("Texts", fmt.Appendf(nil, `{"PK": {"S": %s}, "SK": {"S": %s}}`, quoted("S", v), quoted("S", v)))
	}
	for _, v := range hostileKeys {
		got := c.offers("name", "Texts", "prefix", v)
		require.NotEmpty(t, got.Keys, v)
		require.NotRegexp(t, `[\x00-\x1f\x{202e}]`, got.texts())
		for _, offer := range got.Keys {
			require.NotEmpty(t, c.offers("name", "Texts", "prefix", offer.Typed).Keys, offer.Typed)
			in := c.offers("name", "Texts", "partition", offer.Typed)
			require.Len(t, in.Keys, 1, offer.Typed)
			require.Contains(t, c.page(in.Keys[0].Link), `id="delete"`)
			c.page(offer.Link)
			require.Equal(t, in.Keys[0].Link, c.offers("name", "Texts", "partition", offer.Typed, "prefix", in.Keys[0].Typed).Keys[0].Link)
		}
	}
}
