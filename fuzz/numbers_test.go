package fuzz_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/lint"
	"github.com/sortkey/sortkey/internal/design/load"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

// TestNumbers compares the workbench's figures of random models with a naive count over all items. For each value
// that the conditions of a pattern can ask for, it counts the items that begin with the value, and their cost, also
// for values of a parent without children. If the workbench generates all items, the figures must be equal. With a
// sample they must be within a tenth, the findings must be the same, and the sample must miss the same budgets.
func TestNumbers(t *testing.T) {
	proptest.NeedLong(t) // it counts millions of items
	slow(t)
	proptest.Check(t, 2, holdNumbers)
}

// slow skips a test with -short, which the run of the race detector sets: the test has one goroutine and makes
// hundreds of thousands of items.
func slow(t *testing.T) {
	if testing.Short() {
		t.Skip("many items in one goroutine")
	}
}

func holdNumbers(t *proptest.T) {

	d := drawDesign(t)
	source := d.String()
	whole, items := numbersOf(t, source, dataset.Options{MaxItems: 1 << 30, MaxBytes: 1 << 40})
	for i, p := range d.patterns {
		want, got := p.naive(items), whole.Patterns[i].Spread
		if len(want) < 2 {
			require.Nil(t, got, "%s\n%s", p.name, source)
			continue
		}
		exact, told := figures(want), figuresOf(got)
		// The workbench counts unread items without rounding each page, so the means differ slightly.
		require.InEpsilon(t, exact.mean, told.mean, 0.01, "%s: the mean of all items\n%s", p.name, source)
		exact.mean = told.mean
		require.Equal(t, exact, told, "%s: all items\n%s", p.name, source)
	}

	missed := map[string]bool{}
	for i := range d.patterns {
		if d.patterns[i].expect(t, figures(d.patterns[i].naive(items))) {
			missed[d.patterns[i].name] = true
		}
	}
	source = d.String()
	sample, _ := numbersOf(t, source, dataset.Options{})
	for i, p := range d.patterns {
		require.Equal(t, missed[p.name], !sample.Patterns[i].OK(), "%s: %v\n%s", p.name, sample.Patterns[i].Failures, source)
		want := p.naive(items)
		if len(want) < 2 {
			continue
		}
		exact, got := figures(want), figuresOf(sample.Patterns[i].Spread)
		// A sample of a few dozen values estimates a rank only to 3 percent, so compare with the figures around it.
		low, high := figuresAt(want, 0.47, 0.92, 1), figuresAt(want, 0.53, 0.98, 1)
		for k, name := range []string{"p50", "p95", "worst"} {
			// Values with the same cost can have different numbers of rows if they select entities of different
			// sizes.
			require.True(t, nearBetween(low.rows[k], high.rows[k], got.rows[k], 1) || p.mixed, "%s: %s has %v rows, and %v in a sample\n%s",
				p.name, name, exact.rows[k], got.rows[k], source)
			require.True(t, nearBetween(low.units[k], high.units[k], got.units[k], 0.5), "%s: %s costs %v, and %v in a sample\n%s",
				p.name, name, exact.units[k], got.units[k], source)
		}
		require.True(t, near(exact.mean, got.mean, 0.25), "%s: the mean is %v, and %v in a sample\n%s",
			p.name, exact.mean, got.mean, source)
	}
	require.Equal(t, findings(whole), findings(sample), "%s", source)
}

// expect gives the pattern no budget or one of these: about a fifth above or below what it reads, or the largest
// number that the model allows. It reports whether the pattern misses the budget.
func (p *randomPattern) expect(t *proptest.T, exact spreadFigures) (missed bool) {
	worst := exact.rows[2]
	switch {
	case p.most > 0 && p.limit == 0 && t.Bool():
		p.rest = fmt.Sprintf(", expect: {max_rows: %d}", p.most)
	case t.Bool():
		p.rest = fmt.Sprintf(", expect: {max_rows: %d}", int(math.Ceil(worst*1.2))+2)
	case t.Bool():
		p.rest = fmt.Sprintf(", expect: {units: %v}", math.Ceil(exact.units[2]*1.2)+1)
	case worst >= 10:
		p.rest = fmt.Sprintf(", expect: {max_rows: %d}", int(worst*0.8))
		missed = true
	}
	return missed
}

// near reports whether two figures differ by no more than a tenth or than least.
func near(want, got, least float64) bool { return math.Abs(want-got) <= max(want/10, least)+1e-9 }

// nearBetween reports whether got is between low and high, or near one of them.
func nearBetween(low, high, got, least float64) bool {
	return got >= low && got <= high || near(low, got, least) || near(high, got, least)
}

// findings returns the rule, pattern, table and index of each finding of a check, sorted.
func findings(r *check.Result) (all []string) {
	for _, f := range r.Findings {
		if f.Rule != check.Rule {
			all = append(all, fmt.Sprintf("%s %s %s%s", f.Rule, f.Pattern, f.Table, f.Index))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// spreadFigures are figures of a pattern: p50, p95 and worst, and the mean.
type spreadFigures struct {
	rows, units [3]float64
	mean        float64
}

func figuresOf(s *load.Spread) (f spreadFigures) {
	if s == nil {
		return f
	}
	for i, r := range []*load.Reading{&s.P50, &s.P95, &s.Worst} {
		f.rows[i], f.units[i] = math.Round(r.DeclaredRows()), r.DeclaredUnits()
	}
	f.mean = math.Round(s.Mean*1000) / 1000
	return f
}

// A naiveRead is what one request reads.
type naiveRead struct {
	rows, bytes int
	units       float64
	several     bool // several requests, whose units are rounded separately
}

func figures(all []naiveRead) spreadFigures { return figuresAt(all, 0.5, 0.95, 1) }

// figuresAt returns the figures at other ranks, given as shares from 0 to 1.
func figuresAt(all []naiveRead, shares ...float64) (f spreadFigures) {
	slices.SortFunc(all, func(a, b naiveRead) int {
		if a.several {
			return cmp.Or(cmp.Compare(a.units, b.units), cmp.Compare(a.bytes, b.bytes))
		}
		return cmp.Or(cmp.Compare(a.bytes, b.bytes), cmp.Compare(a.rows, b.rows))
	})
	for i, share := range shares {
		r := all[max(int(math.Ceil(share*float64(len(all)))), 1)-1]
		f.rows[i], f.units[i] = float64(r.rows), r.units
	}
	for _, r := range all {
		f.mean += r.units / float64(len(all))
	}
	f.mean = math.Round(f.mean*1000) / 1000
	return f
}

// numbersOf checks a model. It also returns the items that it made for the check.
func numbersOf(t require.TestingT, source string, o dataset.Options) (*check.Result, []dataset.Item) {
	ctx := context.Background()
	m, err := modelfile.Parse("m.yaml", []byte(source))
	require.NoError(t, err, "%s", source)
	w, err := dataset.Build(ctx, m, o)
	require.NoError(t, err, "%s", source)
	defer w.Close()
	r, err := check.Run(ctx, w, check.Options{Lint: lint.Run})
	require.NoError(t, err, "%s", source)
	return r, w.Items
}

// A design is a random model.
type randomDesign struct {
	entities []string
	patterns []randomPattern
}

// A randomPattern reads the items whose keys begin with the values of fields. PK is the text before the first bar,
// and SK begins with the text after it.
type randomPattern struct {
	name, entity, index string
	parent              string // entity whose items have all fields, or ""
	fields              []string
	where               string // instead of fields
	pk, sk              string // templates such as T#{tenant} and K#{project}#
	only                string // field of which the pattern asks only for the value x
	limit               int
	shards              []string // values of the shard; the pattern reads all of them
	mixed               bool     // rows of several entities
	most                int      // largest number of rows that the model allows, or 0
	rest                string
}

func (d *randomDesign) String() string {
	var b strings.Builder
	b.WriteString("name: random\ntables: {Tab: {partition: PK, sort: SK, indexes: {ByX: {partition: XP, sort: XS}}}}\nentities:\n")
	for _, e := range d.entities {
		b.WriteString("  " + e + "\n")
	}
	b.WriteString("patterns:\n")
	for _, p := range d.patterns {
		index, limit, where := "", "", p.where
		if p.index != "" {
			index = ", index: " + p.index
		}
		if p.limit > 0 {
			limit = fmt.Sprintf(", limit: %d", p.limit)
		}
		for i, f := range p.fields {
			if i > 0 {
				where += ", "
			}
			where += f + ": x"
		}
		if len(p.shards) > 0 {
			where += ", shard: {in: all}"
		}
		fmt.Fprintf(&b, "  - {name: %s, query: {entity: %s%s, where: {%s}%s}%s}\n", p.name, p.entity, index, where, limit, p.rest)
	}
	return b.String()
}

// naive counts what the pattern reads for each value of its fields.
func (p *randomPattern) naive(items []dataset.Item) (all []naiveRead) {
	pk, sk := "PK", "SK"
	if p.index != "" {
		pk, sk = "XP", "XS"
	}
	type row struct {
		key  string
		size int
	}
	partitions := map[string][]row{}
	asked := map[[2]string]bool{}
	for i := range items {
		it := items[i].Attributes
		if it.Get(pk).Kind() != 0 && it.Get(sk).Kind() != 0 {
			part := string(it.Get(pk).Raw())
			partitions[part] = append(partitions[part], row{string(it.Get(sk).Raw()), sizeOfStrings(it)})
		}
		if e := items[i].Entity; e != nil && (e.Name == p.entity || e.Name == p.parent) {
			if p.only != "" && items[i].Values.Get(p.only) != "x" {
				continue
			}
			fill := func(template string) string {
				for _, f := range e.Fields {
					if len(p.shards) > 0 && f.Name == "shard" {
						continue // the pattern reads all shards
					}
					template = strings.ReplaceAll(template, "{"+f.Name+"}", items[i].Values.Get(f.Name))
				}
				return template
			}
			asked[[2]string{fill(p.pk), fill(p.sk)}] = true
		}
	}
	for _, rows := range partitions {
		slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.key, b.key) })
	}
	for key := range asked {
		r := naiveRead{several: len(p.shards) > 0}
		page := 0
		end := func() { r.units, page = r.units+math.Ceil(float64(page)/4096)/2, 0 }
		for _, shard := range append([]string{""}, p.shards...)[min(len(p.shards), 1):] {
			n := 0
			for _, row := range partitions[strings.ReplaceAll(key[0], "{shard}", shard)] {
				if strings.HasPrefix(row.key, key[1]) && (p.limit == 0 || n < p.limit) {
					n++
					r.bytes += row.size
					if page += row.size; page > 1<<20 {
						end()
					}
				}
			}
			r.rows += n
			if end(); n == 0 {
				r.units += 0.5
			}
		}
		all = append(all, r)
	}
	return all
}

// sizeOfStrings returns the size of an item that has only strings: its names and values.
func sizeOfStrings(it attr.Item) (n int) {
	for name, v := range it.All() {
		n += len(name) + len(v.Raw())
	}
	return n
}

// drawDesign returns a random model: tenants with projects, tasks and their comments, events in shards, and other
// entities.
func drawDesign(t *proptest.T) *randomDesign {
	d := &randomDesign{}
	add := func(name, text string) { d.entities = append(d.entities, name+": {"+text+"}") }
	per := func(most int) (string, int) {
		n := t.Between(1, most)
		switch t.Between(0, 3) {
		case 0:
			return fmt.Sprint(n), n
		case 1:
			return fmt.Sprintf("%d..%d", t.Between(0, n), n), n
		case 2:
			return fmt.Sprintf("{min: 0, p50: %d, p95: %d, max: %d}", n, 2*n, 5*n), 5 * n
		default:
			return fmt.Sprintf("{min: 1, max: %d}", 2*n), 2 * n
		}
	}
	projects, mostProjects := per(12)
	tasks, mostTasks := per(40)
	comments, mostComments := per(4)
	size := func() int { return []int{10, 100, 400, 2000}[t.Between(0, 3)] }

	tenants := t.Between(2, 200)
	add("Tenant", fmt.Sprintf(`attributes: {PK: "T#{tenant}", SK: META}, samples: [{tenant: x}], count: %d`, tenants))
	add("Project", fmt.Sprintf(`of: Tenant, per: %s, attributes: {PK: "T#{tenant}", SK: "P#{project}"}, samples: [{tenant: x, project: x}]`, projects))
	sk := []string{"K#{project}#", "K#"}[t.Between(0, 1)]
	pk := "T#{tenant}"
	if t.Bool() {
		pk, sk = "Q#{project}", "K#"
	}
	status := []string{"values: [x, done, late]", "distinct: 40", "distinct: 30, distribution: zipf(1.1)"}[t.Between(0, 2)]
	add("Task", fmt.Sprintf(`of: Project, per: %s, fields: {body: {size: %d}, status: {%s}}, attributes: {PK: "%s", SK: "%s{task}", body: "{body}", of: "{tenant}#{project}", XP: "S#{status}", XS: "{task}"}, samples: [{tenant: x, project: x, task: x, body: y, status: x}]`, tasks, size(), status, pk, sk))
	mixed := false
	if t.Bool() {
		mixed, mostTasks = true, mostTasks*(1+mostComments)
		add("Comment", fmt.Sprintf(`of: Task, per: %s, attributes: {PK: "%s", SK: "%s{task}#C#{comment}", text: "{text}", of: "{tenant}#{project}"}, fields: {text: {size: %d}}, samples: [{tenant: x, project: x, task: x, comment: x, text: y}]`, comments, pk, sk, size()))
	}
	events := t.Between(50, 200_000)
	shard := []string{"values: [x, b, c, d, e]", "distinct: 100", "distinct: 200, distribution: zipf(1.1)"}[t.Between(0, 2)]
	add("Event", fmt.Sprintf(`fields: {shard: {%s}, data: {size: %d}, kind: {distinct: %d}}, attributes: {PK: "E#{shard}", SK: "{kind}#{event}", data: "{data}"}, samples: [{shard: x, event: x, data: x, kind: x}], count: %d, rates: {writes: %d}`, shard, size(), t.Between(2, 30), events, 10*t.Between(1, 300)))
	add("Big", fmt.Sprintf(`attributes: {PK: "B#{big}", SK: X}, samples: [{big: x}], count: %d`, t.Between(100_000, 300_000)))

	sales := fmt.Sprintf("zipf(%v), count: %d", 0.8+float64(t.Between(0, 6))/10, t.Between(1000, 60_000))
	kind := []string{"distinct: 40", "distinct: 12, distribution: zipf(1.1)"}[t.Between(0, 1)]
	add("Shop", fmt.Sprintf(`attributes: {PK: "V#{shop}", SK: META}, samples: [{shop: x}], count: %d`, t.Between(10, 1500)))
	add("Sale", fmt.Sprintf(`of: Shop, per: %s, fields: {state: {values: [x, y, y, y]}, kind: {%s}, at: {type: date, from: 2025-01-01, to: 2025-12-31}, note: {size: %d}}, attributes: {PK: "V#{shop}", SK: "S#{state}#{kind}#{sale}", note: "{note}", XP: "W#{shop}", XS: "{at}#{sale}"}, samples: [{shop: x, state: x, kind: x, sale: x, at: 2025-03-03, note: x}]`, sales, kind, size()))

	pattern := func(entity string, p randomPattern) {
		p.entity = entity
		p.name = fmt.Sprintf("p%d", len(d.patterns))
		if t.Between(0, 3) == 0 {
			p.limit = t.Between(1, 200)
		}
		d.patterns = append(d.patterns, p)
	}
	pattern("Project", randomPattern{parent: "Tenant", fields: []string{"tenant"}, pk: "T#{tenant}", sk: "P#", most: mostProjects})
	if strings.Contains(sk, "project") {
		pattern("Task", randomPattern{parent: "Project", fields: []string{"tenant", "project"}, pk: pk, sk: sk, most: mostTasks, mixed: mixed})
	}
	if pk == "Q#{project}" {
		pattern("Task", randomPattern{parent: "Project", fields: []string{"project"}, pk: pk, sk: sk, most: mostTasks, mixed: mixed})
	} else {
		pattern("Task", randomPattern{parent: "Tenant", fields: []string{"tenant"}, pk: pk, sk: "K#", mixed: mixed})
	}
	if !strings.Contains(status, "values") {
		pattern("Task", randomPattern{index: "ByX", fields: []string{"status"}, pk: "S#{status}"})
	}
	pattern("Sale", randomPattern{parent: "Shop", where: "PK: V#x, SK: {begins_with: S#}", pk: "V#{shop}", sk: "S#"})
	pattern("Sale", randomPattern{parent: "Shop", where: "shop: x, state: x", pk: "V#{shop}", sk: "S#x#"})
	pattern("Sale", randomPattern{where: "shop: x, state: x, kind: x", pk: "V#{shop}", sk: "S#x#{kind}#", only: "state"})
	pattern("Sale", randomPattern{parent: "Shop", index: "ByX", where: "shop: x, at: {between: [2025-01-01, 2025-12-31]}", pk: "W#{shop}", sk: "2025"})
	pattern("Event", randomPattern{fields: []string{"shard"}, pk: "E#{shard}"})
	pattern("Event", randomPattern{fields: []string{"shard", "kind"}, pk: "E#{shard}", sk: "{kind}#"})
	if strings.Contains(shard, "values") {
		shards := []string{"x", "b", "c", "d", "e"}
		pattern("Event", randomPattern{fields: []string{"kind"}, pk: "E#{shard}", sk: "{kind}#", shards: shards})
	}
	return d
}
