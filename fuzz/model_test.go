package fuzz_test

import (
	"slices"
	"strconv"
)

// pageBytes is the size at which a page ends. The row that reaches it is still in the page.
const pageBytes = 1 << 20

// overhead is the number of bytes that DynamoDB adds to the size of each row.
const overhead = 100

// A model is a table with its items, independent of how the database stores them.
type model struct {
	name       string
	hash, sort string // the key; sort may be ""
	kinds      map[string]kind
	indexes    []*index
	items      map[string]item // by id
	ttl        string          // the time-to-live attribute, or ""
	number     int             // number of the table in its generator
}

type index struct {
	name       string
	hash, sort []string
	local      bool
	projection string
	include    []string
}

// id returns a text that two items or keys share exactly if they have the same primary key.
func (m *model) id(it item) string {
	id := strconv.Quote(it[m.hash].canon())
	if m.sort != "" {
		id += strconv.Quote(it[m.sort].canon())
	}
	return id
}

func (m *model) keyNames() []string {
	if m.sort == "" {
		return []string{m.hash}
	}
	return []string{m.hash, m.sort}
}

// isKey reports whether name is a key attribute of the table or an index.
func (m *model) isKey(name string) bool {
	return slices.Contains(m.keyNames(), name) ||
		slices.ContainsFunc(m.indexes, func(ix *index) bool { return ix.has(name) })
}

func (ix *index) has(name string) bool {
	return slices.Contains(ix.hash, name) || slices.Contains(ix.sort, name)
}

// A view is the table or one of its indexes, as something to read.
type view struct {
	m  *model
	ix *index // nil for the table
}

func (m *model) views() []view {
	all := []view{{m, nil}}
	for _, ix := range m.indexes {
		all = append(all, view{m, ix})
	}
	return all
}

func (v view) hash() []string {
	if v.ix != nil {
		return v.ix.hash
	}
	return []string{v.m.hash}
}

func (v view) sort() []string {
	if v.ix != nil {
		return v.ix.sort
	}
	return v.m.keyNames()[1:]
}

func (v view) name() string {
	if v.ix == nil {
		return ""
	}
	return v.ix.name
}

func (v view) global() bool { return v.ix != nil && !v.ix.local }

// keyNames returns the attributes of a LastEvaluatedKey.
func (v view) keyNames() []string {
	names := slices.Concat(v.hash(), v.sort(), v.m.keyNames())
	slices.Sort(names)
	return slices.Compact(names)
}

// projects reports whether the view's entries contain the attribute.
func (v view) projects(name string) bool {
	return v.ix == nil || v.ix.projection == "ALL" ||
		slices.Contains(v.keyNames(), name) || slices.Contains(v.ix.include, name)
}

// entry returns the view's entry for an item, or nil if the view omits the
// item.
func (v view) entry(it item) item {
	if it == nil || v.ix == nil {
		return it
	}
	for i, name := range slices.Concat(v.ix.hash, v.ix.sort) {
		if val, ok := it[name]; !ok || !fits(val, v.m.kinds[name], i < len(v.ix.hash)) {
			return nil
		}
	}
	out := item{}
	for name, val := range it {
		if v.projects(name) {
			out[name] = val
		}
	}
	return out
}

// fits reports whether a value can be a key of kind k.
func fits(v value, k kind, hash bool) bool {
	limit := 1024
	if hash {
		limit = 2048
	}
	return v.kind == k && (k == 'N' || len(v.data) >= 1 && len(v.data) <= limit)
}

// entries returns all entries of the view, unordered.
func (v view) entries() []item {
	var out []item
	for _, it := range v.m.items {
		if e := v.entry(it); e != nil {
			out = append(out, e)
		}
	}
	return out
}

// count returns how many entries the view has, and their size in bytes.
func (v view) count() (entries, bytes int) {
	for _, e := range v.entries() {
		entries++
		bytes += e.size() + overhead
	}
	return entries, bytes
}

// compareSort compares two entries of one partition by the sort key attributes. In an index it compares ties by the
// hash of the table's key and then by that key.
func (v view) compareSort(a, b item) int {
	for _, name := range v.sort() {
		if c := compare(a[name], b[name]); c != 0 {
			return c
		}
	}
	if v.ix == nil {
		return 0
	}
	whole := func(it item) uint32 {
		var key []value
		for _, name := range v.m.keyNames() {
			key = append(key, it[name])
		}
		return scanHash(key...)
	}
	if c := int(whole(a)) - int(whole(b)); c != 0 {
		return c
	}
	for _, name := range v.m.keyNames() {
		if c := compare(a[name], b[name]); c != 0 {
			return c
		}
	}
	return 0
}

// compareScan compares entries in scan order. DynamoDB's scan order is only known for indexes and tables with one
// partition key attribute.
func (v view) compareScan(a, b item) int {
	name := v.hash()[0]
	if c := int(scanHash(a[name])) - int(scanHash(b[name])); c != 0 {
		return c
	}
	if c := compare(a[name], b[name]); c != 0 {
		return c
	}
	return v.compareSort(a, b)
}

func (v view) scanOrderKnown() bool { return len(v.hash()) == 1 }

// A clause is one comparison of a key condition expression.
type clause struct {
	name string
	op   string
	args []value
}

func (c clause) match(it item) bool {
	v := it[c.name]
	if c.op == "begins_with" {
		return hasPrefix(v, c.args[0])
	}
	n := compare(v, c.args[0])
	switch c.op {
	case "=":
		return n == 0
	case "<":
		return n < 0
	case "<=":
		return n <= 0
	case ">":
		return n > 0
	case ">=":
		return n >= 0
	}
	return n >= 0 && compare(v, c.args[1]) <= 0 // BETWEEN
}

func matchAll(clauses []clause, it item) bool {
	for _, c := range clauses {
		if !c.match(it) {
			return false
		}
	}
	return true
}

// A read is a query, or a scan if it has no clauses.
type read struct {
	view
	clauses    []clause
	reverse    bool
	limit      int
	filter     *test
	projection []path // nil without a projection
	count      bool   // Select is COUNT
	all        bool   // Select is ALL_ATTRIBUTES
	consistent bool
	start      item
	// the read is segment number segment of segments, or of everything if segments is 0
	segment, segments int
}

// A page is the answer to a read.
type page struct {
	items           []item
	count, examined int
	last            item
	bytes           int     // of the examined entries
	units           float64 // units of the view that is read
	fetched         float64 // on the table for an index
}

// fetches reports whether a local index must read items from the table.
func (r *read) fetches() bool {
	if r.ix == nil || !r.ix.local {
		return false
	}
	missing := func(p path) bool { return !r.projects(p[0].name) }
	return r.all && r.ix.projection != "ALL" || slices.ContainsFunc(r.projection, missing)
}

// rows returns the entries in the read's range, in the order of the read, including those before its start key.
func (r *read) rows() []item {
	rows := slices.DeleteFunc(r.entries(), func(e item) bool {
		if r.clauses != nil {
			return !matchAll(r.clauses, e)
		}
		return r.segments > 0 && r.scanOrderKnown() && int(scanHash(e[r.hash()[0]]))*r.segments>>24 != r.segment
	})
	slices.SortFunc(rows, r.order)
	return rows
}

func (r *read) order(a, b item) int {
	switch {
	case r.clauses == nil:
		return r.compareScan(a, b)
	case r.reverse:
		return r.compareSort(b, a)
	}
	return r.compareSort(a, b)
}

// oneItem reports whether the read can return at most one item. Then it has no second page.
func (r *read) oneItem() bool { return r.clauses != nil && r.ix == nil && r.m.sort == "" }

// page returns the page that the read should return. Ok is false if the start key is refused.
func (r *read) page() (p page, ok bool) {
	if r.start != nil {
		switch {
		case r.oneItem():
			return p, false
		case r.clauses != nil && !matchAll(r.clauses, r.start):
			return p, false
		case r.segments > 0 && r.scanOrderKnown() && int(scanHash(r.start[r.hash()[0]]))*r.segments>>24 != r.segment:
			return p, false
		}
	}
	fetch := r.fetches()
	for _, e := range r.rows() {
		if r.start != nil && r.order(e, r.start) <= 0 {
			continue
		}
		p.examined++
		p.bytes += e.size()
		full := e
		if fetch {
			full = r.m.items[r.m.id(e)]
			p.fetched += readUnits(full.size(), r.consistent)
		}
		if r.filter.eval(e) {
			p.count++
			if r.projection != nil {
				full = full.project(r.projection)
			}
			p.items = append(p.items, full)
		}
		if p.examined == r.limit || p.bytes >= pageBytes {
			if !r.oneItem() {
				p.last = e.only(r.keyNames())
			}
			break
		}
	}
	p.units = readUnits(p.bytes, r.consistent)
	return p, true
}

func readUnits(n int, consistent bool) float64 {
	units := float64(max(1, (n+4095)/4096))
	if !consistent {
		units /= 2
	}
	return units
}

func writeUnits(n int) float64 { return float64(max(1, (n+1023)/1024)) }

func (m *model) set(id string, it item) {
	if it == nil {
		delete(m.items, id)
	} else {
		m.items[id] = it
	}
}

// writes returns the units for replacing old by it, by index name, with "" for the table. It leaves out indexes that
// the write does not change.
func (m *model) writes(old, it item) map[string]float64 {
	used := map[string]float64{"": writeUnits(max(old.size(), it.size()))}
	for _, v := range m.views()[1:] {
		was, is := v.entry(old), v.entry(it)
		moved := was != nil && is != nil && was.only(v.keyNames()).canon() != is.only(v.keyNames()).canon()
		switch {
		case was == nil && is == nil:
		case was == nil:
			used[v.name()] = writeUnits(is.size())
		case is == nil:
			used[v.name()] = writeUnits(was.size())
		case moved:
			used[v.name()] = writeUnits(was.size()) + writeUnits(is.size())
		case was.canon() != is.canon():
			used[v.name()] = writeUnits(max(was.size(), is.size()))
		}
	}
	return used
}

func keySchema(hash, sort []string) (out []any) {
	for _, name := range hash {
		out = append(out, map[string]any{"AttributeName": name, "KeyType": "HASH"})
	}
	for _, name := range sort {
		out = append(out, map[string]any{"AttributeName": name, "KeyType": "RANGE"})
	}
	return out
}
