package work

import (
	"fmt"
	"math/rand/v2"
)

// A Size is the part of a shape that users can choose.
type Size struct {
	Items      int // items of a table; default 100,000
	Collection int // items of a partition; default by workload
	Bytes      int // bytes of an item; default DefaultBytes
}

// Defaults of a Size.
const (
	defaultItems = 100_000
	DefaultBytes = 100
)

func (z Size) withDefaults() Size {
	if z.Items <= 0 {
		z.Items = defaultItems
	}
	if z.Bytes <= 0 {
		z.Bytes = DefaultBytes
	}
	return z
}

// A Workload is one kind of request on tables of one shape.
type Workload struct {
	Name, About string
	// Workers is the smallest number of workers that makes sense.
	Workers int
	// Writes is true when calls change the table.
	Writes bool

	shape func(Size) Shape
	calls func(s Shape, k int, r *rand.Rand) Call
	most  func(s Shape) int // number of distinct calls that exist; nil for no bound
}

// Shape returns the shape of the table that the workload needs.
func (w *Workload) Shape(z Size) Shape {
	z = z.withDefaults()
	s := w.shape(z)
	if z.Collection > 0 {
		s.Collection = z.Collection
	}
	s.Collection = max(min(s.Collection, s.Items), 1)
	return s
}

// Calls returns at most n calls for a table of shape s. Equal seeds give equal
// calls.
func (w *Workload) Calls(s Shape, n int, seed uint64) []Call {
	if w.most != nil {
		n = min(n, max(w.most(s), 1))
	}
	r := rand.New(rand.NewPCG(seed, 0))
	calls := make([]Call, n)
	for k := range calls {
		calls[k] = w.calls(s, k, r)
	}
	return calls
}

// plain returns the shape of a table whose collections hold more than a page of 1 MB, if it has enough items.
func plain(z Size) Shape {
	return Shape{Items: z.Items, Collection: max(1000, pageItems(z.Bytes)*5/4), Size: z.Bytes}
}

// sized returns shapes of tables whose items have a fixed size. A table has at most 32 MB or 100 items, which fits
// the cache of the disk engine.
func sized(bytes int) func(Size) Shape {
	return func(z Size) Shape {
		z.Items = min(z.Items, max(32<<20/bytes, 100))
		z.Bytes = bytes
		s := plain(z)
		s.Collection = min(s.Collection, pageItems(bytes)*5/4)
		return s
	}
}

func with(ix Indexes) func(Size) Shape {
	return func(z Size) Shape {
		s := plain(z)
		s.Indexes = ix
		return s
	}
}

// inCollections returns shapes of tables whose collections have a fixed number of items.
func inCollections(items int) func(Size) Shape {
	return func(z Size) Shape { return Shape{Items: max(z.Items, items), Collection: items, Size: z.Bytes} }
}

func item(op Op) func(Shape, int, *rand.Rand) Call {
	return func(s Shape, k int, r *rand.Rand) Call {
		c := Call{Op: op, Items: []int{r.IntN(s.Items)}, Version: k, Want: 1}
		if op != Get {
			c.Want = 0
		}
		return c
	}
}

func hot(op Op) func(Shape, int, *rand.Rand) Call {
	return func(s Shape, k int, r *rand.Rand) Call {
		c := item(op)(s, k, r)
		c.Items[0] %= s.Collection
		return c
	}
}

func transact(op Op, items int) func(Shape, int, *rand.Rand) Call {
	return func(s Shape, k int, r *rand.Rand) Call {
		c := Call{Op: op, Version: k}
		first := r.IntN(s.Items)
		n := min(items, s.Items)
		for j := range n { // the items are distinct and spread over the whole table
			c.Items = append(c.Items, (first+j*(s.Items/n))%s.Items)
		}
		if op == TransactGet {
			c.Want = n
		}
		return c
	}
}

// within returns a function that makes queries of a number of rows in a random item collection. The sort key of the
// first row is a multiple of align.
func within(rows, align int, key string, values func(s Shape, lo int) []Bind) func(Shape, int, *rand.Rand) Call {
	return func(s Shape, _ int, r *rand.Rand) Call {
		base := r.IntN(s.collections()) * s.Collection
		n := min(rows, s.Collection)
		lo := r.IntN((s.Collection-n)/align+1) * align
		want := s.fits(base+lo, min(n, s.Collection-lo))
		return Call{Op: Query, Want: want, Range: Range{
			Key: key, After: -1,
			Values: append([]Bind{{":p", "S", s.partition(base)}}, values(s, lo)...),
		}}
	}
}

func between(rows int) func(Shape, int, *rand.Rand) Call {
	return within(rows, 1, "PK = :p AND SK BETWEEN :a AND :b", func(s Shape, lo int) []Bind {
		hi := min(lo+rows, s.Collection) - 1
		return []Bind{{":a", "S", s.sortKey(lo)}, {":b", "S", s.sortKey(hi)}}
	})
}

// begins returns a function that makes queries with begins_with, each of which returns 10^digits rows.
func begins(digits int) func(Shape, int, *rand.Rand) Call {
	rows := 1
	for range digits {
		rows *= 10
	}
	return within(rows, rows, "PK = :p AND begins_with(SK, :s)", func(s Shape, lo int) []Bind {
		return []Bind{{":s", "S", s.sortKey(lo)[:8-digits]}}
	})
}

// page returns a function that makes queries for the first page of a collection or, in reverse, for the last page.
func page(
	reverse bool, filter string, values []Bind, want func(rows, first int) int,
) func(Shape, int, *rand.Rand) Call {
	return func(s Shape, k int, _ *rand.Rand) Call {
		base := k % s.collections() * s.Collection
		first, step := base, 1
		if reverse {
			first, step = base+s.Collection-1, -1
		}
		rows, full := s.pageRows(first, step, s.Collection)
		examined := rows
		if want != nil {
			rows = want(rows, first)
		}
		return Call{Op: Query, Want: rows, Examined: examined, Page: full, Range: Range{
			Key: "PK = :p", Filter: filter, After: -1, Reverse: reverse,
			Values: append([]Bind{{":p", "S", s.partition(base)}}, values...),
		}}
	}
}

func deep(s Shape, _ int, r *rand.Rand) Call {
	base := r.IntN(s.collections()) * s.Collection
	at := s.Collection * 9 / 10
	at = max(min(at+r.IntN(s.Collection/10+1), s.Collection-101), 0)
	return Call{Op: Query, Want: s.fits(base+at+1, min(100, s.Collection-at-1)), Range: Range{
		Key: "PK = :p", Limit: 100, After: base + at, Values: []Bind{{":p", "S", s.partition(base)}},
	}}
}

// indexed returns a function that makes queries of a number of rows in one group of an index.
func indexed(index string, rows int) func(Shape, int, *rand.Rand) Call {
	return func(s Shape, _ int, r *rand.Rand) Call {
		group0 := r.IntN(s.groups()) * groupItems
		size := min(groupItems, s.Items)
		if index == "ByMany" {
			size = min(groupItems/2, s.Items)
		}
		n := min(rows, size)
		lo := group0 + r.IntN(size-n+1)
		q := Range{Index: index, After: -1, Values: []Bind{{":g", "S", group(group0)}}}
		switch index {
		case "ByState": // all items of a group have the same index key
			q.Key, q.Limit = "g = :g AND st = :s", n
			q.Values = append(q.Values, Bind{":s", "S", state(0)})
		case "ByMany":
			q.Key = "g = :g AND rg = :r AND st = :s AND n BETWEEN :a AND :b"
			q.Values = append(q.Values, Bind{":r", "S", region(group0)}, Bind{":s", "S", state(0)})
		default:
			q.Key = "g = :g AND n BETWEEN :a AND :b"
		}
		if index != "ByState" {
			q.Values = append(q.Values, Bind{":a", "N", fmt.Sprint(lo)}, Bind{":b", "N", fmt.Sprint(lo + n - 1)})
		}
		return Call{Op: Query, Want: s.fits(lo, n), Range: q}
	}
}
