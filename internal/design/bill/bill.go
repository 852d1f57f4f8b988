package bill

import (
	"fmt"
	"math"

	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/model"
)

// hours is the number of hours in a billed month: a twelfth of a year.
const hours = 730

// A Bill is the monthly cost of a design.
type Bill struct {
	Region   string `json:"region"`
	Currency string `json:"currency"`
	Date     string `json:"date"` // of the prices
	Source   string `json:"source"`
	// Spaces has a line for each table and index. A table comes before its indexes.
	Spaces []Space `json:"spaces"`
	// Total is the sum of all spaces.
	Total Cost `json:"total"`
	// Asked says how the bill distributes the rate of a pattern over the values that the pattern can be given:
	// equally, in proportion to their rows, or as each pattern declares. It is "" if no pattern has both a rate and
	// several values.
	Asked string `json:"asked,omitempty"`
	// Records is the number of stream records a month if all tables had streams: one for each write and each item
	// that expires. Streams is the price of a million GetRecords calls. A call returns up to 1,000 records. Calls by
	// Lambda triggers are free.
	Records float64 `json:"streamRecords"`
	Streams float64 `json:"streamCalls,omitempty"`

	prices *Prices
}

// A Space is a line of a bill: a table or an index.
type Space struct {
	Table *model.Table `json:"-"`
	Index *model.Index `json:"-"` // nil for the table itself
	Name  string       `json:"name"`
	// Reads and Writes are units per second at the declared rates. Bytes is the storage at the declared scale,
	// including 100 bytes of overhead for each item.
	Reads  float64 `json:"reads"`
	Writes float64 `json:"writes"`
	Bytes  float64 `json:"bytes"`
	Cost
}

// OfTable reports whether the space shares the capacity of its table. A local index does.
func (s Space) OfTable() bool { return s.Index != nil && s.Index.Local }

// A Cost is a monthly cost, in the currency of the bill.
type Cost struct {
	// OnDemand is the price of the request units that the rates consume. Provisioned is the price of a constant
	// capacity that serves the rates, in whole units per second. Neither includes Storage.
	OnDemand    float64 `json:"onDemand"`
	Provisioned float64 `json:"provisioned"`
	Storage     float64 `json:"storage"`
}

// overhead is the number of bytes that DynamoDB adds to the size of each item in a table or an index when it bills
// storage. Source: DG/CapacityUnitCalculations.html and DG/GSI.html, storage considerations.
const overhead = 100

// Of returns the bill for the result of a check. If the model declares no rate for a pattern or an entity, Of counts
// no requests for it.
func Of(r *check.Result, p *Prices) *Bill {
	b := &Bill{
		Region: p.Region, Currency: p.Currency, Date: p.Date, Source: p.Source,
		Spaces: []Space{}, Streams: p.Streams, prices: p,
	}
	// table is the place in b.Spaces of the last table; own has its units and those of its local indexes
	table, own := 0, check.TableStats{}
	for _, t := range r.Tables {
		s := Space{
			Table: t.Table, Index: t.Index, Name: t.Name(), Reads: t.Reads, Writes: t.Writes,
			Bytes: t.DeclaredBytes + overhead*t.DeclaredItems,
		}
		s.OnDemand = b.OnDemand(t.Reads, t.Writes)
		s.Storage = s.Bytes / (1 << 30) * p.Storage
		switch {
		case t.Index == nil:
			table, own = len(b.Spaces), t
			b.Records += t.Rows * hours * 3600
			s.Provisioned = capacity(t.Reads, t.Writes, p)
		case t.Index.Local:
			own.Reads, own.Writes = own.Reads+t.Reads, own.Writes+t.Writes
			b.Spaces[table].Provisioned = capacity(own.Reads, own.Writes, p)
		default:
			s.Provisioned = capacity(t.Reads, t.Writes, p)
		}
		b.Spaces = append(b.Spaces, s)
	}

	for _, s := range b.Spaces {
		b.Total.OnDemand += s.OnDemand
		b.Total.Provisioned += s.Provisioned
		b.Total.Storage += s.Storage
	}
	b.asked(r)
	return b
}

// asked sets b.Asked from the patterns that have a rate and several values.
func (b *Bill) asked(r *check.Result) {
	equally, byRows := false, false
	for i := range r.Patterns {
		p := &r.Patterns[i]
		if p.Pattern.Rate == 0 || p.Spread == nil {
			continue
		}
		byRows = byRows || p.Pattern.Asked != model.AskedEqually && p.Pattern.Asked != ""
		equally = equally || p.Pattern.Asked != model.AskedByRows
	}
	switch {
	case equally && byRows:
		b.Asked = "with values asked for as each pattern says"
	case byRows:
		b.Asked = "with each value asked for as often as it has rows"
	case equally:
		b.Asked = "with each value asked for equally often"
	}
}

// OnDemand returns the monthly on-demand cost of read and write units per second.
func (b *Bill) OnDemand(reads, writes float64) float64 { return b.prices.OnDemandFor(reads, writes) }

// Requests returns the on-demand cost of a number of read and write units.
func (b *Bill) Requests(reads, writes float64) float64 { return b.prices.requests(reads, writes) }

// capacity returns the monthly cost of provisioned units, rounded up to whole units. DynamoDB provisions at least one
// read unit and one write unit for a table or a global index.
func capacity(reads, writes float64, prices *Prices) float64 {
	units := func(f float64) float64 { return math.Max(math.Ceil(f-1e-9), 1) }
	return (units(reads)*prices.Provisioned.Reads + units(writes)*prices.Provisioned.Writes) * hours
}

// Declared reports whether the design declares rates. If it does not, the bill has only the cost of storage.
func (b *Bill) Declared() bool {
	for _, s := range b.Spaces {
		if s.Reads > 0 || s.Writes > 0 {
			return true
		}
	}
	return false
}

// Money formats an amount in the currency of the bill.
func (b *Bill) Money(amount float64) string { return b.prices.Money(amount) }

// Caveat returns a sentence that says that the built-in prices may be old. It returns "" if the caller gave the
// prices.
func (b *Bill) Caveat() string {
	if b.prices != Known() {
		return ""
	}
	return "These prices come with sortkey and are of " + b.Date + ": they may be old. Give others with --prices FILE."
}

// String returns the bill in one line.
func (b *Bill) String() string {
	asked := ""
	if b.Asked != "" {
		asked = ", " + b.Asked
	}
	return fmt.Sprintf(
		"%s a month on demand, or %s provisioned%s, and %s for storage (prices of %s of %s)", b.Money(b.Total.OnDemand),
		b.Money(b.Total.Provisioned), asked, b.Money(b.Total.Storage), b.Region, b.Date,
	)
}
