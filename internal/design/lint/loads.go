package lint

import (
	"cmp"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/load"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

var loads = Rule{
	ID: "loads", Title: "Partitions and items with too much load", Severity: model.Error,
	Help: "One partition serves 3,000 read units and 1,000 write units per second, whatever the capacity of " +
		"the table. Beyond that, requests are throttled. The loads of all patterns and declared rates add " +
		"up: what each reads for the values that it is asked with, and what it writes in the table, in each " +
		"index that holds the item and in the other items of its transaction. A partition key with a time " +
		"gets all of it in the current period. Writes of one item come one after the other, and transactions " +
		"that meet on it are cancelled. A key with few values puts much of the data into one partition.",

	View: func(p *Pass, v *View) {
		for _, e := range v.Entities() {
			if v.WrittenBy(e) {
				checkConstant(p, v, e)
			}
		}
		// A local index has no partitions of its own: its rows are in the table's partitions.
		if s := v.Load(); s != nil && (v.Index == nil || !v.Index.Local) {
			checkVolume(p, v, s)
			for _, periodic := range []bool{false, true} {
				checkHot(p, v, s, periodic, s.Writes, "write unit", maxWrites)
				checkHot(p, v, s, periodic, s.Reads, "read unit", maxReads)
			}
			for _, l := range s.Items {
				checkItem(p, v, l)
			}
		}
	},
}

// One partition serves at most this many units per second. Source: DG/bp-partition-key-design.html.
const (
	maxReads  = 3000
	maxWrites = 1000
)

// checkHot reports the partition with the highest load, if its units per second are at least half the limit. It looks
// either at the partitions of periods, each of which gets the load in its own period, or at all others.
func checkHot(p *Pass, v *View, s *load.Space, periodic bool, units []float64, unit string, limit float64) {
	at, over := -1, 0
	for i, n := range units {
		if s.Periodic(v.Rows[v.Parts[i].From].Item.Entity) != periodic {
			continue
		}
		if n > limit {
			over++
		}
		if at < 0 || n > units[at]*(1+1e-9) { // ignore differences from rounding
			at = i
		}
	}
	if at < 0 || units[at] < limit/2 {
		return
	}

	part := v.Parts[at]
	it := v.Rows[part.From].Item
	when, others := "", othersToo(over-1, "over that limit")
	if periodic {
		when, others = " in its period", ""
	}
	f := v.FindingOf(part,
		"at the declared rates, partition %s of %s gets %s per second%s, and one partition serves %s%s",
		v.PartitionKey(it), v, text.Amount(text.Figure(units[at]), unit), when, text.Thousands(int(limit)), others)

	saySources(f, s, at, limit == maxWrites)
	if v.Index != nil && limit == maxWrites {
		f.Say("; while an index is throttled, so are the writes of its table")
	}
	if units[at] <= limit {
		f.Severity = model.Warning
	}
	if part.To-part.From == 1 {
		f.Keys = f.Keys[:1]
		f.Advice = "keep copies of the item under several keys, or cache it"
		if limit == maxWrites {
			f.Advice = "divide the item into several by a shard number, and add them up when they are read"
		}
	} else {
		f.Advice = divideAdvice
	}
	p.Report(f)
}

// saySources adds to a finding which patterns cause the load of a partition, the pattern with the most units first.
// It adds up the units of each pattern, because a transaction can write several rows of the partition.
func saySources(f *Finding, s *load.Space, at int, write bool) {
	units, sources, names := map[string]float64{}, map[string]load.Source{}, []string{}
	for _, one := range s.Sources {
		if one.Write != write || one.Units[at] == 0 {
			continue
		}
		name := ""
		if one.Pattern != nil {
			name = text.Quote(one.Pattern.Name)
		} else {
			name = "the rates of " + one.Entity.Name
		}
		if units[name] == 0 {
			names, sources[name] = append(names, name), one
		}
		units[name] += one.Units[at]
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(units[b], units[a]) })
	var parts []string
	for _, name := range names {
		parts = append(parts, text.Figure(units[name])+" by "+name)
	}
	if len(parts) > 1 {
		f.Say(": %s", text.Join(parts[:min(len(parts), 4)], "and"))
	}
	if len(names) == 0 {
		return
	}
	first := sources[names[0]]
	if first.Pattern != nil && !first.Write {
		f.Pattern, f.Pos = first.Pattern.Name, first.Pattern.Pos
	}
}

// These are rates per second of writes to one item. From these rates on, writes often conflict, because a transaction
// takes milliseconds.
const (
	manyTransactions = 10
	manyWrites       = 100
)

// checkItem reports an item that is written so often that its writes conflict.
func checkItem(p *Pass, v *View, l load.ItemLoad) {
	if l.Transactions < manyTransactions && l.Writes < manyWrites {
		return
	}
	f := v.Finding(
		"item %s of %s gets %s writes per second, which come one after the other",
		v.KeyOf(l.Item.Attributes), v, text.Figure(l.Writes),
	)
	if l.Transactions > 0 {
		f.Say("; %s of them are in transactions, and transactions that meet are cancelled", text.Figure(l.Transactions))
	}
	e := l.Item.Entity
	f.Pos, f.Entity, f.Pattern, f.Severity = l.Pattern.Pos, e.Name, l.Pattern.Name, model.Warning
	f.Keys = v.Shown(l.Item)
	f.Advice = "divide " + e.Name + " into several items by a shard number, and add them up when they are read"
	p.Report(f)
}

// The rule reports a partition with at least manyItems items or manyBytes bytes. The partition must also have at
// least the fraction largePart of all items or bytes in the view.
const (
	manyItems = 100_000
	manyBytes = 1 << 30
	largePart = 0.1
)

// checkVolume reports the partition with the most items, if it is large and holds much of the view.
func checkVolume(p *Pass, v *View, s *load.Space) {
	var at dataset.Part
	var items, bytes float64
	large := 0
	for _, part := range v.Parts {
		n, size := s.Volume(part)
		if n >= manyItems || size >= manyBytes {
			large++
		}
		if n > items || n == items && size > bytes {
			items, bytes, at = n, size, part
		}
	}
	all, allBytes := s.Whole()
	items, bytes = min(items, all), min(bytes, allBytes)
	if (items < manyItems || items < largePart*all) && (bytes < manyBytes || bytes < largePart*allBytes) {
		return
	}

	it := v.Rows[at.From].Item
	f := v.FindingOf(at, "at the declared scale, partition %s of %s holds %s items, %s of all, in %s%s",
		v.PartitionKey(it), v, text.Thousands(int(items)), text.Percent(items/all), text.Size(bytes),
		othersToo(large-1, "large"))
	f.Severity, f.Advice = model.Warning, divideAdvice
	p.Report(f)
}

// checkConstant reports an entity whose items are all in one partition. It skips entities for which the model
// declares the number of items or how often they are written, because checkVolume and checkHot judge those loads.
func checkConstant(p *Pass, v *View, e *model.Entity) {
	if len(e.ComponentsOf(v.Hash)) > 0 {
		return
	}
	key := v.Hash[0].Name
	declared := slices.ContainsFunc(v.Entities(), func(o *model.Entity) bool {
		same := o == e || v.WrittenBy(o) && templateOf(o, key) == templateOf(e, key)
		return same && (o.Count > 0 || o.Writes > 0)
	})
	local := v.Index != nil && (v.Index.Local || v.Table.Has(key))
	conditional := slices.ContainsFunc(v.Keys, func(a model.Attribute) bool {
		return len(e.Attribute(a.Name).When) > 0
	})
	several := len(e.ComponentsOf(e.Table.Keys())) > 0
	if declared || local || conditional || !several {
		return
	}
	f := v.Finding("all items of %s are in one partition of %s, however many there will be", e.Name, v)
	f.Entity, f.Pos, f.Severity = e.Name, e.Attribute(key).Pos, model.Note
	f.Keys = v.Example(e)
	f.Advise("declare count and rates of %s to see whether one partition is enough, or add a component to %s", e.Name,
		key)
	p.Report(f)
}

// divideAdvice is the advice for a partition that is too large or too hot.
const divideAdvice = "divide it by a component that each query knows, or by a shard number from a hash of the id"

// templateOf returns the template of a string attribute as text, or the constant of an attribute that has one. It
// returns "" for other attributes.
func templateOf(e *model.Entity, name string) string {
	if t := e.Attribute(name); t != nil && t.Kind == attr.String {
		return sourceOf(partsOf(t))
	}
	return ""
}
