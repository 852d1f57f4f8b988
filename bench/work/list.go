package work

import "math/rand/v2"

// All returns the workloads in the order of reports.
func All() []*Workload {
	pages := Shape.collections
	// keeps returns how many of the items from first to first+rows-1 have the flag "keep"
	keeps := func(rows, first int) int {
		return (first+rows+keepEvery-1)/keepEvery - (first+keepEvery-1)/keepEvery
	}
	none := func(int, int) int { return 0 }
	flag := []Bind{{":f", "S", "keep"}}
	below := []Bind{{":n", "N", "-1"}}
	ws := []*Workload{
		{Name: "get", About: "GetItem, keys all over the table", shape: plain, calls: item(Get)},
		{Name: "get-hot", About: "GetItem, all keys in one partition", shape: plain, calls: hot(Get)},
		{Name: "get-1k", About: "GetItem of items of 1 KB", shape: sized(1 << 10), calls: item(Get)},
		{Name: "get-40k", About: "GetItem of items of 40 KB", shape: sized(40 << 10), calls: item(Get)},
		{Name: "query-10", About: "Query of 10 rows, SK BETWEEN", shape: plain, calls: between(10)},
		{Name: "query-100", About: "Query of 100 rows, SK BETWEEN", shape: plain, calls: between(100)},
		{Name: "begins-1", About: "Query by begins_with that selects 1 row", shape: plain, calls: begins(0)},
		{Name: "begins-10", About: "Query by begins_with that selects 10 rows", shape: plain, calls: begins(1)},
		{Name: "begins-1000", About: "Query by begins_with that selects 1,000 rows", shape: plain, calls: begins(3)},
		{
			Name: "deep-page", About: "Query of 100 rows after a start key nine tenths into a collection",
			shape: plain, calls: deep,
		},
		{
			Name: "page", About: "Query of a full page of 1 MB, forwards",
			shape: plain, calls: page(false, "", nil, nil), most: pages,
		},
		{
			Name: "page-reverse", About: "Query of a full page of 1 MB, backwards",
			shape: plain, calls: page(true, "", nil, nil), most: pages,
		},
		{
			Name: "page-1k", About: "Query of a page of items of 1 KB",
			shape: sized(1 << 10), calls: page(false, "", nil, nil), most: pages,
		},
		{
			Name: "page-40k", About: "Query of a page of items of 40 KB",
			shape: sized(40 << 10), calls: page(false, "", nil, nil), most: pages,
		},
		{
			Name: "filter-1000", About: "Query of a page whose filter keeps 1 row in 1,000",
			shape: plain, calls: page(false, "flag = :f", flag, keeps), most: pages,
		},
		{
			Name: "filter-none", About: "Query of a page whose filter drops every row",
			shape: plain, calls: page(false, "n < :n", below, none), most: pages,
		},
		{
			Name: "scan-page", About: "Scan of a page of 1 MB",
			shape: plain, calls: scan(1, "", nil), most: func(Shape) int { return 1 },
		},
		{
			Name: "scan-filter", About: "Scan of a page whose filter drops every row",
			shape: plain, calls: scan(1, "n < :n", below), most: func(Shape) int { return 1 },
		},
		{
			Name: "scan-parallel", About: "Scan of pages of 1 MB in 4 segments at once",
			Workers: 4, shape: scattered, calls: scan(4, "", nil), most: func(Shape) int { return 4 },
		},
		{
			Name: "collection-10", About: "Query of a whole collection of 10 items",
			shape: inCollections(10), calls: between(10),
		},
		{
			Name: "collection-1k", About: "Query of 10 rows in collections of 1,000",
			shape: inCollections(1000), calls: between(10),
		},
		{
			Name: "collection-100k", About: "Query of 10 rows in collections of 100,000",
			shape: inCollections(100_000), calls: between(10),
		},
		{
			Name: "collection-1m", About: "Query of 10 rows in a collection of a million",
			shape: inCollections(1_000_000), calls: between(10),
		},
		{
			Name: "index-10", About: "Query of 10 rows of an index by a number",
			shape: with(PlainIndex), calls: indexed("ByNumber", 10),
		},
		{
			Name: "index-100", About: "Query of 100 rows of an index by a number",
			shape: with(PlainIndex), calls: indexed("ByNumber", 100),
		},
		{
			Name: "index-ties", About: "Query of 100 rows of an index whose sort keys are all equal",
			shape: with(PlainIndex), calls: indexed("ByState", 100),
		},
		{
			Name: "index-multi", About: "Query of 10 rows of an index with keys of two attributes each",
			shape: with(MultiIndex), calls: indexed("ByMany", 10),
		},
		{
			Name: "put", About: "PutItem over an existing item, all over the table",
			Writes: true, shape: plain, calls: item(Put),
		},
		{Name: "put-hot", About: "PutItem, all keys in one partition", Writes: true, shape: plain, calls: hot(Put)},
		{Name: "put-40k", About: "PutItem of items of 40 KB", Writes: true, shape: sized(40 << 10), calls: item(Put)},
		{
			Name: "put-index", About: "PutItem that moves a row of one of two indexes",
			Writes: true, shape: with(PlainIndex), calls: item(Put),
		},
		{Name: "update", About: "UpdateItem that sets one attribute", Writes: true, shape: plain, calls: item(Update)},
		{
			Name: "mixed", About: "9 Query of 10 rows to 1 PutItem, at least 4 workers",
			Workers: 4, Writes: true, shape: plain, calls: mixed,
		},
		{Name: "transact-get", About: "TransactGetItems of 10 items", shape: plain, calls: transact(TransactGet, 10)},
		{
			Name: "transact-write", About: "TransactWriteItems of 10 puts",
			Writes: true, shape: plain, calls: transact(TransactWrite, 10),
		},
	}
	return ws
}

// Find returns the workload called name, or nil.
func Find(name string) *Workload {
	for _, w := range All() {
		if w.Name == name {
			return w
		}
	}
	return nil
}

// scattered returns the shape of a table with many partitions, so that its segments are about equal in size.
func scattered(z Size) Shape {
	return Shape{Items: z.Items, Collection: 10, Size: z.Bytes}
}

func scan(segments int, filter string, values []Bind) func(Shape, int, *rand.Rand) Call {
	return func(s Shape, k int, _ *rand.Rand) Call {
		c := Call{Op: Scan, Want: -1, Page: true, Range: Range{Filter: filter, Values: values, After: -1}}
		if segments > 1 {
			c.Range.Segment, c.Range.Segments = k%segments, segments
		} else {
			rows, full := s.pageRows(0, 1, s.Items)
			c.Examined = rows
			if c.Page = full; !full {
				c.Want = rows
			}
		}
		if filter != "" {
			c.Want = 0
		}
		return c
	}
}

func mixed(s Shape, k int, r *rand.Rand) Call {
	if k%10 == 9 {
		return item(Put)(s, k, r)
	}
	return between(10)(s, k, r)
}
