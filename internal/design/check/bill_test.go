package check_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/bill"
	"github.com/sortkey/sortkey/internal/design/dataset"
)

const shop = `
name: shop
tables:
  Shop: {partition: PK, sort: SK, indexes: {
    ByState: {partition: state, sort: SK, projection: all}, ByTotal: {local: true, sort: total, projection: keys}}}
fields: {customer: {distinct: 10}}
entities:
  Order:
    fields: {note: {size: 1500}, state: {values: [NEW]}}
    attributes: {PK: "C#{customer}", SK: "O#{order}", total: "{total:int(5)}", note: "{note}", state: "{state}"}
    count: 1000
    rates: {reads: 10, writes: 5}
    samples: []
patterns:
  - {name: new, query: {entity: Order, index: ByState, where: {state: NEW}, limit: 1}, rate: 2}
`

// TestBill compares a bill with one computed by hand: an item of about 1.6 KB costs 2 write units and half a read
// unit.
func TestBill(t *testing.T) {
	p := bill.Known()
	b := bill.Of(checked(t, dataset.Options{}, shop), p)
	require.True(t, b.Declared())
	require.Len(t, b.Spaces, 3)
	table, index, local := b.Spaces[0], b.Spaces[1], b.Spaces[2]
	require.Equal(t, []string{"Shop", "Shop by ByState", "Shop by ByTotal"}, []string{table.Name, index.Name, local.Name})

	const month = 730 * 3600 / 1e6
	require.InDelta(t, 5, table.Reads, 1e-6)
	require.InDelta(t, 10, table.Writes, 1e-6)
	require.InDelta(t, 1, index.Reads, 1e-6, "the pattern: two rows a second")
	require.InDelta(t, 10, index.Writes, 1e-6)
	require.InDelta(t, 0, local.Reads, 1e-6)
	require.InDelta(t, 5, local.Writes, 1e-6, "the index has keys only")
	require.InDelta(t, (5*0.125+10*0.625)*month, table.OnDemand, 1e-6)
	require.InDelta(t, 5*0.625*month, local.OnDemand, 1e-6)
	require.InDelta(t, (5*0.00013+15*0.00065)*730, table.Provisioned, 1e-6, "with its local index")
	require.Zero(t, local.Provisioned)
	require.InDelta(t, table.OnDemand+index.OnDemand+local.OnDemand, b.Total.OnDemand, 1e-6)
	require.InDelta(t, 1000*(1600+100), table.Bytes, 100_000)
	require.InDelta(t, table.Bytes/(1<<30)*0.25, table.Storage, 1e-9)
	require.InDelta(t, 5*730*3600, b.Records, 1e-3)
	require.Equal(t, "$43.03 a month on demand, or $12.43 provisioned, and < $0.01 for storage (prices of us-east-1 of 2024-11-01)", b.String())
	require.Equal(t, "$1,234", b.Money(1234.4))
	require.Equal(t, "$1,000", b.Money(999.999))
	require.Equal(t, "$999.99", b.Money(999.99))
	require.Equal(t, "$26000000000000000000000", b.Money(2.6e22), "beyond the whole numbers")
}

// TestBillScale holds that a dataset with a tenth of the declared items has the same bill as one with all.
func TestBillScale(t *testing.T) {
	whole := bill.Of(checked(t, dataset.Options{}, shop), bill.Known())
	part := bill.Of(checked(t, dataset.Options{MaxItems: 100}, shop), bill.Known())
	require.InEpsilon(t, whole.Total.OnDemand, part.Total.OnDemand, 0.01)
	require.InEpsilon(t, whole.Total.Storage, part.Total.Storage, 0.01)
}

func TestUndeclared(t *testing.T) {
	b := bill.Of(checked(t, dataset.Options{}, "name: none\ntables: {Things: {partition: PK}}\nitems: {Things: [{PK: a}]}"), bill.Known())
	require.False(t, b.Declared())
	require.Zero(t, b.Total.OnDemand)
	require.InDelta(t, (0.00013+0.00065)*730, b.Total.Provisioned, 1e-9, "the least that can be provisioned")
}

func TestRead(t *testing.T) {
	read := func(text string) (*bill.Prices, error) {
		path := filepath.Join(t.TempDir(), "prices.yaml")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
		return bill.Read(path)
	}
	p, err := read("currency: EUR\ndate: 2026-01-01\nsource: my contract\nregion: moon-1\nstorage: 1")
	require.NoError(t, err)
	require.Equal(t, "EUR", p.Currency)
	b := bill.Of(checked(t, dataset.Options{MaxItems: 10}, shop), p)
	require.Zero(t, b.Total.OnDemand, "a price that is not known is not charged")
	require.Positive(t, b.Total.Storage)

	for text, want := range map[string]string{
		"":              "no currency",
		"currency: USD": "no date",
		"region: a\ncurrency: USD\ndate: 2026-01-01\nsource: x\nstorage: -1":   "-1 is not a price",
		"region: a\ncurrency: USD\ndate: 2026-01-01\nsource: x\nstorage: .nan": "NaN is not a price",
		"date: 2026-01-01\nsource: x\ncurrency: USD":                           "no region",
		"stoarge: 1":                           "stoarge",
		"storage: [1]":                         "prices.yaml",
		strings.Repeat("# comment\n", 200_000): "is larger than",
	} {
		_, err := read(text)
		require.ErrorContains(t, err, want)
	}
	_, err = bill.Read(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
	require.Contains(t, advice.Of(err), "a file of prices has currency, date, source, region")
}
