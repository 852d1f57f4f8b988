package load_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/load"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/internal/wire"
)

// TestTable compares all figures of random models with naive counts over their items, and what writes cost with what
// the service says when each is sent to it.
func TestTable(t *testing.T) { proptest.Check(t, proptest.Cases(12), holdTable) }

// A query is a read of a random model, and what it reads for each value: the rows of a partition from and up to a
// text in the sort key, in the key attributes of a table or an index.
type query struct {
	yaml        string
	index       string
	low, high   string // of the whole sort key
	window      bool   // the whole of March
	limit, rate int
	strong      bool
	only        string // of the items that are returned
}

func holdTable(t *proptest.T) {
	const parent = `  P: {attributes: {PK: "P#{p}", SK: META, n: {template: "{n:number}", type: N}}, fields: {n: {type: number, from: 0, to: 100}}, count: %d, samples: [{p: x, n: 1}]}
`
	const child = `  C:
    of: P
    per: %s
    count: %d
    fields: {state: {values: [%s]}, at: {type: time, from: 2025-01-01, to: 2025-12-31}, body: {size: %d..%d}, hot: {values: ["y", "n", "n"]}}
    attributes: {PK: "P#{p}", SK: "C#{at:time}#{c}", GPK: "S#{state}", GSK: "{at:time}", body: "{body}", own: "{p}", state: "{state}", hot: {template: HOT, when: {hot: ["y"]}}}
    samples: [{p: x, at: 2025-03-05T10:00:00Z, c: c1, state: NEW, body: z, hot: "y"}]
`
	per, parents := proptest.Pick(t, "zipf(1.1)", "{min: 0, p50: 4, max: 30}", "1..9"), t.Between(2, 12)
	states := proptest.Pick(t, "NEW, DONE", "NEW, DONE, DONE, DONE", "NEW, OLD, DONE")
	projection := proptest.Pick(t, "", ", projection: keys", ", projection: [state]")
	size := t.Between(10, 3000)
	var b strings.Builder
	fmt.Fprintf(&b, "name: m\ntables: {Tab: {partition: PK, sort: SK, indexes: {ByState: {partition: GPK, sort: GSK%s}, "+
		"Hot: {partition: hot, projection: keys}, Both: {partition: [state, own], sort: SK}}}}\nentities:\n", projection)
	count := parents * 5
	fmt.Fprintf(&b, parent, parents)
	text := fmt.Sprintf(child, per, count, states, size, size*2)
	if !strings.HasPrefix(per, "zipf") {
		text = strings.Replace(text, fmt.Sprintf("    count: %d\n", count), "", 1)
	}
	b.WriteString(text + "patterns:\n")

	queries := []query{
		{yaml: "query: {entity: C, where: {p: x}%s}", low: "C#", high: "C$"},
		{yaml: `query: {entity: C, where: {p: x, at: {">=": 2025-06-01}}%s}`, low: "C#2025-06-01", high: "C$"},
		{yaml: "query: {entity: C, where: {p: x, at: {between: [2025-03-01, 2025-03-31]}}%s}", window: true, low: "C#", high: "C$"},
		{yaml: "query: {entity: C, index: ByState, where: {state: NEW}%s}", index: "ByState", high: "~"},
		{yaml: "query: {entity: C, index: Both, where: {state: NEW, p: x}%s}", index: "Both", low: "C#", high: "C$"},
		{yaml: `query: {entity: C, where: {p: x}, filter: "state = 'DONE'"%s}`, low: "C#", high: "C$", only: "DONE"},
		{yaml: "get: {entity: P, where: {p: x}%s}", low: "META", high: "METB"},
	}
	for i := range queries {
		q := &queries[i]
		q.rate, q.strong = t.Between(1, 50), q.index == "" && t.Bool()
		more := ""
		if q.limit = t.Between(1, 6) * t.IntN(2); q.limit > 0 && !strings.HasPrefix(q.yaml, "get") && q.only == "" && !q.window {
			more += fmt.Sprintf(", limit: %d", q.limit)
		} else {
			q.limit = 0
		}
		if q.strong {
			more += ", consistent: true"
		}
		fmt.Fprintf(&b, "  - {name: q%d, rate: %d, %s}\n", i, q.rate, fmt.Sprintf(q.yaml, more))
	}
	for i, write := range []string{
		"put: C", "update: {entity: C, set: {state: DONE}}", "update: {entity: P, set: {n: 7}}", "delete: C",
		"update: {entity: C, set: {body: tiny}}", "transact: [{put: C}, {update: {entity: P, set: {n: 500}}}]",
	} {
		fmt.Fprintf(&b, "  - {name: w%d, rate: %d, %s}\n", i, t.Between(1, 50), write)
	}

	source, ctx := b.String(), context.Background()
	m, err := modelfile.Parse("m.yaml", []byte(source))
	require.NoError(t, err, source)
	w, err := world.Build(ctx, m, world.Options{})
	require.NoError(t, err, source)
	defer w.Close()
	r, err := check.Run(ctx, w, check.Options{})
	require.NoError(t, err, source)
	spaces, err := load.TableOf(w).Spaces(ctx)
	require.NoError(t, err)

	reads := map[string]map[string]float64{"": {}, "ByState": {}, "Both": {}, "Hot": {}} // by index and partition
	for i, q := range queries {
		q.compare(t, w, &r.Patterns[i], reads[q.index], source)
	}
	for _, s := range spaces {
		index, total := "", 0.0
		if s.Index != nil {
			index = s.Index.Name
		}
		for i, part := range s.Parts {
			require.InDelta(t, reads[index][partitionOf(s.Space, &s.Rows[part.From])], s.Reads[i], 1e-6, "%s\n%s", index, source)
			total += s.Reads[i]
		}
		stats := tableOf(r, s.Index)
		most := 0.0
		for _, units := range reads[index] {
			most = max(most, units)
		}
		if most > 0 {
			require.InEpsilon(t, most, stats.ByReads.Reads, 1e-6, source)
		}
		if index != "" { // a value without rows reads half a unit in no partition of the table
			require.InDelta(t, total, stats.Reads, 1e-6+total/1e6+float64(len(queries)*50), source)
		}
	}
	for i := range r.Patterns[len(queries):] {
		compareWrites(t, w, &r.Patterns[len(queries)+i], source)
	}
	compareWritten(t, w, r, spaces, source)
}

func tableOf(r *check.Result, x *model.Index) *check.TableStats {
	i := slices.IndexFunc(r.Tables, func(s check.TableStats) bool { return s.Index == x })
	return &r.Tables[i]
}

func partitionOf(s *world.Space, row *world.Row) string { return load.PartitionKeyOf(s, row).Text() }

// compare compares what a pattern reads with a count of the items, and adds it to the partitions.
func (q *query) compare(t *proptest.T, w *world.World, p *check.PatternResult, into map[string]float64, source string) {
	hash, sort := []string{"PK"}, "SK"
	switch q.index {
	case "ByState":
		hash, sort = []string{"GPK"}, "GSK"
	case "Both":
		hash = []string{"state", "own"}
	}
	sizes := w.Model.Tables[0].RowSizes(nil)
	if q.index != "" {
		sizes = w.Model.Tables[0].RowSizes(w.Model.Tables[0].Index(q.index))
	}
	type row struct {
		sort, state string
		size        int
	}
	parts := map[string][]row{}
	least, last := math.MaxInt, math.MinInt // days of all children
	for i := range w.Items {
		it := w.Items[i].Attributes
		var key model.Key
		for _, name := range hash {
			key = append(key, it.Get(name))
		}
		if q.window && w.Items[i].Entity.Name == "C" {
			d := dayOf(string(it.Get(sort).Raw()))
			least, last = min(least, d), max(last, d)
		}
		size, ok := sizes.Of(it)
		if !ok || q.index == "Both" && string(it.Get("state").Raw()) != "NEW" {
			continue
		}
		id := key.Text()
		if q.index == "ByState" && id != `"S#NEW"` {
			continue
		}
		parts[id] = append(parts[id], row{string(it.Get(sort).Raw()), string(it.Get("state").Raw()), size})
	}
	if q.index == "Both" { // a parent without new children is asked for too
		for i := range w.Items {
			if it := &w.Items[i]; it.Entity.Name == "P" {
				id := `"NEW", ` + `"` + it.Values.Get("p") + `"`
				parts[id] = append(parts[id], nil...)
			}
		}
	}

	unit := 8192.0
	if q.strong {
		unit = 4096
	}
	units := func(bytes int) float64 {
		blocks := max((bytes+4095)/4096, 1)
		return float64(blocks) * 4096 / unit
	}
	type reading struct {
		rows  int
		bytes int
	}
	var worsts []reading
	mean := 0.0
	const length = 31
	begin := dayOf("C#2025-03-01")
	for id, rows := range parts {
		slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.sort, b.sort) })
		read := func(in func(row) bool) (one reading) {
			taken := 0
			for _, r := range rows {
				if r.sort < q.low || r.sort >= q.high || !in(r) || q.limit > 0 && taken == q.limit {
					continue
				}
				taken++
				one.bytes += r.size
				if q.only == "" || r.state == q.only {
					one.rows++
				}
			}
			return one
		}
		worst := read(func(row) bool { return true })
		average := units(worst.bytes)
		if q.window {
			within := func(from int) reading {
				return read(func(r row) bool { d := dayOf(r.sort); return d >= from && d < from+length })
			}
			worst = reading{}
			for _, r := range rows {
				if r.sort >= q.low && r.sort < q.high {
					if one := within(dayOf(r.sort)); one.bytes > worst.bytes {
						worst = one
					}
				}
			}
			average = 0
			first, end := floorDiv(least-begin, length), floorDiv(last-begin, length)
			for k := first; k <= end; k++ {
				average += units(within(begin+k*length).bytes) / float64(end-first+1)
			}
		}
		worsts = append(worsts, worst)
		mean += average / float64(len(parts))
		// A parent without children reads half a unit, which is not counted for its partition.
		ofEntity := func(r row) bool { return q.index == "ByState" || strings.HasPrefix(r.sort, q.low[:2]) }
		if slices.ContainsFunc(rows, ofEntity) {
			into[id] += float64(q.rate) * average / float64(len(parts))
		}
	}
	slices.SortFunc(worsts, func(a, b reading) int { return cmp.Compare(a.bytes, b.bytes) })
	at := func(share float64) reading { return worsts[max(int(math.Ceil(share*float64(len(worsts)))), 1)-1] }

	require.InEpsilon(t, mean, p.MeanUnits(), 1e-6, "%s: mean\n%s", p.Pattern.Name, source)
	if len(worsts) < 2 {
		require.Nil(t, p.Spread, source)
		return
	}
	for share, got := range map[float64]*load.Reading{0.5: &p.Spread.P50, 0.95: &p.Spread.P95, 1: &p.Spread.Worst} {
		require.Equal(t, at(share).bytes, got.Bytes, "%s at %v\n%s", p.Pattern.Name, share, source)
		require.Equal(t, units(at(share).bytes), got.Units, "%s at %v\n%s", p.Pattern.Name, share, source)
	}
}

func dayOf(sort string) int {
	at, _ := time.Parse(time.DateOnly, strings.TrimPrefix(sort, "C#")[:10])
	return int(at.Unix() / 86400)
}

func floorDiv(a, b int) int { return int(math.Floor(float64(a) / float64(b))) }

// compareWrites sends the write for each item, and compares the units that the service counts.
func compareWrites(t *proptest.T, w *world.World, p *check.PatternResult, source string) {
	want := map[string]float64{}
	n := 0.0
	for i := range w.Items {
		main := &w.Items[i]
		if main.Entity != p.Pattern.Writes[0].Entity || len(p.Pattern.Writes[0].Set) > 0 && unchanged(main, p.Pattern.Writes[0].Set) {
			continue
		}
		items := []*world.Item{main}
		if len(p.Pattern.Writes) > 1 {
			items = append(items, parentOf(w, main))
		}
		n++
		for name, units := range sent(t, w, p.Pattern, items, source) {
			want[name] += units
		}
	}
	got := map[string]float64{}
	for _, s := range p.Writes.Spaces {
		name := ""
		if s.Index != nil {
			name = s.Index.Name
		}
		got[name] = s.Mean * n
	}
	require.Equal(t, int(n), p.Writes.Items, source)
	for name, units := range want {
		require.InDelta(t, units, got[name], 1e-6, "%s in %q\n%s", p.Pattern.Name, name, source)
	}
}

func unchanged(it *world.Item, set []model.Condition) bool {
	return !slices.ContainsFunc(set, func(c model.Condition) bool { return it.Values.Get(c.Field) != c.Args[0] })
}

func parentOf(w *world.World, child *world.Item) *world.Item {
	for i := range w.Items {
		if it := &w.Items[i]; it.Entity.Name == "P" && it.Values.Get("p") == child.Values.Get("p") {
			return it
		}
	}
	return nil
}

// sent returns the units of a write in the table and each index.
func sent(t *proptest.T, w *world.World, p *model.Pattern, items []*world.Item, source string) map[string]float64 {
	ctx := context.Background()
	fork, err := w.DB.Fork()
	require.NoError(t, err)
	defer fork.Close()
	service := fork.Engine().Service
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
	}
	return sum
}

// compareWritten compares the writes of partitions and items with a count of the items.
func compareWritten(t *proptest.T, w *world.World, r *check.Result, spaces []*load.Space, source string) {
	for _, s := range spaces {
		total := 0.0
		for i := range s.Parts {
			total += s.Writes[i]
		}
		stats := tableOf(r, s.Index)
		// An update can put a row into a partition that has no item yet.
		require.LessOrEqual(t, total, stats.Writes*(1+1e-9), source)
		if s.Index == nil {
			require.InEpsilon(t, stats.Writes, total, 1e-9, source)
			require.InEpsilon(t, slices.Max(s.Writes), stats.ByWrites.Writes, 1e-9, source)
		}
	}

	// The parent that most children are of is counted with each of them.
	rates := map[string]float64{}
	for _, p := range w.Model.Patterns {
		rates[p.Name] = p.Rate
	}
	children, all, parents, most := map[string]float64{}, 0.0, 0.0, 0.0
	changing := 0.0
	for i := range w.Items {
		switch it := &w.Items[i]; it.Entity.Name {
		case "C":
			children[it.Values.Get("p")]++
			all++
		case "P":
			parents++
			if it.Values.Get("n") != "7" {
				changing++
			}
		}
	}
	for i := range w.Items {
		it := &w.Items[i]
		if it.Entity.Name != "P" {
			continue
		}
		writes := rates["w5"] * children[it.Values.Get("p")] / all
		if it.Values.Get("n") != "7" {
			writes += rates["w2"] / changing
		}
		most = max(most, writes)
	}
	for _, l := range spaces[0].Items {
		if l.Item.Entity.Name == "P" {
			require.InEpsilon(t, most, l.Writes, 1e-6, source)
		}
	}
}
