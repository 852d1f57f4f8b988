package check_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/load"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/engine"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/internal/wire"
)

// TestTable compares all figures of random models with naive counts over their items. It also sends each write to the
// service, and compares the units.
func TestTable(t *testing.T) {
	proptest.Check(t, 60, holdTable)
	t.Logf("compared %d figures", figures.Load())
}

// A query is a read of a random model, with what a naive count needs to predict its figures.
type query struct {
	yaml, entity, index string
	hash                []string // attributes of the partition key
	sort                string   // attribute of the sort key
	low, high           string   // the range in the sort key
	months              int      // length of a window that may begin at any time
	only                string   // the filter keeps only items with this state
	given               string   // the state that the items have
	parents             bool     // requests ask for each parent, even without rows
	shards              bool     // a value is a kind, whose rows are in several shards
	then                string   // follow-up reads: the parent P of each row, or its item C
	days                bool     // a value is a day, whose rows are in several shards
	// length of the windows in days or months; 0 means none
	length, begin int // begin is that of its own
	byMonths      bool

	rate, limit, skew float64
	asked             string
	strong, backwards bool
}

const randomModel = `name: m
tables:
  Tab:
    partition: PK
    sort: SK
    indexes:
      ByState: {partition: GPK, sort: GSK%s}
      Hot: {partition: hot, projection: keys}
      Both: {partition: [state, own], sort: SK}
      Few: {partition: few, sort: GSK, projection: [body]}
      Loc: {local: true, sort: hot, projection: keys}
fields: {p: {}}
entities:
  P:
    attributes: {PK: "P#{p}", SK: META, n: {template: "{n:number}", type: N}}
    fields: {n: {type: number, from: 0, to: 100}}
    count: %d
    samples: [{p: x, n: 1}]
  C:
    of: P
    per: %s
    fields:
      state: {values: [%s]}
      at: {type: time, from: 2025-01-01, to: 2025-12-31}
      body: {size: %d..%d}
      hot: {values: ["y", "n", "n"]}
    attributes:
      PK: "P#{p}"
      SK: "C#{at:time}#{c}"
      GPK: "S#{state}"
      GSK: "{at:time}"
      body: "{body}"
      own: "{p}"
      state: "{state}"
      hot: {template: HOT, when: {hot: ["y"]}}
      few: {template: "F#{p}", when: {state: [NEW]}}
    samples: [{p: x, at: 2025-03-05T10:00:00Z, c: c1, state: NEW, body: z, hot: "y"}]
  E:
    fields: {kind: {distinct: 5}, shard: {values: ["0", "1", "2"]}, note: {size: %d}}
    attributes: {PK: "E#{kind}#{shard}", SK: "{e}", note: "{note}"}
    count: %d
    rates: {reads: %d, writes: %d}
    samples: [{kind: k, shard: "1", e: e1, note: z}]
  M:
    fields: {group: {distinct: 3}, when: {type: time, from: 2025-01-01, to: 2025-12-31}, text: {size: %d}}
    attributes: {PK: "M#{group}#{when:month}", SK: "{when:time}#{m}", text: "{text}", by: "{p}"}
    count: %d
    samples: [{group: g, when: 2025-06-15T10:00:00Z, m: m1, text: z, p: x}]
  D:
    fields: {group: {distinct: 3}, shard: {values: ["0", "1", "2"]}, when: {type: time, from: 2025-01-01, to: 2025-12-31}}
    attributes: {PK: "D#{group}#{shard}", SK: "{when:time}#{d}"}
    count: %d
    samples: [{group: g, shard: "1", when: 2025-06-15T10:00:00Z, d: d1}]
  T:
    fields: {shard: {values: ["0", "1", "2"]}, when: {type: time, from: 2025-03-01, to: 2025-03-09}, text: {size: %d}}
    attributes: {PK: "T#{when:date}#{shard}", SK: "{t}", text: "{text}"}
    count: %d
    samples: [{shard: "1", when: 2025-03-10T10:00:00Z, t: t1, text: z}]
patterns:
`

var queries = []query{
	{yaml: "query: {entity: C, where: {p: x}%s}", entity: "C", low: "C#", high: "C$", parents: true},
	{yaml: `query: {entity: C, where: {p: x, at: {">=": 2025-06-01}}%s}`, entity: "C", low: "C#2025-06-01", high: "C$", parents: true},
	{
		yaml:   "query: {entity: C, where: {p: x, at: {between: [2025-03-01, 2025-03-31]}}%s}",
		entity: "C", low: "C#", high: "C$", months: 1, parents: true,
	},
	{yaml: "query: {entity: C, index: ByState, where: {state: NEW}%s}", entity: "C", index: "ByState", hash: []string{"GPK"}, sort: "GSK", high: "~", given: "NEW"},
	{yaml: "query: {entity: C, index: Both, where: {state: NEW, p: x}%s}", entity: "C", index: "Both", hash: []string{"state", "own"}, low: "C#", high: "C$", given: "NEW", parents: true},
	{yaml: "query: {entity: C, index: Few, where: {p: x}%s}", entity: "C", index: "Few", hash: []string{"few"}, sort: "GSK", high: "~", parents: true},
	{yaml: `query: {entity: C, where: {p: x}, filter: "state = 'DONE'"%s}`, entity: "C", low: "C#", high: "C$", only: "DONE", parents: true},
	{yaml: "query: {entity: E, where: {kind: k, shard: {in: all}}%s}", entity: "E", high: "~", shards: true},
	{yaml: "query: {entity: C, where: {p: x}%s}, then: P", entity: "C", low: "C#", high: "C$", parents: true, then: "P"},
	{
		yaml:   "query: {entity: C, where: {p: x, at: {between: [2025-03-01, 2025-03-31]}}%s}, then: P",
		entity: "C", low: "C#", high: "C$", months: 1, parents: true, then: "P",
	},
	{yaml: "query: {entity: C, index: Loc, where: {p: x}%s}, then: C", entity: "C", index: "Loc", sort: "hot", high: "~", parents: true, then: "C"},
	{yaml: "query: {entity: C, index: Loc, where: {p: x}%s}", entity: "C", index: "Loc", sort: "hot", high: "~", parents: true},
	{
		yaml:   "query: {entity: M, where: {group: g, when: {between: [2025-06, 2025-06]}}%s}",
		entity: "M", length: 1, begin: 2025*12 + 5, byMonths: true,
	},
	{
		yaml:   "query: {entity: M, where: {group: g, when: {between: [2025-05, 2025-07]}}%s}",
		entity: "M", length: 3, begin: 2025*12 + 4, byMonths: true,
	},
	{
		yaml:   "query: {entity: M, where: {group: g, when: {between: [2025-03-10, 2025-03-19]}}%s}",
		entity: "M", length: 10, begin: dayOf("C#2025-03-10"),
	},
	{
		yaml:   "query: {entity: M, where: {group: g, when: {between: [2025-05-28, 2025-06-03]}}%s}, then: P",
		entity: "M", length: 7, begin: dayOf("C#2025-05-28"), then: "P",
	},
	{
		yaml:   "query: {entity: M, where: {group: g, when: {between: [2025-01-20, 2025-02-23]}}%s}",
		entity: "M", length: 35, begin: dayOf("C#2025-01-20"),
	},
	{
		yaml:   "query: {entity: D, where: {group: g, shard: {in: all}, when: {between: [2025-03-10, 2025-03-19]}}%s}",
		entity: "D", length: 10, begin: dayOf("C#2025-03-10"), shards: true,
	},
	{
		yaml:   "query: {entity: T, where: {when: 2025-03-10, shard: {in: all}}%s}",
		entity: "T", days: true,
	},
	{yaml: "get: {entity: P, where: {p: x}%s}", entity: "P", low: "META", high: "METB"},
}

var writes = []string{
	"put: C", "update: {entity: C, set: {state: DONE}}", "update: {entity: P, set: {n: 7}}", "delete: C", "put: E",
	"update: {entity: C, set: {body: tiny}}", "transact: [{put: C}, {update: {entity: P, set: {n: 500}}}]",
	"transact: [{update: {entity: C, set: {hot: n}}}, {check: {entity: P, if: attribute_exists(PK)}}]",
}

// randomly returns q with random rates, limits and order.
func (q query) randomly(t *proptest.T) query {
	q.rate, q.strong = float64(t.Between(1, 50)), q.index == "" && t.Bool()
	if q.hash == nil {
		q.hash = []string{"PK"}
	}
	if q.sort == "" {
		q.sort = "SK"
	}
	more := ""
	if q.only == "" && q.months == 0 && q.length == 0 && !q.days && q.index != "Loc" && !q.shards && !strings.HasPrefix(q.yaml, "get") && t.Bool() {
		q.limit = float64(t.Between(1, 6))
		more += fmt.Sprintf(", limit: %v", q.limit)
		if q.backwards = t.Bool(); q.backwards {
			more += ", order: desc"
		}
	}
	if q.strong {
		more += ", consistent: true"
	}
	if q.asked = "equally"; !q.days {
		q.asked, q.skew = randomAsked(t, "equally", "by_rows", "zipf")
	}
	q.yaml = fmt.Sprintf("rate: %v, asked: %s, %s", q.rate, askedText(q.asked, q.skew), fmt.Sprintf(q.yaml, more))
	return q
}

func randomAsked(t *proptest.T, ways ...string) (asked string, skew float64) {
	return proptest.Pick(t, ways...), proptest.Pick(t, 0.5, 1, 1.2, 3)
}

func askedText(asked string, skew float64) string {
	if asked == "zipf" {
		return fmt.Sprintf("zipf(%v)", skew)
	}
	return asked
}

// figures is the number of figures that TestTable has compared.
var figures atomic.Int64

func near(t *proptest.T, want, got float64, of, source string) {
	figures.Add(1)
	require.InDelta(t, want, got, 1e-6+math.Abs(want)*1e-9, "%s\n%s", of, source)
}

func holdTable(t *proptest.T) {
	per := proptest.Pick(t, "zipf(1.1)", "{min: 0, p50: 4, max: 30}", "1..9")
	states := proptest.Pick(t, "NEW, DONE", "NEW, DONE, DONE, DONE", "NEW, OLD, DONE")
	projection := proptest.Pick(t, "", ", projection: keys", ", projection: [state]")
	parents, size, note := t.Between(2, 12), t.Between(10, 3000), t.Between(10, 5000)
	if strings.HasPrefix(per, "zipf") {
		per += fmt.Sprintf("\n    count: %d", parents*5)
	}
	var b strings.Builder
	reads, rewrites := t.Between(1, 50), t.Between(1, 50)
	fmt.Fprintf(&b, randomModel, projection, parents, per, states, size, size*2, note, t.Between(1, 40), reads, rewrites,
		t.Between(10, 2000), t.Between(60, 200), t.Between(10, 100), t.Between(10, 3000), t.Between(5, 40))
	var asked []query
	for i, q := range queries {
		asked = append(asked, q.randomly(t))
		fmt.Fprintf(&b, "  - {name: q%d, %s}\n", i, asked[i].yaml)
	}
	var writeRates, skews []float64
	for i, write := range writes {
		way, skew := randomAsked(t, "equally", "zipf")
		if way == "equally" {
			skew = 0
		}
		writeRates, skews = append(writeRates, float64(t.Between(1, 50))), append(skews, skew)
		fmt.Fprintf(&b, "  - {name: w%d, rate: %v, asked: %s, %s}\n", i, writeRates[i], askedText(way, skew), write)
	}

	source, ctx := b.String(), context.Background()
	m, err := modelfile.Parse("m.yaml", []byte(source))
	require.NoError(t, err, source)
	w, err := dataset.Build(ctx, m, dataset.Options{})
	require.NoError(t, err, source)
	defer w.Close()
	r, err := check.Run(ctx, w, check.Options{})
	require.NoError(t, err, source)
	spaces, err := load.TableOf(w).Spaces(ctx)
	require.NoError(t, err)

	n := counter{T: t, w: w, source: source, reads: map[string]map[string]float64{}, writes: map[string]map[string]float64{}}
	for _, s := range spaces {
		n.reads[nameOf(s)], n.writes[nameOf(s)] = map[string]float64{}, map[string]float64{}
	}
	n.declared(float64(reads), float64(rewrites))
	for i := range asked {
		switch q := &asked[i]; {
		case q.length > 0:
			n.compareWindows(q, &r.Patterns[i])
		case q.days:
			n.compareDays(q, &r.Patterns[i])
		default:
			n.compareRead(q, &r.Patterns[i])
		}
	}
	items := map[*dataset.Item]float64{}
	for i := range writes {
		n.compareWrites(&r.Patterns[len(asked)+i], writeRates[i], skews[i], items)
	}
	for _, s := range spaces {
		n.compareSpace(s, r)
	}
	for _, l := range spaces[0].Items {
		most := 0.0
		for it, rate := range items {
			if it.Entity == l.Item.Entity {
				most = max(most, rate)
			}
		}
		near(t, most, l.Writes, "writes of one "+l.Item.Entity.Name, source)
	}
}

func nameOf(s *load.Space) string {
	if s.Index == nil {
		return ""
	}
	return s.Index.Name
}

// A counter computes figures naively, from all items.
type counter struct {
	*proptest.T
	w             *dataset.Dataset
	source        string
	reads, writes map[string]map[string]float64 // units per second by space and partition
}

// keyIn returns an item's values of key attributes as text. It reports false if the item lacks one.
func keyIn(it attr.Item, names []string) (string, bool) {
	var key model.Key
	for _, name := range names {
		if it.Get(name).IsZero() {
			return "", false
		}
		key = append(key, it.Get(name))
	}
	return key.Text(), true
}

// declared adds the load of the declared rates of entity E.
func (n *counter) declared(reads, writes float64) {
	all := 0.0
	for i := range n.w.Items {
		if n.w.Items[i].Entity.Name == "E" {
			all++
		}
	}
	for i := range n.w.Items {
		if it := &n.w.Items[i]; it.Entity.Name == "E" {
			key, _ := keyIn(it.Attributes, []string{"PK"})
			size := it.Attributes.Size()
			n.reads[""][key] += reads / all * math.Ceil(float64(size)/4096) / 2
			n.writes[""][key] += writes / all * math.Ceil(float64(size)/1024)
		}
	}
}

// A row is what a naive count needs to know about a row.
type row struct {
	sort, state string
	size        int
	lead        *dataset.Item // the item that a follow-up read fetches, if there is one
}

// A part is what a query reads in one partition for one value.
type part struct {
	key   string
	rows  []row
	own   bool // contains rows of the query's entity
	units float64
}

// A value is what a query reads for one value of its conditions, over all windows.
type value struct {
	id                          string
	parts                       []*part
	bytes, rows                 int // of the busiest window
	units, average, held, times float64
	leads                       []*dataset.Item // of the rows that are read
	filled                      float64         // share of the windows with rows
}

// tie returns the number that orders values with equal costs.
func (v *value) tie(q *query) float64 {
	if q.shards {
		return 0
	}
	return v.held
}

// empty reports whether no partition has rows of the query's entity.
func (v *value) empty() bool {
	return !slices.ContainsFunc(v.parts, func(p *part) bool { return p.own })
}

// values returns the values that the conditions of a query can have.
func (n *counter) values(q *query) map[string]*value {
	all, table := map[string]*value{}, n.w.Model.Tables[0]
	sizes := table.RowSizes(nil)
	if q.index != "" {
		sizes = table.RowSizes(table.Index(q.index))
	}
	at := func(id, key string) *part {
		if all[id] == nil {
			all[id] = &value{id: id}
		}
		for _, p := range all[id].parts {
			if p.key == key {
				return p
			}
		}
		p := &part{key: key}
		all[id].parts = append(all[id].parts, p)
		return p
	}
	for i := range n.w.Items {
		it := &n.w.Items[i]
		if it.Entity.Name == "P" && q.parents {
			key := map[string]string{"": `"P#%s"`, "Both": `"NEW", "%s"`, "Few": `"F#%s"`, "Loc": `"P#%s"`}[q.index]
			key = fmt.Sprintf(key, it.Values.Get("p"))
			at(key, key)
		}
		key, ok := keyIn(it.Attributes, q.hash)
		state := string(it.Attributes.Get("state").Raw())
		size, has := sizes.Of(it.Attributes)
		if !ok || !has || q.given != "" && state != q.given || strings.Contains("M D T", it.Entity.Name) || (it.Entity.Name == "E") != (q.entity == "E") {
			continue
		}
		id := key
		if q.shards {
			id = it.Values.Get("kind")
		}
		p := at(id, key)
		r := row{string(it.Attributes.Get(q.sort).Raw()), state, size, it}
		if q.then == "P" && it.Entity.Name == "C" {
			r.lead = parentOf(n.w, it)
		}
		p.rows = append(p.rows, r)
		p.own = p.own || it.Entity.Name == q.entity
	}
	return all
}

// read counts the rows for which in is true. The rows examined and their bytes end at the query's limit; held ignores
// the limit.
func (q *query) read(rows []row, in func(row) bool) (examined, bytes, held int) {
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.sort, b.sort) })
	if q.backwards {
		slices.Reverse(rows)
	}
	for _, r := range rows {
		if r.sort < q.low || r.sort >= q.high || !in(r) {
			continue
		}
		if held++; q.limit == 0 || held <= int(q.limit) {
			examined, bytes = examined+1, bytes+r.size
		}
	}
	return examined, bytes, held
}

// leads returns the items that the follow-up reads fetch for the rows, each once.
func (q *query) leads(rows []row) (all []*dataset.Item) {
	examined := 0
	for _, r := range rows {
		if q.then == "" || r.sort < q.low || r.sort >= q.high || q.limit > 0 && examined == int(q.limit) {
			continue
		}
		if examined++; !slices.Contains(all, r.lead) {
			all = append(all, r.lead)
		}
	}
	return all
}

func (q *query) units(bytes int) float64 {
	blocks := max(math.Ceil(float64(bytes)/4096), 1)
	if q.strong {
		return blocks
	}
	return blocks / 2
}

// ask computes what a query reads for a value. First and last are the days between which its windows lie.
func (q *query) ask(v *value, first, last int) {
	if q.shards { // one request per shard, even if the shard has no rows
		v.average = float64(3-len(v.parts)) * q.units(0)
		v.units = v.average
	}
	for _, p := range v.parts {
		examined, bytes, held := q.read(p.rows, func(row row) bool { return true })
		v.leads = append(v.leads, q.leads(p.rows)...)
		p.units = q.units(bytes)
		if q.months > 0 {
			const length = 31
			within := func(from int) func(row) bool {
				return func(r row) bool { return dayOf(r.sort) >= from && dayOf(r.sort) < from+length }
			}
			examined, bytes = 0, 0
			for _, r := range p.rows { // its follow-up read costs the same in each window
				if r.sort >= q.low && r.sort < q.high {
					if n, size, _ := q.read(p.rows, within(dayOf(r.sort))); size > bytes {
						examined, bytes = n, size
					}
				}
			}
			windows, sum := 0.0, 0
			p.units = 0
			for _, from := range windowsFrom(first, last, length) {
				reached := within(from)
				_, size, in := q.read(p.rows, func(r row) bool {
					return reached(r) && dayOf(r.sort) >= first && dayOf(r.sort) <= last
				})
				p.units += q.units(size)
				windows, sum = windows+1, sum+in
				if in > 0 {
					v.filled++
				}
			}
			p.units /= windows
			v.held += float64(sum) / windows
			v.filled /= windows
		} else {
			v.filled = 1
			v.held += float64(held)
		}
		v.bytes, v.rows = v.bytes+bytes, v.rows+examined
		v.average += p.units
		v.units += q.units(bytes)
	}
}

// weigh sets how often requests ask for each value. The list must be in the order of cost.
func (q *query) weigh(list []*value) (all float64) {
	for k, v := range list {
		switch v.times = 1; {
		case q.asked == "zipf":
			v.times = math.Pow(float64(k+1), -q.skew)
		case q.asked == "by_rows" && v.empty():
			v.times = 0
		case q.asked == "by_rows":
			v.times = max(v.held, 1)
		}
		all += v.times
	}
	return all
}

// compareRead compares what a pattern reads with a naive count, and adds the counted reads to the partitions.
func (n *counter) compareRead(q *query, p *check.PatternResult) {
	first, last := math.MaxInt, math.MinInt // days of all children
	for i := range n.w.Items {
		if it := &n.w.Items[i]; it.Entity.Name == "C" && (it.Generated || n.w.Made(it.Entity) == 0) {
			d := dayOf(string(it.Attributes.Get("SK").Raw()))
			first, last = min(first, d), max(last, d)
		}
	}
	var list []*value
	for _, v := range n.values(q) {
		q.ask(v, first, last)
		for _, lead := range v.leads {
			v.units += q.units(lead.Attributes.Size())
		}
		list = append(list, v)
	}
	slices.SortFunc(list, func(a, b *value) int {
		if a.empty() != b.empty() && !q.shards && a.bytes == b.bytes { // parents without rows come last
			return map[bool]int{true: 1, false: -1}[a.empty()]
		}
		return cmp.Or(
			cmp.Compare(b.units, a.units), cmp.Compare(b.bytes, a.bytes), cmp.Compare(b.rows, a.rows),
			cmp.Compare(b.tie(q), a.tie(q)), cmp.Compare(a.id, b.id),
		)
	})
	all, mean := q.weigh(list), 0.0
	for _, v := range list {
		mean += v.average * v.times / all
		for _, lead := range v.leads {
			units := q.units(lead.Attributes.Size())
			key, _ := keyIn(lead.Attributes, []string{"PK"})
			n.reads[""][key] += q.rate * units * v.filled * v.times / all
			mean += units * v.filled * v.times / all
		}
		for _, part := range v.parts {
			if part.own { // a parent without children costs half a unit, which no partition gets
				n.reads[q.index][part.key] += q.rate * part.units * v.times / all
			}
		}
	}

	near(n.T, mean, p.MeanUnits(), p.Pattern.Name+": mean", n.source)
	if len(list) < 2 && q.months == 0 {
		require.Nil(n, p.Spread, n.source)
		return
	}
	near(n.T, mean, p.Spread.Mean, p.Pattern.Name+": mean of the spread", n.source)
	n.compareRanks(q, p, list, all)
}

// compareValues compares the mean and the percentiles of the values.
func (n *counter) compareValues(q *query, p *check.PatternResult, list []*value) {
	slices.SortFunc(list, func(a, b *value) int {
		return cmp.Or(
			cmp.Compare(b.units, a.units), cmp.Compare(b.bytes, a.bytes), cmp.Compare(b.rows, a.rows),
			cmp.Compare(b.held, a.held), cmp.Compare(a.id, b.id),
		)
	})
	all, mean := q.weigh(list), 0.0
	for _, v := range list {
		mean += v.average * v.times / all
	}
	near(n.T, mean, p.MeanUnits(), p.Pattern.Name+": mean", n.source)
	n.compareRanks(q, p, list, all)
}

// compareRanks compares the percentiles of the values. The list must be in the order of cost.
func (n *counter) compareRanks(q *query, p *check.PatternResult, list []*value, all float64) {
	name := p.Pattern.Name
	at := func(share float64) *value {
		below := 0.0
		for i := len(list) - 1; i > 0; i-- {
			if below += list[i].times; below > 0 && below >= share*all*(1-1e-9) {
				return list[i]
			}
		}
		return list[0]
	}
	for share, got := range map[float64]*load.Reading{0.5: &p.Spread.P50, 0.95: &p.Spread.P95, 1: &p.Spread.Worst} {
		want := at(share)
		if share == 1 {
			want = list[0]
		}
		near(n.T, float64(want.bytes), float64(got.Bytes), fmt.Sprintf("%s: bytes at %v", name, share), n.source)
		near(n.T, want.units, got.Units, fmt.Sprintf("%s: units at %v", name, share), n.source)
	}
}

// compareWindows compares what a range of time reads with a naive count, for each group in all windows of the range's
// length. A window is one request for each month that it touches, or for each shard. The follow-up reads of a window
// fetch each item once.
func (n *counter) compareWindows(q *query, p *check.PatternResult) {
	type sized struct {
		place, month, bytes int
		lead                *dataset.Item
	}
	type partition struct {
		key    string
		month  int
		bytes  map[int]int // by place
		member string
	}
	partitions, groups := map[string]*partition{}, map[string][]sized{}
	keys := map[string]map[int]string{} // the partitions of each group, by month or shard
	first, last := math.MaxInt, math.MinInt
	for i := range n.w.Items {
		it := &n.w.Items[i]
		if it.Entity.Name != q.entity {
			continue
		}
		at, _ := time.Parse(time.RFC3339, it.Values.Get("when"))
		month, group := at.Year()*12+int(at.Month())-1, it.Values.Get("group")
		one := sized{place: month, month: month, bytes: it.Attributes.Size()}
		if q.then != "" {
			one.lead = parentOf(n.w, it)
		}
		if !q.byMonths {
			one.place = int(at.Unix() / 86400)
		}
		if q.shards {
			one.month, _ = strconv.Atoi(it.Values.Get("shard"))
		}
		key, _ := keyIn(it.Attributes, []string{"PK"})
		if keys[group] == nil {
			keys[group] = map[int]string{}
		}
		keys[group][one.month] = key
		if partitions[key] == nil {
			partitions[key] = &partition{key: key, month: month, bytes: map[int]int{}, member: group}
		}
		partitions[key].bytes[one.place] += one.bytes
		groups[group] = append(groups[group], one)
		if it.Generated {
			first, last = min(first, one.place), max(last, one.place)
		}
	}
	starts := windowsFrom(first, last, q.length)
	bytesIn := func(at *partition, from int) (sum int) {
		for place := from; at != nil && place < from+q.length; place++ {
			if place >= first && place <= last {
				sum += at.bytes[place]
			}
		}
		return sum
	}
	monthAt := func(place int) int {
		if q.byMonths {
			return place
		}
		at := time.Unix(int64(place)*86400, 0).UTC()
		return at.Year()*12 + int(at.Month()) - 1
	}
	touched := func(from int) (all []int) { // months or shards
		low, high := monthAt(from), monthAt(from+q.length-1)
		if q.shards {
			low, high = 0, 2
		}
		for ; low <= high; low++ {
			all = append(all, low)
		}
		return all
	}

	fetched := func(rows []sized, from int) map[*dataset.Item]float64 { // read units of each item
		all := map[*dataset.Item]float64{}
		for _, r := range rows {
			if r.lead != nil && r.place >= from && r.place < from+q.length {
				all[r.lead] = q.units(r.lead.Attributes.Size())
			}
		}
		return all
	}
	sum := func(all map[*dataset.Item]float64) (units float64) {
		for _, one := range all {
			units += one
		}
		return units
	}

	var list []*value
	fetches := map[string]map[*dataset.Item]float64{}
	for group, rows := range groups {
		v := &value{id: group}
		fetches[group] = map[*dataset.Item]float64{}
		for _, from := range starts {
			inside := slices.DeleteFunc(slices.Clone(rows), func(r sized) bool { return r.place < first || r.place > last })
			for it, units := range fetched(inside, from) {
				fetches[group][it] += units / float64(len(starts))
				v.average += units / float64(len(starts))
			}
			for _, one := range touched(from) {
				v.average += q.units(bytesIn(partitions[keys[group][one]], from)) / float64(len(starts))
			}
		}
		slices.SortStableFunc(rows, func(a, b sized) int { return cmp.Compare(a.place, b.place) })
		most := -1.0
		for _, start := range append([]sized{{place: q.begin}}, rows...) { // its own if no other costs more
			bytes, of := 0, map[int]int{}
			examined := 0
			for _, r := range rows {
				if r.place >= start.place && r.place < start.place+q.length {
					bytes, examined = bytes+r.bytes, examined+1
					of[r.month] += r.bytes
				}
			}
			then := sum(fetched(rows, start.place))
			cost := float64(bytes)/4096*q.units(0) + then
			if cost <= most {
				continue
			}
			v.bytes, v.rows, v.units, most = bytes, examined, then, cost
			for _, one := range touched(start.place) {
				v.units += q.units(of[one])
			}
		}
		for _, from := range starts {
			for _, r := range rows {
				if r.place >= max(from, first) && r.place < min(from+q.length, last+1) {
					v.held++
				}
			}
		}
		v.held /= float64(len(starts))
		v.parts = []*part{{own: true}}
		list = append(list, v)
	}
	n.compareValues(q, p, list)

	shares := map[string]float64{}
	all := q.weigh(list)
	for _, v := range list {
		shares[v.id] = v.times / all
		for it, units := range fetches[v.id] {
			key, _ := keyIn(it.Attributes, []string{"PK"})
			n.reads[""][key] += q.rate * units * v.times / all
		}
	}
	for _, at := range partitions { // of the windows that read it
		units, times := 0.0, 0.0
		for _, from := range starts {
			if q.shards || monthAt(from) <= at.month && at.month <= monthAt(from+q.length-1) {
				units, times = units+q.units(bytesIn(at, from)), times+1
			}
		}
		n.reads[""][at.key] += q.rate * shares[at.member] * units / max(times, 1)
	}
}

// compareDays compares what the shards of a day read with a naive count. All requests are for the current day and
// read all shards, even those that have no rows on that day.
func (n *counter) compareDays(q *query, p *check.PatternResult) {
	bytes, days := map[string]int{}, map[string][]string{}
	for i := range n.w.Items {
		it := &n.w.Items[i]
		if it.Entity.Name != q.entity {
			continue
		}
		key, _ := keyIn(it.Attributes, []string{"PK"})
		if bytes[key] += it.Attributes.Size(); bytes[key] == it.Attributes.Size() {
			day := it.Values.Get("when")[:10]
			days[day] = append(days[day], key)
		}
	}
	mean := 0.0
	for _, keys := range days {
		mean += float64(3-len(keys)) * q.units(0) / float64(len(days))
		for _, key := range keys {
			mean += q.units(bytes[key]) / float64(len(days))
			n.reads[""][key] += q.rate * q.units(bytes[key])
		}
	}
	near(n.T, mean, p.MeanUnits(), p.Pattern.Name+": mean", n.source)
}

func dayOf(sort string) int {
	at, _ := time.Parse(time.DateOnly, strings.TrimPrefix(sort, "C#")[:10])
	return int(at.Unix() / 86400)
}

// windowsFrom returns the beginnings of all windows between the first and the last place, at least one.
func windowsFrom(first, last, length int) (starts []int) {
	for from := first; from == first || from+length-1 <= last; from++ {
		starts = append(starts, from)
	}
	return starts
}

// compareWrites sends the write for each item and compares the units with those that the service reports. It adds the
// units to the partitions and to the items.
func (n *counter) compareWrites(p *check.PatternResult, rate, skew float64, items map[*dataset.Item]float64) {
	type one struct {
		items []*dataset.Item
		units map[string]float64 // in each space
		all   float64
	}
	var all []one
	for i := range n.w.Items {
		main := &n.w.Items[i]
		first := &p.Pattern.Writes[0]
		if main.Entity != first.Entity || len(first.Set) > 0 && unchanged(main, first.Set) {
			continue
		}
		w := one{items: []*dataset.Item{main}}
		if len(p.Pattern.Writes) > 1 {
			w.items = append(w.items, parentOf(n.w, main))
		}
		w.units = sent(n.T, n.w, p.Pattern, w.items, n.source)
		for _, units := range w.units {
			w.all += units
		}
		all = append(all, w)
	}
	if len(all) == 0 {
		return
	}

	slices.SortStableFunc(all, func(a, b one) int { return cmp.Compare(b.all, a.all) })
	weights, want := 0.0, map[string]float64{}
	for k := range all {
		weights += math.Pow(float64(k+1), -skew)
	}
	for k, w := range all {
		share := math.Pow(float64(k+1), -skew) / weights
		for name, units := range w.units {
			want[name] += units * share
		}
		for i, it := range w.items {
			if p.Pattern.Writes[i].Operation != model.Put {
				items[it] += rate * share
			}
			n.addWrite(&p.Pattern.Writes[i], it, rate*share, len(p.Pattern.Writes) > 1)
		}
	}
	name := p.Pattern.Name
	require.Equal(n, len(all), p.Writes.Items, n.source)
	near(n.T, all[0].all, p.Writes.Worst, name+": worst", n.source)
	got := map[string]float64{}
	for _, s := range p.Writes.Spaces {
		index := ""
		if s.Index != nil {
			index = s.Index.Name
		}
		got[index] = s.Mean
	}
	for index, units := range want {
		near(n.T, units, got[index], name+" in "+index, n.source)
	}
}

// addWrite adds the units of a write to the partitions of the table and the indexes.
func (n *counter) addWrite(w *model.Write, it *dataset.Item, rate float64, transaction bool) {
	before, after := it.Attributes, it.Attributes
	switch w.Operation {
	case model.Put:
		before = nil
	case model.Delete:
		after = nil
	case model.Update:
		values := it.Values.Map()
		for _, c := range w.Set {
			values[c.Field] = c.Args[0]
		}
		made, err := it.Entity.Item(values)
		require.NoError(n, err)
		after = made
	}

	units := func(bytes int) float64 { return rate * math.Ceil(float64(bytes)/1024) }
	factor := 1.0
	if transaction {
		factor = 2
	}
	key, _ := keyIn(it.Attributes, []string{"PK"})
	n.writes[""][key] += factor * units(max(before.Size(), after.Size()))
	if w.Operation == model.Check {
		return
	}
	for _, x := range it.Table.Indexes {
		sizes, hash := it.Table.RowSizes(x), []string{}
		for _, a := range x.Partition {
			hash = append(hash, a.Name)
		}
		rowOf := func(it attr.Item) (key, position string, size int, ok bool) {
			if it == nil {
				return "", "", 0, false
			}
			size, ok = sizes.Of(it)
			key, _ = keyIn(it, hash)
			names := slices.Clone(hash)
			for _, a := range x.Sort {
				names = append(names, a.Name)
			}
			position, _ = keyIn(it, names)
			return key, position, size, ok
		}
		oldKey, oldAt, oldSize, was := rowOf(before)
		newKey, newAt, newSize, is := rowOf(after)
		in := n.writes[x.Name]
		switch {
		case was && is && oldAt == newAt:
			if !sizes.Same(before, after) {
				in[oldKey] += units(max(oldSize, newSize))
			}
		default:
			if was {
				in[oldKey] += units(oldSize)
			}
			if is {
				in[newKey] += units(newSize)
			}
		}
	}
}

// compareSpace compares the loads of the partitions of a table or an index.
func (n *counter) compareSpace(s *load.Space, r *check.Result) {
	index := nameOf(s)
	var hash []string
	for _, a := range s.Hash {
		hash = append(hash, a.Name)
	}
	var reads, writes, written float64
	for i, part := range s.Parts {
		key, _ := keyIn(s.Rows[part.From].Item.Attributes, hash)
		wantReads, wantWrites := n.reads[index][key], n.writes[index][key]
		if index == "" { // the table's partitions store the local index
			wantReads, wantWrites = wantReads+n.reads["Loc"][key], wantWrites+n.writes["Loc"][key]
		}
		near(n.T, wantReads, s.Reads[i], "reads of "+key+" of "+index, n.source)
		near(n.T, wantWrites, s.Writes[i], "writes of "+key+" of "+index, n.source)
		reads, writes = max(reads, s.Reads[i]), max(writes, s.Writes[i])
	}
	for _, units := range n.writes[index] { // an update can move a row to a partition that has no item yet
		written += units
	}
	at := slices.IndexFunc(r.Tables, func(t check.TableStats) bool { return t.Index == s.Index })
	stats := &r.Tables[at]
	near(n.T, written, stats.Writes, "all writes of "+index, n.source)
	if reads > 0 {
		near(n.T, reads, stats.ByReads.Reads, "most reads of "+index, n.source)
	}
	if writes > 0 {
		near(n.T, writes, stats.ByWrites.Writes, "most writes of "+index, n.source)
	}
}

func unchanged(it *dataset.Item, set []model.Condition) bool {
	return !slices.ContainsFunc(set, func(c model.Condition) bool { return it.Values.Get(c.Field) != c.Args[0] })
}

func parentOf(w *dataset.Dataset, child *dataset.Item) *dataset.Item {
	for i := range w.Items {
		if it := &w.Items[i]; it.Entity.Name == "P" && it.Values.Get("p") == child.Values.Get("p") {
			return it
		}
	}
	return nil
}

// sent sends a write and returns its units in the table and in each index.
func sent(t *proptest.T, w *dataset.Dataset, p *model.Pattern, items []*dataset.Item, source string) map[string]float64 {
	ctx := context.Background()
	fork, err := w.DB.Fork()
	require.NoError(t, err)
	defer fork.Close()
	service := engine.Of(fork).Service
	var all []compile.Item
	for i, it := range items {
		values := map[string]string{}
		for _, f := range it.Entity.Fields {
			if v, ok := it.Values.Lookup(f.Name); ok {
				values[f.Name] = v
			}
		}
		all = append(all, compile.Item{Values: values, Attributes: it.Attributes})
		if p.Writes[i].Operation == model.Put {
			var key attr.Builder
			key.Add("PK", it.Attributes.Get("PK"))
			key.Add("SK", it.Attributes.Get("SK"))
			_, err := service.DeleteItem(ctx, &wire.DeleteItemInput{TableName: new("Tab"), Key: key.Item()})
			require.NoError(t, err)
		}
	}
	in, err := compile.Write(p, all)
	require.NoError(t, err, source)
	var used []wire.ConsumedCapacity
	indexes := new("INDEXES")
	switch in := in.(type) {
	case *wire.PutItemInput:
		in.ReturnConsumedCapacity = indexes
		out, err := service.PutItem(ctx, in)
		require.NoError(t, err)
		used = append(used, *out.ConsumedCapacity)
	case *wire.UpdateItemInput:
		in.ReturnConsumedCapacity = indexes
		out, err := service.UpdateItem(ctx, in)
		require.NoError(t, err)
		used = append(used, *out.ConsumedCapacity)
	case *wire.DeleteItemInput:
		in.ReturnConsumedCapacity = indexes
		out, err := service.DeleteItem(ctx, in)
		require.NoError(t, err)
		used = append(used, *out.ConsumedCapacity)
	case *wire.TransactWriteItemsInput:
		in.ReturnConsumedCapacity = indexes
		out, err := service.TransactWriteItems(ctx, in)
		require.NoError(t, err)
		used = out.ConsumedCapacity
	}
	sum := map[string]float64{}
	for _, c := range used {
		sum[""] += *c.Table.CapacityUnits
		for name, units := range c.GlobalSecondaryIndexes {
			sum[name] += *units.CapacityUnits
		}
		for name, units := range c.LocalSecondaryIndexes {
			sum[name] += *units.CapacityUnits
		}
	}
	return sum
}
