package fuzz_test

import (
	"fmt"
	"slices"
	"strings"
)

// Attributes with documents and other values that the oracle's items have in addition to keyAttributes and payloads.
// Updates and conditions have paths into d and l.
var (
	documents = []string{"d", "l", "s", "n"}
	members   = []string{"a", "b", "cc", "é.x"}
	allKinds  = []kind{'S', 'N', 'B', isBool, isNull, isList, isMap, 's', 'n', 'b'}
)

// scalar returns any scalar value, often a small number.
func (g *generator) scalar() value {
	switch g.IntN(6) {
	case 0, 1:
		return number(fmt.Sprint(g.upTo(0, 30) - 10))
	case 2:
		return text(g.string(pieces, nil, 10))
	case 3:
		return pick(g.draw, []value{
			{kind: isBool, data: "true"}, {kind: isBool, data: "false"}, {kind: isNull}, text(""), blob(""),
		})
	case 4:
		return g.key('B', 6, nil)
	}
	return g.number(nil)
}

// document returns any value, with at most depth levels of maps and lists.
func (g *generator) document(depth int) value {
	switch n := g.IntN(6); {
	case n == 0:
		return g.set(pick(g.draw, []kind{'s', 'n', 'b'}))
	case depth > 0 && n < 3:
		v := value{kind: isList, list: []value{}}
		for range g.IntN(4) {
			v.list = append(v.list, g.document(depth-1))
		}
		return v
	case depth > 0 && n < 5:
		v := value{kind: isMap, members: item{}}
		for range g.IntN(4) {
			v.members[pick(g.draw, members)] = g.document(depth - 1)
		}
		return v
	}
	return g.scalar()
}

// set returns a random set of the kind.
func (g *generator) set(k kind) value {
	v := value{kind: k}
	for range g.upTo(1, 4) {
		e := g.key(k.element(), 6, nil)
		if k == 'n' && g.often(50) {
			e = number(fmt.Sprint(g.IntN(6)))
		} else if k == 's' && g.often(50) {
			e = text(pick(g.draw, members))
		}
		if !v.contains(e) {
			v.list = append(v.list, e)
		}
	}
	return v
}

// whole returns a value for an attribute that is not a key attribute.
func (g *generator) whole(name string) value {
	switch {
	case g.often(15):
		return g.document(2)
	case g.often(5):
		return value{kind: isNull}
	case name == "d":
		v := value{kind: isMap, members: item{}}
		for _, m := range members {
			if g.often(50) {
				v.members[m] = g.document(2)
			}
		}
		return v
	case name == "l":
		v := value{kind: isList, list: []value{}}
		for range g.IntN(5) {
			v.list = append(v.list, g.document(1))
		}
		return v
	case name == "s":
		return g.set(pick(g.draw, []kind{'s', 's', 'n', 'b'}))
	case name == "n":
		return number(fmt.Sprint(g.upTo(0, 30) - 10))
	case name == "ttl":
		times := []value{number("1"), number("9999999999"), text("1700000000"), {kind: isList}}
		if g.expires {
			times = append(times, number(fmt.Sprint(g.now-100)), number(fmt.Sprint(g.now+100)))
		}
		return pick(g.draw, times)
	}
	return g.payload(nil, bulk)
}

// item returns an item with documents.
func (g *generator) item(m *model) item {
	it := g.newItem(m)
	for _, name := range append(slices.Clone(documents), "ttl") {
		if name != "ttl" && g.often(50) || g.often(15) {
			it[name] = g.whole(name)
		}
	}
	switch {
	case m.number%4 == 3 && !g.small && g.often(60): // a table with pages of 1 MB
		it["p"] = text(strings.Repeat("y", g.upTo(150_000, 300_000)))
		g.resize(it, pageBytes-g.before(m, it))
	case g.often(10):
		unit := pick(g.draw, []int{1024, 4096})
		g.resize(it, (it.size()/unit+g.upTo(1, 2))*unit)
	}
	return it
}

// resize changes the attribute p so that the item has the size, or one byte less or more, if p can have that length.
func (g *generator) resize(it item, size int) {
	was, has := it["p"]
	it["p"] = text("")
	fill := size - it.size() + g.upTo(-1, 1)
	switch {
	case fill >= 0 && fill < maxItem-20_000:
		it["p"] = text(strings.Repeat("z", fill))
	case has:
		it["p"] = was
	default:
		delete(it, "p")
	}
}

// before returns how many bytes a Query of the item's partition, or a Scan, has read since its last full page when it
// reaches the item.
func (g *generator) before(m *model, it item) (bytes int) {
	r := read{view: view{m: m}}
	if m.sort != "" && g.often(50) {
		r.clauses = []clause{{m.hash, "=", []value{it[m.hash]}}}
	}
	for _, e := range r.rows() {
		if r.order(e, it) >= 0 {
			break
		}
		if bytes += e.size(); bytes >= pageBytes {
			bytes = 0
		}
	}
	return bytes
}

// base returns an item of the table, or an empty item if the table is empty.
func (g *generator) base(m *model) item {
	if len(m.items) == 0 {
		return item{}
	}
	return m.items[pick(g.draw, sortedNames(m.items))]
}

// path returns a path to one of the names or into it, and the item's value at the path.
func (g *generator) path(m *model, it item, names []string) (p path, v value, ok bool) {
	p = attribute(pick(g.draw, names))
	if m.isKey(p[0].name) {
		v, ok = it.find(p)
		return p, v, ok
	}
	for {
		v, ok = it.find(p)
		switch {
		case ok && v.kind == isMap && g.often(70):
			name := pick(g.draw, members)
			if len(v.members) > 0 && g.often(75) {
				name = pick(g.draw, sortedNames(v.members))
			}
			p = p.then(step{name: name})
		case ok && v.kind == isList && g.often(70):
			p = p.then(step{at: g.IntN(len(v.list) + 2)})
		case g.often(4):
			p = p.then(pick(g.draw, []step{{name: "a"}, {at: 0}}))
			v, ok = it.find(p)
			return p, v, ok
		default:
			return p, v, ok
		}
	}
}

// paths returns up to n paths that do not clash.
func (g *generator) paths(m *model, it item, names []string, n int) (out []path) {
	for range g.upTo(1, n) {
		p, _, _ := g.path(m, it, names)
		if !slices.ContainsFunc(out, p.clashes) {
			out = append(out, p)
		}
	}
	return out
}

// attributeNames are all names that an item may have. Documents are in it twice, to be chosen more often.
var attributeNames = slices.Concat(keyAttributes, payloads, documents, documents)

// condition returns a random condition on attributes with these names.
func (g *generator) condition(m *model, it item, names []string, depth int) *test {
	if depth > 0 {
		switch g.IntN(6) {
		case 0:
			return &test{op: "NOT", l: g.condition(m, it, names, depth-1)}
		case 1:
			return &test{op: "AND", l: g.condition(m, it, names, depth-1), r: g.condition(m, it, names, depth-1)}
		case 2:
			return &test{op: "OR", l: g.condition(m, it, names, depth-1), r: g.condition(m, it, names, depth-1)}
		}
	}
	p, v, ok := g.path(m, it, names)
	near := func() value {
		switch {
		case ok && g.often(60) && v.kind == 'N':
			return g.rewrite(v)
		case ok && g.often(60):
			return v
		case ok && v.kind.scalar() && v.data != "":
			return g.key(v.kind, 20, []value{v})
		}
		return g.document(1)
	}
	scalar := func() value {
		if v := near(); v.kind.scalar() {
			return v
		}
		return number("1")
	}
	t := &test{op: pick(g.draw, []string{
		"attribute_exists", "attribute_not_exists", "attribute_type", "begins_with", "contains", "IN", "BETWEEN",
		"size", "path", "=", "=", "<>", "<", "<=", ">", ">=",
	})}
	k := pick(g.draw, allKinds)
	for range 8 { // try several paths, because values that fit these functions are rare
		if t.op == "attribute_type" && v.kind != k || t.op == "contains" && len(v.list) == 0 {
			p, v, ok = g.path(m, it, names)
		}
	}
	comparators := []string{"=", "<>", "<", "<=", ">", ">="}
	t.args = []operand{{path: p}}
	add := func(v value) { t.args = append(t.args, operand{arg: v}) }
	switch t.op {
	case "attribute_type":
		add(text(k.String()))
	case "begins_with":
		c := scalar()
		if c.kind == 'N' {
			c = text("a")
		}
		if c.kind == 'B' || !strings.ContainsFunc(c.data, func(r rune) bool { return r > 0x7f }) {
			c.data = c.data[:g.IntN(len(c.data)+1)]
		}
		add(c)
	case "contains":
		c := near()
		if len(v.list) > 0 && g.often(60) {
			c = pick(g.draw, v.list)
		}
		add(c)
	case "IN":
		for range g.upTo(1, 4) {
			add(near())
		}
	case "BETWEEN":
		a := scalar()
		b := a
		if a.data != "" {
			b = g.key(a.kind, 20, []value{a})
		}
		if compare(a, b) > 0 {
			a, b = b, a
		}
		add(a)
		add(b)
	case "size":
		t.op, t.args[0].size = pick(g.draw, comparators), true
		add(number(fmt.Sprint(g.IntN(5))))
	case "path":
		q, _, _ := g.path(m, it, names)
		if t.op = pick(g.draw, comparators); slices.Equal(p, q) {
			t.op = "attribute_exists"
			break
		}
		t.args = append(t.args, operand{path: q})
	case "=", "<>":
		add(near())
	case "<", "<=", ">", ">=":
		add(scalar())
	}
	return t
}

// actions returns random actions of an update.
func (g *generator) actions(m *model, it item) (out []action) {
	names := slices.DeleteFunc(slices.Concat(documents, documents, payloads, keyAttributes), func(name string) bool {
		return slices.Contains(m.keyNames(), name) && !g.often(1)
	})
	for range g.upTo(1, 4) {
		p, v, ok := g.path(m, it, names)
		if slices.ContainsFunc(out, func(a action) bool { return a.path.clashes(p) }) {
			continue
		}
		a := action{verb: pick(g.draw, []string{"SET", "SET", "SET", "REMOVE", "ADD", "DELETE"}), path: p}
		constant := func(v value) *source { return &source{arg: v} }
		name := p[0].name
		switch {
		case len(p) == 1 && m.kinds[name] != 0 && m.isKey(name):
			if a.verb != "REMOVE" {
				a.verb = "SET"
			}
			if a.to = constant(g.keyValue(m, name)); g.often(3) {
				a.to.arg = g.scalar()
			}
		case a.verb == "SET":
			a.to = g.source(m, it, p, v, ok)
		case a.verb == "DELETE" && len(p) > 1 || a.verb == "ADD" && p[len(p)-1].name == "" && !ok:
			a.verb = "REMOVE"
		case a.verb == "ADD" && (v.kind == 'N' || !ok && g.often(50)):
			a.to = constant(g.addend())
		case a.verb == "ADD" || a.verb == "DELETE":
			k := v.kind
			if !k.set() || g.often(5) {
				k = pick(g.draw, []kind{'s', 'n', 'b'})
			}
			a.to = constant(g.set(k))
			if v.kind == k && g.often(50) {
				a.to.arg.list = v.list[:g.upTo(1, len(v.list))]
			}
		}
		out = append(out, a)
	}
	return out
}

func (g *generator) addend() value {
	if g.often(10) {
		return g.number(nil)
	}
	return number(fmt.Sprintf("%d.%d", g.IntN(20)-10, g.IntN(3)))
}

// source returns a random right side of SET p. If ok is true, v is the current value at p.
func (g *generator) source(m *model, it item, p path, v value, ok bool) *source {
	constant := func(v value) *source { return &source{arg: v} }
	here := &source{op: "path", path: p}
	switch {
	case v.kind == 'N' && g.often(70) || g.often(5):
		l, r := here, constant(g.addend())
		if !ok || g.often(30) {
			l = &source{op: "if_not_exists", path: p, r: constant(number("0"))}
		}
		if g.often(30) {
			l, r = r, l
		}
		return &source{op: pick(g.draw, []string{"+", "-"}), l: l, r: r}
	case v.kind == isList && g.often(70) || g.often(5):
		l, r := here, constant(value{kind: isList, list: []value{g.scalar()}})
		if !ok || g.often(30) {
			l = &source{op: "if_not_exists", path: p, r: constant(value{kind: isList, list: []value{}})}
		}
		if g.often(30) {
			l, r = r, l
		}
		return &source{op: "list_append", l: l, r: r}
	case g.often(10):
		return &source{op: "if_not_exists", path: p, r: constant(g.document(1))}
	case g.often(10): // the value of another attribute, but not of one that may contain p
		from := attribute(pick(g.draw, []string{"q", "k2"}))
		if p[0] == from[0] {
			break
		}
		return &source{op: "path", path: from}
	}
	if len(p) == 1 {
		return constant(g.whole(p[0].name))
	}
	return constant(g.document(1))
}
