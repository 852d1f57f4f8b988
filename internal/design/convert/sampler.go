package convert

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

// A Stream yields any number of items of a table. The importer iterates over Items twice. An item is valid until the
// next iteration. A [Rejected] error concerns one record; any other error ends the import.
type Stream struct {
	// Table is the name of the table. If it is "", an item goes into the only table whose keys it has.
	Table string
	Items iter.Seq2[attr.Item, error]
}

// A Rejected error says why a record of a [Stream] is not an item. The importer skips and counts such records.
type Rejected interface {
	error
	Rejected()
}

// A row is an item with its table and its origin.
type row struct {
	t     *model.Table
	it    attr.Item
	n     *node
	facet *facet // of NoSQL Workbench, or nil
	seq   int
}

const (
	// maxKinds is the largest number of kinds of items that pour distinguishes.
	maxKinds = 500
	// keptBytes limits the memory of the items that pour keeps.
	keptBytes = 128 << 20
)

// kind returns the kind of an item: the words in its keys, followed by the value of an attribute that contains the
// kind.
func (o row) kind() string {
	kind := o.t.Name + "\x00" + shapes(o.t.Keys(), o.it)
	for _, name := range kindAttributes {
		if named := kindIn(o.it, name); named != "" {
			return kind + "\x00" + named
		}
	}
	return kind
}

// pour puts items into the pools of their tables. If there are more items than Options.Items allows, it takes about
// the same number of items of each kind. An entity with few items then gets samples too.
func (im *importer) pour(ctx context.Context) error {
	most, bytes := max(im.o.Items, 0), 0
	total := most * len(im.m.Tables)
	kept := map[string][]row{}
	for o, err := range im.offers(ctx, true) {
		if err != nil {
			return err
		}
		o.seq = im.offered
		im.offered++
		kind := o.kind()
		if kept[kind] == nil && len(kept) >= maxKinds {
			kind = ""
		}
		if len(kept[kind]) < most && bytes < keptBytes {
			o.it = slices.Clone(o.it)
			bytes += len(o.it)
			kept[kind] = append(kept[kind], o)
		}
	}

	var rest [][]row
	for _, list := range kept {
		rest = append(rest, list)
	}
	slices.SortFunc(rest, func(a, b []row) int { return cmp.Or(len(a)-len(b), a[0].seq-b[0].seq) })
	var all []row
	for i, list := range rest {
		all = append(all, list[:min(len(list), (total-len(all))/(len(rest)-i))]...)
	}
	slices.SortFunc(all, func(a, b row) int { return a.seq - b.seq })
	for _, o := range all {
		im.put(o)
	}
	return nil
}

// offers yields all items with their tables. The importer iterates over them twice. offers records losses only if
// first is true, so that each loss is listed once.
func (im *importer) offers(ctx context.Context, first bool) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		for _, o := range im.held {
			if !yield(o, nil) {
				return
			}
		}
		lost, rejected, n := 0, 0, 0
		var why Rejected // error of the first rejected record
		for _, s := range im.streams {
			for it, err := range s.Items {
				if r, ok := errors.AsType[Rejected](err); ok {
					if why == nil {
						why = r
					}
					rejected++
					continue
				}
				if n++; n%1024 == 0 && err == nil {
					err = context.Cause(ctx)
				}
				if err != nil {
					yield(row{}, err)
					return
				}
				t := im.m.Table(s.Table)
				if t == nil {
					var several bool
					if t, several = im.tableOf(it, s.Table); t == nil || several {
						lost++
						continue
					}
				}
				if !yield(row{t: t, it: it}, nil) {
					return
				}
			}
		}
		if first && lost > 0 {
			im.add(Loss{What: text.Count(lost, "item"), Why: "no table, or several, have their keys"})
		}
		if first && rejected > 0 {
			im.add(Loss{What: text.Count(rejected, "record"), Why: "rejected, the first because: " + why.Error()})
		}
	}
}

// count counts all items by entity. It then declares for each entity how many items the model generates in addition
// to the samples.
func (im *importer) count(ctx context.Context) error {
	counts, none := map[*model.Entity]int{}, map[*model.Table]int{}
	for o, err := range im.offers(ctx, false) {
		if err != nil {
			return err
		}
		if e := im.m.Classify(o.t, o.it); e != nil {
			counts[e]++
		} else {
			none[o.t]++
		}
	}

	for _, t := range im.m.Tables {
		if n := none[t]; n > 0 {
			im.add(Loss{What: text.Count(n, "item") + " of table " + t.Name, Why: "they fit no entity"})
		}
	}
	for _, e := range im.m.Entities {
		// Parents and children need a declared count, even if it is small. Keep at most half of the items as samples,
		// so that some remain to be generated.
		n := counts[e]
		samples := min(len(e.Samples), n/2)
		e.Samples, e.Count = e.Samples[:samples], n-samples
		im.repeat(e)
		im.add(Loss{
			What: text.Count(n, "item") + " of " + e.Name,
			Why:  "the model has " + text.Count(samples, "sample") + " of them, and count generates others",
		})
	}
	im.reconcile()
	return nil
}

// fewValues is the largest number of different values that the function repeat lists for a field.
const fewValues = 10

// repeat limits the values of fields that repeat in the samples of e, by setting Values or Distinct. For a number in
// the key, it sets Distinct to more than the number of items, because the samples use some of the values.
func (im *importer) repeat(e *model.Entity) {
	for _, f := range e.Fields {
		different := map[string]bool{}
		for _, s := range e.Samples {
			different[s.Values[f.Name]] = true
		}
		delete(different, "")
		n := len(different)
		switch {
		case e.CarriedFrom(f) != nil:
		case 2*n <= len(e.Samples) && n <= fewValues:
			for _, v := range slices.Sorted(maps.Keys(different)) {
				if !slices.Contains(f.Values, v) {
					f.Values = append(f.Values, v)
				}
			}
		case len(f.Values) > 0:
		case 2*n <= len(e.Samples):
			f.Distinct = max(f.Distinct, n)
		case (f.Type.Name == "int" || f.Type.Name == "number") && slices.Contains(e.KeyFields(), f):
			f.Distinct = max(f.Distinct, e.Count+2*len(e.Samples))
		}
	}
}

// reconcile removes declarations that contradict the counts, until the model can be built. It removes the second
// parents of entities first, then all parents, then the counts themselves.
func (im *importer) reconcile() {
	err := buildable(im.m)
	for most := 1; most >= 0 && err != nil; most-- {
		for _, e := range im.m.Entities {
			e.Parents = e.Parents[:min(len(e.Parents), most)]
		}
		err = buildable(im.m)
	}
	if err == nil {
		return
	}
	for _, e := range im.m.Entities {
		e.Count = 0
		for _, f := range e.Fields {
			f.Distinct = 0
		}
	}
	im.add(Loss{What: "the counts of the entities", Why: reason(err)})
}
