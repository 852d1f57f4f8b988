package modelfile

import (
	"go.yaml.in/yaml/v4"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

func afterExpect(in value, x *model.Expect) bool {
	q := in.pattern
	if q.IsWrite() {
		for name := range in.members {
			if name != "units" && name != "budget" {
				in.get(name).fail("expect units of it", "a pattern that writes has no %s", name)
			}
		}
	}
	if q.Table == nil {
		x.Keys = nil
	}
	if n := in.get("item"); n.node != nil && q.Operation != "GetItem" && q.Operation != "" {
		n.fail("use rows or keys", "only a get can expect an item")
	}
	return true
}

// entityCodec is the codec of the name of an entity of the model.
var entityCodec = checked(func(in value, name string) {
	in.known(name, namesOf(in.m.Entities), "unknown entity %s")
})

var budgets = []string{model.BudgetSample, model.BudgetP95, model.BudgetWorst}

// askedCodec is the codec of the member "asked" of a pattern.
var askedCodec = special(
	func(in value, p *model.Pattern) {
		p.Asked, p.Skew, _ = in.skewed(
			"asked is equally, by_rows or zipf(1.2), not %s", model.AskedEqually, model.AskedByRows,
		)
	},
	func(p *model.Pattern) *yaml.Node { return skewedNode(p.Asked, p.Skew) },
)

var budgetCodec = checked(func(in value, level string) {
	in.known(level, budgets, "budget is sample, p95 or worst, not %s")
})

// itemCodec is the codec of the item that a get must return. The text none means that the get must find no item.
var itemCodec = special(
	func(in value, x *model.Expect) {
		n := in.node
		t := in.pattern.Table
		switch {
		case n == nil:
		case n.Kind == yaml.ScalarNode && n.Value == "none":
			x.NoItem = true
		case t != nil:
			x.Item, _ = in.called("the item").item(t.Kinds())
		}
	},
	func(x *model.Expect) *yaml.Node {
		switch {
		case x.NoItem:
			return textNode("none")
		case x.Item != nil:
			return itemNode(x.Item)
		}
		return nil
	},
)

// rowKeyCodec is the codec of a key of the pattern's table: [pk, sk], or pk if the table has no sort key.
var rowKeyCodec = special(func(in value, k *model.Key) {
	if in.pattern.Table == nil {
		return
	}
	attributes := in.pattern.Table.Keys()
	parts := in.list()
	if len(parts) != len(attributes) {
		want := text.Count(len(attributes), "value")
		in.fail("", "a key of table %s needs %s, not %d", in.pattern.Table.Name, want, len(parts))
		return
	}
	for i, part := range parts {
		if v, ok := part.called(attributes[i].Name).attribute(attributes[i].Kind); ok {
			*k = append(*k, v)
		}
	}
}, func(k *model.Key) *yaml.Node { return listNode(yaml.FlowStyle, *k, valueNode) }).called("a key")
