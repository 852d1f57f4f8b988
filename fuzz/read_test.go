package fuzz_test

import (
	"encoding/json"
	"slices"
	"strings"
)

// view returns the table or one of its indexes.
func (w *world) view(m *model) view {
	if w.often(30) {
		return view{m: m}
	}
	return pick(w.draw, m.views())
}

// newRead returns a random query or scan of a view.
func (w *world) newRead(v view) *read {
	r := &read{view: v, consistent: !v.global() && w.often(50)}
	if w.often(75) {
		r.clauses = w.newClauses(v)
		r.reverse = w.often(50)
	} else if w.often(40) {
		r.segments = pick(w.draw, []int{1, 2, 3, 7, 1000})
		r.segment = w.IntN(r.segments)
		if len(r.entries()) > 0 && w.often(50) && v.scanOrderKnown() { // one with something in it
			r.segment = int(scanHash(w.entry(v)[v.hash()[0]])) * r.segments >> 24
		}
	}
	if w.often(60) {
		r.limit = w.upTo(1, 12)
	}
	names := slices.DeleteFunc(slices.Concat(keyAttributes, payloads), func(name string) bool {
		if r.clauses != nil && (slices.Contains(v.hash(), name) || slices.Contains(v.sort(), name)) {
			return true
		}
		return r.clauses != nil && !v.projects(name)
	})
	if w.often(35) {
		r.filter = w.newTest(v.m, names, 2)
	}
	switch w.IntN(8) {
	case 0:
		r.count = true
	case 1, 2:
		for _, name := range slices.Concat(keyAttributes, payloads) {
			if (!v.global() || v.projects(name)) && w.often(25) {
				r.projection = append(r.projection, attribute(name))
			}
		}
	case 3:
		r.all = !v.global() || v.ix.projection == "ALL"
	}
	return r
}

// entry returns one of the view's entries, of which at least one must exist.
func (w *world) entry(v view) item {
	all := v.entries()
	slices.SortFunc(all, func(a, b item) int { return strings.Compare(v.m.id(a), v.m.id(b)) })
	return pick(w.draw, all)
}

// newClauses returns a valid key condition, usually one that some entry
// satisfies.
func (w *world) newClauses(v view) []clause {
	at := item{}
	if len(v.entries()) > 0 && w.often(95) {
		at = w.entry(v)
	}
	operand := func(name string, limit int) value {
		near := at[name]
		if near.kind == 0 || w.often(10) {
			return w.value(v.m, name, limit)
		}
		if near.kind == 'N' {
			return w.rewrite(near)
		}
		return near
	}
	var out []clause
	for _, name := range v.hash() {
		out = append(out, clause{name, "=", []value{operand(name, 2048)}})
	}
	sort := v.sort()
	n := w.IntN(len(sort) + 1)
	if n == 0 && w.often(50) {
		n = len(sort)
	}
	for i, name := range sort[:n] {
		c := clause{name, "=", []value{operand(name, 1024)}}
		if i == n-1 {
			ops := []string{"=", "<", "<=", ">", ">=", "BETWEEN", "begins_with"}
			if v.m.kinds[name] == 'N' {
				ops = ops[:6]
			}
			c.op = pick(w.draw, ops)
			near := slices.Clone(w.pools[v.m.name+"."+name])
			if at[name].kind != 0 {
				near = append(near, at[name])
			}
			limit := 1024
			if w.often(60) {
				c.args[0] = w.key(v.m.kinds[name], limit, near)
			}
			if c.op == "BETWEEN" {
				c.args = append(c.args, w.key(v.m.kinds[name], limit, near))
				if compare(c.args[0], c.args[1]) > 0 {
					slices.Reverse(c.args)
				}
			}
		}
		out = append(out, c)
	}
	return out
}

// illegal sends a query that must be refused.
func (w *world) illegal(v view) {
	if in := w.illegalQuery(v); in != nil {
		w.refuse("Query", in, "ValidationException")
	}
}

// illegalQuery returns a query whose key condition is not one range of the view, or
// has an operand of the wrong kind, or nil.
func (w *world) illegalQuery(v view) map[string]any {
	r := &read{view: v, clauses: w.newClauses(v)}
	i := w.IntN(len(r.clauses))
	c := r.clauses[i]
	sort := v.sort()
	put := func(name, op string) {
		r.clauses = append(r.clauses, clause{name, op, []value{w.value(v.m, name, 1024)}})
	}
	switch w.IntN(6) {
	case 0: // a partition key attribute is missing or compared
		i = w.IntN(len(v.hash()))
		if len(r.clauses) > 1 && w.often(50) {
			r.clauses = slices.Delete(r.clauses, i, i+1)
		} else {
			r.clauses[i].op = pick(w.draw, []string{"<", "<=", ">", ">="})
		}
	case 1: // a gap before the last sort attribute
		if len(sort) < 2 {
			return nil
		}
		r.clauses = r.clauses[:len(v.hash())]
		for _, name := range sort[:w.IntN(len(sort)-1)] {
			put(name, "=")
		}
		put(sort[len(sort)-1], "=")
	case 2: // a condition after a range
		if len(sort) < 2 {
			return nil
		}
		r.clauses = r.clauses[:len(v.hash())]
		put(sort[0], ">")
		put(sort[1], "=")
	case 3: // an operand of another kind, or empty
		v := pick(w.draw, []value{text("x"), blob("x"), number("1"), text(""), blob(""), other(`{"NULL":true}`), other(`{"L":[]}`)})
		if v.kind == c.args[0].kind && v.data != "" {
			return nil
		}
		r.clauses[i].args = []value{v}
		if c.op == "BETWEEN" {
			r.clauses[i].args = []value{v, v}
		}
	case 4: // the bounds in the wrong order
		if c.op != "BETWEEN" || compare(c.args[0], c.args[1]) == 0 {
			return nil
		}
		slices.Reverse(c.args)
	default: // two conditions on one attribute, or one on an attribute that is not a key
		name := pick(w.draw, []string{c.name, "p"})
		r.clauses = append(r.clauses, clause{name, "=", []value{c.args[0]}})
	}
	e := &expression{draw: w.draw}
	in := map[string]any{"TableName": v.m.name, "KeyConditionExpression": w.keyExpression(e, r.clauses)}
	if v.ix != nil {
		in["IndexName"] = v.ix.name
	}
	e.add(in)
	return in
}

// newStart returns a start key for a read. It is not always in the read's
// range, and no item needs to exist there.
func (w *world) newStart(r *read) item {
	key := item{}
	if len(r.entries()) > 0 {
		key = w.entry(r.view).only(r.keyNames())
	}
	for _, c := range r.clauses { // usually the partition of the query
		if c.op == "=" && w.often(95) {
			key[c.name] = c.args[0]
		}
	}
	for i, name := range r.keyNames() {
		if key[name].kind == 0 || i > 0 && w.often(20) {
			limit := 1024
			if slices.Contains(r.hash(), name) && name != r.m.sort {
				limit = 2048
			}
			key[name] = w.value(r.m, name, limit)
		}
	}
	for _, name := range r.keyNames() {
		if v := key[name]; !fits(v, r.m.kinds[name], !slices.Contains(r.sort(), name) && name != r.m.sort) {
			return nil
		}
	}
	return key
}

// request returns the request for a read, sometimes with legacy parameters.
func (w *world) request(r *read) (op string, in map[string]any) {
	in = map[string]any{"TableName": r.m.name, "ReturnConsumedCapacity": "INDEXES"}
	if r.ix != nil {
		in["IndexName"] = r.ix.name
	}
	if r.limit > 0 {
		in["Limit"] = r.limit
	}
	if r.consistent {
		in["ConsistentRead"] = true
	}
	switch {
	case r.count:
		in["Select"] = "COUNT"
	case r.all:
		in["Select"] = "ALL_ATTRIBUTES"
	}
	if r.start != nil {
		in["ExclusiveStartKey"] = r.start.wire()
	}
	e := &expression{draw: w.draw}
	op = "Scan"
	if r.clauses != nil {
		op = "Query"
		if r.reverse {
			in["ScanIndexForward"] = false
		}
		if r.filter == nil && r.projection == nil && w.often(15) {
			in["KeyConditions"] = legacy(r.clauses)
		} else {
			in["KeyConditionExpression"] = w.keyExpression(e, r.clauses)
		}
	} else if r.segments > 0 {
		in["Segment"], in["TotalSegments"] = r.segment, r.segments
	}
	if r.filter != nil {
		in["FilterExpression"] = e.test(r.filter)
	}
	if r.projection != nil {
		parts := make([]string, len(r.projection))
		for i, p := range r.projection {
			parts[i] = e.path(p)
		}
		in["ProjectionExpression"] = strings.Join(parts, ",")
	}
	e.add(in)
	return op, in
}

// keyExpression formats clauses in any order, sometimes with parentheses.
func (w *world) keyExpression(e *expression, clauses []clause) string {
	parts := make([]string, len(clauses))
	for i, c := range clauses {
		parts[i] = e.clause(c)
		if w.often(20) {
			parts[i] = "(" + parts[i] + ")"
		}
	}
	for i := range parts {
		j := i + w.IntN(len(parts)-i)
		parts[i], parts[j] = parts[j], parts[i]
	}
	return strings.Join(parts, pick(w.draw, []string{" AND ", " and "}))
}

func legacy(clauses []clause) map[string]any {
	ops := map[string]string{"=": "EQ", "<": "LT", "<=": "LE", ">": "GT", ">=": "GE", "BETWEEN": "BETWEEN", "begins_with": "BEGINS_WITH"}
	out := map[string]any{}
	for _, c := range clauses {
		args := make([]json.RawMessage, len(c.args))
		for i, v := range c.args {
			args[i] = v.wire()
		}
		out[c.name] = map[string]any{"ComparisonOperator": ops[c.op], "AttributeValueList": args}
	}
	return out
}

// An answer is the response of a Query or Scan.
type answer struct {
	Items            []map[string]json.RawMessage
	Count            *int
	ScannedCount     *int
	LastEvaluatedKey map[string]json.RawMessage
	ConsumedCapacity *capacity
}

// run reads one page and compares it with the model's. It returns the items and
// the LastEvaluatedKey. Ok is false when both refuse the start key.
func (w *world) run(r *read) (items []item, last item, ok bool) {
	w.Helper()
	op, in := w.request(r)
	want, ok := r.page()
	if !ok {
		w.refuse(op, in, "ValidationException")
		return nil, nil, false
	}
	var got answer
	w.must(op, in, &got)
	if got.Count == nil || got.ScannedCount == nil || (got.Items == nil) != r.count {
		w.Fatalf("the response lacks members or has Items that the request excludes")
		return
	}
	for _, m := range got.Items {
		items = append(items, w.item(m))
	}
	last = w.item(got.LastEvaluatedKey)
	if r.clauses == nil && !r.scanOrderKnown() {
		w.checkLoose(r, &got)
		return items, last, true
	}
	if *got.ScannedCount != want.examined || *got.Count != want.count {
		w.Fatalf("%d of %d rows, want %d of %d; model: %s", *got.Count, *got.ScannedCount, want.count, want.examined, lines(want.items))
	}
	if !r.count {
		if len(items) != want.count {
			w.Fatalf("%d items and Count %d", len(items), want.count)
		}
		for i, it := range items {
			if it.canon() != want.items[i].canon() {
				w.Fatalf("item %d is\n%s, want\n%s; model: %s", i, it.canon(), want.items[i].canon(), lines(want.items))
			}
		}
	}
	if last.canon() != want.last.canon() {
		w.Fatalf("LastEvaluatedKey is %s, want %s", last.canon(), want.last.canon())
	}
	units := map[string]float64{r.name(): want.units}
	if r.ix != nil {
		units[""] = want.fetched
	}
	w.checkUnits(got.ConsumedCapacity, r.m.name, units)
	w.checkTouched(r, &want)
	return items, last, true
}

// checkTouched compares the rows that the store returned, and the trace, with
// the rows in the range.
func (w *world) checkTouched(r *read, want *page) {
	w.Helper()
	if w.store.walked != want.examined || w.store.got != want.fetches {
		w.Fatalf("%d rows walked and %d got, want %d and %d", w.store.walked, w.store.got, want.examined, want.fetches)
	}
	if len(w.traces) != 1 {
		w.Fatalf("%d traces", len(w.traces))
		return
	}
	tr := w.traces[0]
	if tr.Examined != want.examined || tr.Returned != want.count || tr.Bytes != want.bytes || tr.Units != want.units+want.fetched ||
		tr.Table != r.m.name || tr.Index != r.name() {
		w.Fatalf("the trace is %+v, want %d rows, %d returned, %d bytes, %v units", tr, want.examined, want.count, want.bytes, want.units+want.fetched)
	}
}

// checkLoose checks scans of an index with several partition key attributes,
// whose order is not defined.
func (w *world) checkLoose(r *read, got *answer) {
	w.Helper()
	if w.store.walked != *got.ScannedCount || len(w.traces) != 1 || w.traces[0].Examined != *got.ScannedCount || *got.Count > *got.ScannedCount {
		w.Fatalf("%d rows walked, ScannedCount %d, Count %d", w.store.walked, *got.ScannedCount, *got.Count)
	}
	if r.limit > 0 && *got.ScannedCount > r.limit {
		w.Fatalf("ScannedCount %d above the Limit %d", *got.ScannedCount, r.limit)
	}
}

func lines(items []item) string {
	var out strings.Builder
	for _, it := range items {
		out.WriteString("\n\t" + it.canon())
	}
	return out.String()
}

// pages reads all pages of r and calls between before each page but the first.
// Each page starts with the previous LastEvaluatedKey, sometimes in another
// notation.
func (w *world) pages(r *read, between func()) (items []item) {
	w.Helper()
	for range 500 {
		got, last, ok := w.run(r)
		if !ok { // only a table without a sort key refuses its own key
			if r.m.sort != "" || r.ix != nil || r.clauses == nil {
				w.Fatalf("the LastEvaluatedKey of a page is refused as the start of the next")
			}
			return items
		}
		items = append(items, got...)
		if last == nil {
			return items
		}
		for _, name := range sortedNames(last) {
			if v := last[name]; v.kind == 'N' {
				last[name] = w.rewrite(v)
			}
		}
		r.start = last
		if between != nil {
			between()
		}
	}
	w.Fatalf("the pages do not end")
	return nil
}

// joined checks that joined pages of random size equal the whole result.
func (w *world) joined(r *read) {
	r.start, r.count, r.limit = nil, false, 0
	if r.projection != nil {
		r.projection = nil
	}
	whole := w.pages(r, nil)
	r.start, r.limit = nil, w.upTo(1, 7)
	if parts := w.pages(r, func() { r.limit = w.upTo(1, 7) }); lines(parts) != lines(whole) && r.sortedPages() {
		w.Fatalf("pages joined are %s\nthe whole is %s", lines(parts), lines(whole))
	}
	if r.clauses == nil && r.segments == 0 {
		w.segments(r.view, whole)
	}
	if r.clauses == nil {
		return
	}
	r.start, r.limit, r.reverse = nil, 0, !r.reverse
	back := w.pages(r, nil)
	slices.Reverse(back)
	if lines(back) != lines(whole) {
		w.Fatalf("backwards it is %s\nforwards %s", lines(back), lines(whole))
	}
}

// sortedPages reports whether the read may have several pages. A query of a
// table without a sort key has only one.
func (r *read) sortedPages() bool { return r.clauses == nil || r.ix != nil || r.m.sort != "" }

// segments checks that the segments of a parallel scan are disjoint and
// complete.
func (w *world) segments(v view, _ []item) {
	total := w.upTo(1, 9)
	seen := map[string]bool{}
	for segment := range total {
		r := &read{view: v, segment: segment, segments: total, limit: w.upTo(2, 9)}
		for _, it := range w.pages(r, nil) {
			if id := v.m.id(it); seen[id] {
				w.Fatalf("%s is in two segments", id)
			} else {
				seen[id] = true
			}
		}
	}
	if len(seen) != len(v.entries()) {
		w.Fatalf("%d items in all segments, want %d", len(seen), len(v.entries()))
	}
}

// stable reads pages while items are added and deleted. It checks that items
// that exist throughout are returned exactly once and in order.
func (w *world) stable(r *read) {
	r.start, r.count, r.filter, r.projection = nil, false, nil, nil
	r.limit = w.upTo(1, 4)
	before := r.rows
	if !r.sortedPages() || r.clauses == nil && !r.scanOrderKnown() {
		return
	}
	rows := before()
	touched := map[string]bool{}
	writes := 0
	seen := w.pages(r, func() {
		for range w.IntN(3) {
			if writes++; writes < 40 {
				touched[w.write(r.m)] = true
			}
		}
		if r.start != nil && w.often(30) && len(r.m.items) > 0 { // the item where the next page starts
			id := r.m.id(r.start)
			touched[id] = true
			w.writeItem(r.m, "DeleteItem", "Key", r.start.only(r.m.keyNames()), nil)
		}
	})
	var want, got []item
	for _, it := range rows {
		if !touched[r.m.id(it)] {
			want = append(want, it)
		}
	}
	for _, it := range seen {
		if !touched[r.m.id(it)] {
			got = append(got, r.entry(r.m.items[r.m.id(it)]))
		}
	}
	if lines(got) != lines(want) {
		w.Fatalf("of the items that existed throughout, the pages have %s\nwant %s", lines(got), lines(want))
	}
}
