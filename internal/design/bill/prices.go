// Package bill computes what a design costs a month: the units of its declared rates and the storage of its declared
// items, at the prices of one region. It shows on-demand and provisioned capacity side by side. All prices come from
// a file that says when and where they were published: the built-in one ([Known]) or the user's own ([Read]).
package bill

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"sync"

	"go.yaml.in/yaml/v4"

	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/files"
	"github.com/sortkey/sortkey/internal/text"
)

// Prices are the prices of one region. 0 means that a price is not known.
type Prices struct {
	Currency    string  `yaml:"currency"` // such as USD
	Date        string  `yaml:"date"`     // when they were in force, as YYYY-MM-DD
	Source      string  `yaml:"source"`   // where the prices are published
	Region      string  `yaml:"region"`
	OnDemand    Rates   `yaml:"on-demand"`   // per million request units
	Provisioned Rates   `yaml:"provisioned"` // per unit and hour
	Storage     float64 `yaml:"storage"`     // per GB (1,073,741,824 bytes) and month
	Streams     float64 `yaml:"streams"`     // per million GetRecords calls
}

// Rates are prices of read and write units.
type Rates struct {
	Reads  float64 `yaml:"reads"`
	Writes float64 `yaml:"writes"`
}

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

// maxFile limits the bytes of a file of prices.
const maxFile = 1 << 20

// Read reads a file of prices in the form of prices.yaml in this package.
func Read(path string) (*Prices, error) {
	data, err := files.Read(path, maxFile)
	if err != nil {
		return nil, &advice.Error{Msg: err.Error(), Advice: form, Err: err}
	}
	return parse(path, data)
}

// form is the advice for an invalid file of prices. It shows what such a file must have.
const form = "a file of prices has currency, date, source, region, on-demand: {reads: 0.125, writes: 0.625}, " +
	"provisioned: {reads: 0.00013, writes: 0.00065}, storage: 0.25 and streams: 0.2"

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
	for _, must := range []struct{ name, value string }{
		{"currency", p.Currency}, {"date", p.Date}, {"source", p.Source}, {"region", p.Region},
	} {
		if must.value == "" {
			return nil, invalid("no %s: a price without one cannot be checked", must.name)
		}
	}
	for _, price := range []float64{
		p.OnDemand.Reads, p.OnDemand.Writes, p.Provisioned.Reads, p.Provisioned.Writes, p.Storage, p.Streams,
	} {
		if !(price >= 0 && price < 1e9) {
			return nil, invalid("%v is not a price", price)
		}
	}
	return p, nil
}

// OnDemandFor returns the monthly on-demand cost of read and write units per second.
func (p *Prices) OnDemandFor(reads, writes float64) float64 {
	return p.requests(reads, writes) * hours * 3600
}

func (p *Prices) requests(reads, writes float64) float64 {
	return (reads*p.OnDemand.Reads + writes*p.OnDemand.Writes) / 1e6
}

// Money formats an amount in the currency of the prices.
func (p *Prices) Money(amount float64) string {
	sign := p.Currency + " "
	if p.Currency == "USD" {
		sign = "$"
	}
	switch {
	case amount == 0:
		return sign + "0"
	case amount < 0.01:
		return "< " + sign + "0.01"
	case amount < 999.995:
		return fmt.Sprintf("%s%.2f", sign, amount)
	}
	return sign + text.Figure(amount)
}
