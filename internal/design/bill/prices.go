// Package bill computes what a design costs a month: the units of its declared rates and the storage of
// its declared items, on demand and provisioned side by side, at the prices of one region. Prices come
// from a file with a date and a source ([Known], [Read]); none is guessed.
package bill

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"

	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/files"
)

// Prices are prices by region.
type Prices struct {
	Currency string             `yaml:"currency"` // such as USD
	Date     string             `yaml:"date"`     // on which they were in force, as YYYY-MM-DD
	Source   string             `yaml:"source"`   // where they were seen
	Regions  map[string]*Region `yaml:"regions"`
}

// A Region is the prices of one region. Those that are 0 are not known.
type Region struct {
	OnDemand    Rates   `yaml:"on-demand"`   // of a million request units
	Provisioned Rates   `yaml:"provisioned"` // of a unit for an hour
	Storage     float64 `yaml:"storage"`     // of a GB (1,073,741,824 bytes) for a month
	Streams     float64 `yaml:"streams"`     // of a million calls of GetRecords
}

// Rates are prices of read and write units.
type Rates struct {
	Reads  float64 `yaml:"reads"`
	Writes float64 `yaml:"writes"`
}

// DefaultRegion is the region of the prices that come with the program.
const DefaultRegion = "us-east-1"

//go:embed prices.yaml
var file []byte

// Known returns the prices that come with the program.
var Known = sync.OnceValue(func() *Prices {
	p, err := parse("prices.yaml", file)
	if err != nil {
		panic(err)
	}
	return p
})

// maxFile is the size of a file of prices in bytes.
const maxFile = 1 << 20

// Read reads a file of prices in the form of prices.yaml in this package.
func Read(path string) (*Prices, error) {
	data, err := files.Read(path, maxFile)
	if err != nil {
		return nil, &advice.Error{Msg: err.Error(), Advice: form, Err: err}
	}
	return parse(path, data)
}

// form is the advice for a file that cannot be read.
const form = "a file of prices has currency, date, source, and " +
	"regions: {us-east-1: {on-demand: {reads: 0.125, writes: 0.625}, " +
	"provisioned: {reads: 0.00013, writes: 0.00065}, storage: 0.25, streams: 0.2}}"

func parse(path string, data []byte) (*Prices, error) {
	p := &Prices{}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(p); err != nil && !errors.Is(err, io.EOF) {
		return nil, &advice.Error{Msg: path + ": " + err.Error(), Advice: form, Err: err}
	}

	invalid := func(format string, args ...any) error {
		return &advice.Error{Msg: path + ": " + fmt.Sprintf(format, args...), Advice: form}
	}
	if len(p.Regions) == 0 {
		return nil, invalid("no regions")
	}

	for _, must := range []struct{ name, value string }{
		{"currency", p.Currency}, {"date", p.Date}, {"source", p.Source},
	} {
		if must.value == "" {
			return nil, invalid("no %s: a price without one cannot be checked", must.name)
		}
	}

	for _, name := range slices.Sorted(maps.Keys(p.Regions)) {
		r := p.Regions[name]
		if r == nil {
			return nil, invalid("region %s has no prices", name)
		}
		for _, price := range []float64{
			r.OnDemand.Reads, r.OnDemand.Writes, r.Provisioned.Reads, r.Provisioned.Writes, r.Storage, r.Streams,
		} {
			if !(price >= 0 && price < 1e9) {
				return nil, invalid("region %s: %v is not a price", name, price)
			}
		}
	}
	return p, nil
}

// region returns the prices of a region.
func (p *Prices) region(name string) (*Region, error) {
	if r := p.Regions[name]; r != nil {
		return r, nil
	}
	names := slices.Sorted(maps.Keys(p.Regions))
	return nil, &advice.Error{
		Msg: "no prices of region " + name,
		Advice: fmt.Sprintf("there are prices of %s; give a file with those of %s with --prices (its form is that of "+
			"internal/design/bill/prices.yaml)", strings.Join(names, ", "), name),
	}
}
