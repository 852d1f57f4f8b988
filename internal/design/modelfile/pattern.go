package modelfile

import (
	"errors"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

// verbs are the members of a pattern that describe its request. The first three read.
var verbs = []string{"query", "get", "scan", "put", "update", "delete", "transact"}

func beforePattern(in value, q *model.Pattern) bool {
	n := in.node
	if n == nil || n.Kind != yaml.MappingNode {
		return false
	}
	in.pattern = q
	asked := 0
	for _, verb := range verbs {
		if in.members[verb] != nil {
			asked++
		}
	}
	if asked != 1 {
		name := ""
		if n := in.get("name").node; n != nil {
			name = n.Value
		}
		in.fail(
			"use one of "+text.Join(verbs, "and"), "%s has %d requests, not 1",
			strings.TrimSpace("pattern "+clip(name)), asked,
		)
	}
	return asked == 1
}

// afterPattern reports whether the pattern has a request.
func afterPattern(in value, q *model.Pattern) bool {
	reads := func(verb string) bool { return in.members[verb] != nil }
	return q.IsWrite() || slices.ContainsFunc(verbs[:3], reads)
}

// beforeQuery finds the entity, the table and the index, which reading the other members requires.
func beforeQuery(in value, q *model.Pattern) bool {
	if in.members["entity"] != nil {
		q.Entity = find(in.get("entity").called("the entity"), in.m.Entities, "unknown entity %s")
		if q.Entity == nil {
			return false
		}
	}
	if q.Entity != nil && in.members["table"] == nil {
		q.Table = q.Entity.Table
	} else {
		q.Table = in.tableOf(in.pos())
	}
	if q.Table == nil {
		return false
	}
	if q.Entity != nil && q.Entity.Table != nil && q.Entity.Table != q.Table {
		in.get("table").fail(
			"remove the table", "entity %s is in table %s, not %s", q.Entity.Name, q.Entity.Table.Name, q.Table.Name,
		)
	}
	if in.members["index"] != nil {
		index := in.get("index").called("the index")
		q.Index = find(index, q.Table.Indexes, "table %s has no index %s", q.Table.Name)
	}
	return true
}

func afterQuery(in value, q *model.Pattern) bool {
	in.get("filter").expression(q, &model.Pattern{Filter: q.Filter, Parameters: q.Parameters})
	in.used(q.Parameters, "filter", q.Filter)
	in.get("project").expression(q, &model.Pattern{Project: q.Project})
	return true
}

// expression checks a filter or a projection of the pattern q by compiling it in a scan of the items that q reads.
// The pattern scan has only the expression; expression sets the rest.
func (in value) expression(q, scan *model.Pattern) {
	if in.node == nil {
		return
	}
	scan.Pos, scan.Operation, scan.Table, scan.Index, scan.Entity = q.Pos, "Scan", q.Table, q.Index, q.Entity
	request, err := compile.Pattern(scan)
	if err == nil {
		in.checkFilter(q, request)
		return
	}
	msg, hint := compileText(err)
	if q.IsWrite() {
		msg = strings.ReplaceAll(msg, "FilterExpression", "ConditionExpression")
	}
	in.fail(hint, "%s", msg)
}

var parameterNames = text.Pattern(`^[\pL_][\pL\pN_]*$`)

// placeholderNames matches the generated placeholders of values, such as v1.
var placeholderNames = text.Pattern(`^v[0-9]+$`)

// parametersCodec is the codec of the values of the parameters of a filter or a condition.
var parametersCodec = special(
	func(in value, it *attr.Item) {
		var ok bool
		if *it, ok = in.item(nil); !ok {
			return
		}
		for _, e := range in.entries() {
			v := it.Get(e.name)
			switch {
			case !parameterNames().MatchString(e.name) || placeholderNames().MatchString(e.name):
				e.key.fail(
					"names consist of letters, digits and _, and are not v with a number",
					"%s is not the name of a parameter", clip(e.name),
				)
			case v.Kind() != attr.String && v.Kind() != attr.Number && v.Kind() != attr.Binary:
				e.fail("write the value itself", "parameter %s is neither a text, a number nor binary", e.name)
			}
		}
	},
	func(it *attr.Item) *yaml.Node { return itemNode(*it) },
)

// used reports an error for each parameter that the expression does not use.
func (in value) used(parameters attr.Item, what, expression string) {
	for name := range parameters.All() {
		if !slices.Contains(parametersIn().FindAllString(expression, -1), ":"+string(name)) {
			in.get("parameters").fail("write :"+string(name), "the %s does not use parameter %s", what, name)
		}
	}
}

var parametersIn = text.Pattern(`:[\pL\pN_]+`)

// compileText returns the message and the advice of an error of package compile.
func compileText(err error) (msg, hint string) {
	if c, ok := errors.AsType[*compile.Error](err); ok {
		return c.Msg, c.Advice
	}
	return err.Error(), ""
}

// tableCodec writes the table of a pattern if it is not the table of the pattern's entity.
var tableCodec = special(nil, func(q *model.Pattern) *yaml.Node {
	if q.Table == nil || q.Entity != nil && q.Entity.Table == q.Table {
		return nil
	}
	return textNode(q.Table.Name)
}).unread()

// orderCodec is the codec of the order of the rows.
var orderCodec = special(func(in value, q *model.Pattern) {
	word, ok := in.text()
	q.Ordered = ok && in.oneOf(word, orders)
	q.Descending = word == "desc"
}, func(q *model.Pattern) *yaml.Node {
	switch {
	case q.Descending:
		return textNode("desc")
	case q.Ordered:
		return textNode("asc")
	}
	return nil
})

var orders = []string{"asc", "desc"}

// thenCodec is the codec of the entity whose items a batch reads after the query.
var thenCodec = special(func(in value, q *model.Pattern) {
	e := find(in.called("the entity of then"), in.m.Entities, "unknown entity %s")
	switch {
	case e == nil || e.Table == nil:
	case q.Operation != "Query" && q.Operation != "Scan":
		in.fail("read the other item with a get of its own", "then follows the rows of a query or a scan")
	default:
		q.Then = e
	}
}, func(q *model.Pattern) *yaml.Node {
	if q.Then == nil {
		return nil
	}
	return textNode(q.Then.Name)
})
