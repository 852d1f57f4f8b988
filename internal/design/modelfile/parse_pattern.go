package modelfile

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/model"

	"go.yaml.in/yaml/v4"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/ast"
	"github.com/sortkey/sortkey/internal/text"
)

func (p *parser) patterns(n *yaml.Node) {
	if !p.present(n) {
		return
	}
	if m := p.deref(n); m != nil && m.Kind == yaml.MappingNode && !mapped(m, "name") {
		p.fail(
			n, "write each pattern as an element: - name: orders of a customer",
			"patterns must be a list, not a mapping of names",
		)
		return
	}
	names := map[string]int{}
	for _, e := range p.list(n, "patterns") {
		q := p.pattern(e)
		if q == nil {
			continue
		}
		if line, ok := names[q.Name]; ok && q.Name != "" {
			p.failAt(
				q.Pos, "give each its own name", "two patterns are named %s; the first is on line %d", clip(q.Name),
				line,
			)
		}
		names[q.Name] = q.Pos.Line
		p.m.Patterns = append(p.m.Patterns, q)
	}
}

var verbs = []string{"query", "get", "scan", "request"}

func (p *parser) pattern(n *yaml.Node) *model.Pattern {
	if n = p.deref(n); n == nil {
		return nil
	}
	q := &model.Pattern{Pos: p.pos(n)}
	o := p.object(n, "a pattern", append([]string{"name", "about", "rate", "expect"}, verbs...)...)
	if n.Kind != yaml.MappingNode {
		return nil
	}
	if o["name"] != nil {
		q.Name, _ = p.text(o["name"], "the name of a pattern")
	} else {
		p.fail(n, "add a name such as name: orders of a customer", "the pattern has no name")
	}
	if o["about"] != nil {
		q.About, _ = p.text(o["about"], "about")
	}
	if o["rate"] != nil {
		q.Rate = p.number(o["rate"], "rate")
	}
	var asked []string
	for _, verb := range verbs {
		if o[verb] != nil {
			asked = append(asked, verb)
		}
	}
	if len(asked) != 1 {
		p.fail(
			n, "use one of query, get, scan and request", "%s has %d requests, not 1",
			strings.TrimSpace("pattern "+clip(q.Name)), len(asked),
		)
		return nil
	}
	ok := true
	switch asked[0] {
	case "query":
		q.Operation = "Query"
		p.query(
			q, o["query"], "a query", "entity", "table", "index", "where", "filter", "project", "order", "limit",
			"consistent",
		)
	case "get":
		q.Operation = "GetItem"
		p.query(q, o["get"], "a get", "entity", "table", "where", "project", "consistent")
	case "scan":
		q.Operation = "Scan"
		p.query(q, o["scan"], "a scan", "table", "index", "entity", "filter", "project", "limit", "consistent")
	case "request":
		ok = p.request(q, o["request"])
	}
	if o["expect"] != nil {
		p.expect(q, o["expect"])
	}
	if !ok {
		return nil
	}
	return q
}

func (p *parser) query(q *model.Pattern, n *yaml.Node, what string, known ...string) {
	o := p.object(n, what, known...)
	if e := o["entity"]; e != nil {
		if name, ok := p.text(e, "the entity"); ok {
			if q.Entity = p.m.Entity(name); q.Entity == nil {
				var names []string
				for _, e := range p.m.Entities {
					names = append(names, e.Name)
				}
				p.fail(e, text.DidYouMean(name, names), "unknown entity %s", clip(name))
				return
			}
		}
	}
	if q.Entity != nil && o["table"] == nil {
		q.Table = q.Entity.Table
	} else {
		q.Table = p.tableNamed(o["table"], n, what)
	}
	if q.Table == nil {
		return
	}
	if q.Entity != nil && q.Entity.Table != nil && q.Entity.Table != q.Table {
		p.fail(
			o["table"], "remove the table", "entity %s is in table %s, not %s", q.Entity.Name, q.Entity.Table.Name,
			q.Table.Name,
		)
	}
	if x := o["index"]; x != nil {
		q.Index = p.indexNamed(q.Table, x)
	}
	if o["where"] != nil {
		p.where(q, o["where"])
	}
	if q.Operation != "Scan" && len(q.Where) == 0 && (q.Entity == nil || o["where"] == nil) {
		// An entity with a constant partition key needs no condition.
		if need := needs(q); len(need) > 0 {
			p.fail(n, "add where: {"+strings.Join(need, ": …, ")+": …}", "%s has no where", what)
		}
	}
	if o["filter"] != nil {
		q.Filter, _ = p.text(o["filter"], "filter")
	}
	if o["project"] != nil {
		q.Project = p.texts(o["project"], "project")
	}
	if o["order"] != nil {
		q.Ordered = true
		q.Descending = p.choice(o["order"], "order", "asc", "desc") == "desc"
	}
	if o["limit"] != nil {
		q.Limit = p.integer(o["limit"], "limit", 1, 1<<31-1)
	}
	if o["consistent"] != nil {
		q.Consistent = p.flag(o["consistent"], "consistent")
	}
	p.expressions(q, o)
}

// needs returns the fields of the entity, or the key attributes, that a pattern
// must give.
func needs(q *model.Pattern) (all []string) {
	list := q.Table.Partition
	switch {
	case q.Index != nil:
		list = q.Index.Partition
	case q.Operation == "GetItem":
		list = q.Table.Keys()
	}
	for _, a := range list {
		var t *model.Template
		if q.Entity != nil {
			t = q.Entity.Attribute(a.Name)
		}
		switch {
		case t == nil:
			all = append(all, a.Name)
		case t.Template != nil:
			for _, name := range t.Template.Components() {
				if !slices.Contains(all, name) {
					all = append(all, name)
				}
			}
		}
	}
	return all
}

// expressions compiles the filter and the projection to check them.
func (p *parser) expressions(q *model.Pattern, o map[string]*yaml.Node) {
	for _, name := range []string{"filter", "project"} {
		probe := &model.Pattern{Pos: q.Pos, Operation: "Scan", Table: q.Table, Index: q.Index, Entity: q.Entity}
		switch name {
		case "filter":
			probe.Filter = q.Filter
		case "project":
			probe.Project = q.Project
		}
		if o[name] == nil {
			continue
		}
		in, err := compile.Pattern(p.m, probe)
		if err != nil {
			msg, hint := err.Error(), ""
			if c, ok := errors.AsType[*compile.Error](err); ok {
				msg, hint = c.Msg, c.Advice
			}
			p.fail(o[name], hint, "%s", msg)
		} else if name == "filter" {
			p.checkFilter(q, o[name], in)
		}
	}
}

func (p *parser) indexNamed(t *model.Table, n *yaml.Node) *model.Index {
	name, ok := p.text(n, "the index")
	if !ok {
		return nil
	}
	x := t.Index(name)
	if x == nil {
		var names []string
		for _, x := range t.Indexes {
			names = append(names, x.Name)
		}
		p.fail(n, text.DidYouMean(name, names), "table %s has no index %s", t.Name, clip(name))
	}
	return x
}

var operators = []string{"=", "<", "<=", ">", ">=", "between", "begins_with"}

// where reads conditions on fields and key attributes.
func (p *parser) where(q *model.Pattern, n *yaml.Node) {
	keyNames := map[string]bool{}
	list := q.Table.Keys()
	if q.Index != nil {
		list = append(q.Index.Keys(), list...)
	}
	var known []string
	if q.Entity != nil {
		known = fieldNames(q.Entity.Fields)
	}
	for _, a := range list {
		keyNames[a.Name] = true
		known = append(known, a.Name)
	}
	for _, m := range p.members(n, "where") {
		f := (*model.Field)(nil)
		if q.Entity != nil {
			f = q.Entity.Field(m.name)
		}
		if f == nil && !keyNames[m.name] {
			what := "table " + q.Table.Name + " has no key attribute "
			if q.Entity != nil {
				what = "entity " + q.Entity.Name + " has no field "
			} else if anyField(p.m, m.name) {
				known = []string{}
				what = "a condition on a field needs the entity of the field: "
			}
			p.fail(m.key, text.DidYouMean(m.name, known), "%s%s", what, clip(m.name))
			continue
		}
		c, ok := p.condition(m)
		if !ok {
			continue
		}
		for _, arg := range c.Args {
			if f == nil || c.Op == ast.OpBeginsWith {
				continue
			}
			if err := encodes(q.Entity, f, arg); err != nil {
				p.failKey(p.pos(m.value), "field "+m.name, err)
			}
		}
		q.Where = append(q.Where, c)
	}
}

// encodes returns an error for a value that no template can encode. A value can
// fit another type than that of the field: a date can be a month in the key of
// an index.
func encodes(e *model.Entity, f *model.Field, text string) error {
	_, err := f.Type.Encode(text)
	if err == nil {
		return nil
	}
	for _, t := range e.Attributes {
		if t.Template == nil {
			continue
		}
		for _, part := range t.Template.Parts() {
			if part.Name != f.Name {
				continue
			}
			if _, bad := part.Type.Encode(text); bad == nil {
				return nil
			}
		}
	}
	return err
}

func anyField(m *model.Model, name string) bool {
	if slices.Contains(fieldNames(m.Fields), name) {
		return true
	}
	for _, e := range m.Entities {
		if e.Field(name) != nil {
			return true
		}
	}
	return false
}

// condition reads a value, which means =, or {begins_with: x}, {between: [a,
// b]} and so on.
func (p *parser) condition(m member) (model.Condition, bool) {
	c := model.Condition{Pos: p.pos(m.key), Field: m.name, Op: ast.Equal}
	v := p.deref(m.value)
	if v == nil {
		return c, false
	}
	if v.Kind == yaml.ScalarNode {
		s, ok := p.text(v, "the condition on "+m.name)
		c.Args = []string{s}
		return c, ok
	}
	if v.Kind == yaml.SequenceNode {
		p.fail(
			v,
			"a query reads one range: write a range as {between: [low, high]}, and several values as several patterns",
			"the condition on %s is a list", m.name,
		)
		return c, false
	}
	all := p.members(v, "the condition on "+m.name)
	if len(all) != 1 {
		if v.Kind == yaml.MappingNode {
			p.fail(
				v, "write a range as {between: [low, high]}", "the condition on %s has %d operators, not 1", m.name,
				len(all),
			)
		}
		return c, false
	}
	op := all[0]
	if !slices.Contains(operators, op.name) {
		hint := text.DidYouMean(op.name, operators)
		if strings.Contains("<> != in or not contains", strings.ToLower(op.name)) {
			hint = "a query reads one range: write a pattern for each value, or use filter for an attribute outside the key"
		}
		p.fail(op.key, hint, "unknown condition %s on a key", clip(op.name))
		return c, false
	}
	c.Op = ast.Op(op.name)
	want := 1
	if op.name == "between" {
		c.Op, want = ast.OpBetween, 2
	}
	c.Args = p.texts(op.value, op.name)
	if len(c.Args) != want {
		p.fail(op.value, "", "%s needs %d values, not %d", op.name, want, len(c.Args))
		return c, false
	}
	return c, true
}

// request reads a raw request with its operation.
func (p *parser) request(q *model.Pattern, n *yaml.Node) bool {
	members := p.members(n, "a request")
	body := &yaml.Node{Kind: yaml.MappingNode}
	for _, m := range members {
		if m.name == "operation" {
			q.Operation = p.choice(m.value, "operation", "Query", "GetItem", "Scan")
			continue
		}
		body.Content = append(body.Content, m.key, m.value)
		switch m.name {
		case "TableName":
			if name, ok := p.text(m.value, "TableName"); ok {
				if q.Table = p.m.Table(name); q.Table == nil {
					p.fail(m.value, text.DidYouMean(name, p.tableNames()), "unknown table %s", clip(name))
				}
			}
		}
	}
	if q.Operation == "" && len(members) > 0 {
		p.fail(n, "add operation: Query", "the request has no operation")
	}
	for _, m := range members {
		if m.name == "IndexName" && q.Table != nil {
			if name, ok := p.text(m.value, "IndexName"); ok {
				q.Index = q.Table.Index(name) // the service refuses an unknown index
			}
		}
	}
	text, ok := p.json(nil, body, "the request", false, 0)
	q.Request = json.RawMessage(text)
	return ok && q.Operation != ""
}

// json appends a node as JSON. Under a type of DynamoDB JSON a scalar is text,
// except for BOOL and NULL.
func (p *parser) json(dst []byte, n *yaml.Node, what string, asText bool, depth int) ([]byte, bool) {
	if n = p.deref(n); n == nil {
		return dst, false
	}
	if depth > maxDepth {
		p.fail(n, "", "%s is nested more than %d deep", what, maxDepth)
		return dst, false
	}
	good := true
	switch n.Kind {
	case yaml.MappingNode:
		dst = append(dst, '{')
		members := p.members(n, what)
		for i, m := range members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendJSONString(dst, m.name)
			dst = append(dst, ':')
			kind, isType := attr.ParseKind(m.name)
			var ok bool
			dst, ok = p.json(
				dst, m.value, what, isType && len(members) == 1 && kind != attr.Bool && kind != attr.Null, depth+1,
			)
			good = good && ok
		}
		return append(dst, '}'), good
	case yaml.SequenceNode:
		dst = append(dst, '[')
		for i, e := range n.Content {
			if i > 0 {
				dst = append(dst, ',')
			}
			var ok bool
			dst, ok = p.json(dst, e, what, asText, depth+1)
			good = good && ok
		}
		return append(dst, ']'), good
	}
	if !asText {
		switch n.ShortTag() {
		case "!!bool":
			return append(dst, strings.ToLower(n.Value)...), true
		case "!!null":
			return append(dst, "null"...), true
		case "!!int", "!!float":
			if json.Valid([]byte(n.Value)) {
				return append(dst, n.Value...), true
			}
		}
	}
	return appendJSONString(dst, n.Value), true
}

func appendJSONString(dst []byte, s string) []byte {
	text, err := json.Marshal(s)
	if err != nil {
		return append(dst, `""`...)
	}
	return append(dst, text...)
}

func (p *parser) expect(q *model.Pattern, n *yaml.Node) {
	x := &q.Expect
	x.Pos = p.pos(p.deref(n))
	o := p.object(
		n, "expect", "rows", "max_rows", "entities", "units", "pages", "waste", "budget", "keys", "ties", "item",
		"error",
	)
	count := func(name string) *int {
		if o[name] == nil {
			return nil
		}
		v := p.integer(o[name], name, 0, 1<<40)
		return &v
	}
	share := func(name string) *float64 {
		if o[name] == nil {
			return nil
		}
		v := p.number(o[name], name)
		return &v
	}
	x.Rows, x.MaxRows, x.Pages = count("rows"), count("max_rows"), count("pages")
	x.Units, x.Waste = share("units"), share("waste")
	if x.Waste != nil && *x.Waste > 1 {
		p.fail(o["waste"], "0.1 is a tenth", "waste must be from 0 to 1")
	}
	if o["budget"] != nil {
		levels := []string{model.BudgetSample, model.BudgetP95, model.BudgetWorst}
		if x.Budget, _ = p.text(o["budget"], "budget"); !slices.Contains(levels, x.Budget) {
			p.fail(
				o["budget"], text.DidYouMean(x.Budget, levels), "budget is sample, p95 or worst, not %s",
				clip(x.Budget),
			)
		}
	}
	if e := o["entities"]; e != nil {
		for _, n := range p.list(e, "entities") {
			name, ok := p.text(n, "an entity")
			if !ok {
				continue
			}
			if p.m.Entity(name) == nil {
				var names []string
				for _, e := range p.m.Entities {
					names = append(names, e.Name)
				}
				p.fail(n, text.DidYouMean(name, names), "unknown entity %s", clip(name))
			}
			x.Entities = append(x.Entities, name)
		}
	}
	if o["ties"] != nil {
		x.Ties = p.flag(o["ties"], "ties")
	}
	if o["keys"] != nil && q.Table != nil {
		x.Keys = p.keyList(q.Table, o["keys"])
	}
	if it := p.deref(o["item"]); it != nil {
		if it.Kind == yaml.ScalarNode && it.Value == "none" {
			x.NoItem = true
		} else if q.Table != nil {
			x.Item, _ = p.itemOf(it, "the item", q.Table.Kinds())
		}
		if q.Operation != "GetItem" && q.Operation != "" {
			p.fail(it, "use rows or keys", "only a get can expect an item")
		}
	}
	if o["error"] != nil {
		x.Error, _ = p.text(o["error"], "error")
	}
}

// keyList reads [[pk, sk], …], or [pk, …] for a table without a sort key.
func (p *parser) keyList(t *model.Table, n *yaml.Node) []model.Key {
	attributes := t.Keys()
	all := []model.Key{}
	for _, e := range p.list(n, "keys") {
		var k model.Key
		parts := p.list(e, "a key")
		if len(parts) != len(attributes) {
			p.fail(e, "", "a key of table %s needs %d values, not %d", t.Name, len(attributes), len(parts))
			continue
		}
		for i, part := range parts {
			if v, ok := p.value(part, attributes[i].Name, attributes[i].Kind); ok {
				k = append(k, v)
			}
		}
		if len(k) == len(attributes) {
			all = append(all, k)
		}
	}
	return all
}
