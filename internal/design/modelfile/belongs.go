package modelfile

import (
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/sortkey/sortkey/internal/design/model"
)

// parentsCodec is the codec of the names of an entity's parents. A parent may come later in the file.
var parentsCodec = special(
	readParents,
	func(d *draft) *yaml.Node {
		return oneOrList(d.Parents, func(p model.Parent) *yaml.Node { return textNode(p.Entity.Name) })
	},
).linked()

func readParents(in value, d *draft) {
	list := in.list()
	if len(list) > 2 {
		in.fail("keep those whose keys it carries", "entity %s belongs to more than two entities", d.Name)
		return
	}
	for _, one := range list {
		p := find(one, in.m.Entities, "unknown entity %s")
		switch {
		case p == nil:
		case len(d.Parents) > 0 && d.Parents[0].Entity == p:
			one.fail("keep one of them", "entity %s belongs to %s twice", d.Name, p.Name)
		default:
			d.Parents = append(d.Parents, model.Parent{Entity: p})
		}
	}
}

// perListCodec is the codec of the numbers of items per parent, in the order of the parents.
var perListCodec = special(
	readPerList,
	func(d *draft) *yaml.Node {
		if !slices.ContainsFunc(d.Parents, func(p model.Parent) bool { return p.Per != model.Per{} }) {
			return nil
		}
		return oneOrList(d.Parents, func(p model.Parent) *yaml.Node { return perNode(&p.Per) })
	},
).later()

func readPerList(in value, d *draft) {
	list := in.list()
	switch {
	case len(list) > len(d.Parents) && len(d.Parents) == 0:
		in.fail("say to what, as in of: Project", "entity %s has per, but belongs to nothing", d.Name)
		return
	case len(list) != len(d.Parents):
		in.fail(
			"write them in the same order; even stands for a number that follows from the counts",
			"entity %s: of and per are lists of different lengths", d.Name,
		)
		return
	}
	for i, one := range list {
		readPer(one, &d.Parents[i].Per)
	}
}

// oneOrList returns a node for a list. A list of one element becomes the node of that element.
func oneOrList[T any](list []T, node func(T) *yaml.Node) *yaml.Node {
	switch len(list) {
	case 0:
		return nil
	case 1:
		return node(list[0])
	}
	return listNode(yaml.FlowStyle, list, node)
}

// evenly is the text of a number per parent that the parser computes from the counts of the entities.
const evenly = "even"

func readPer(in value, p *model.Per) {
	n := in.node
	if n == nil {
		return
	}
	if n.Kind == yaml.MappingNode {
		perObject.read(in, p)
		return
	}

	s, ok := in.text()
	if !ok || s == evenly {
		return
	}
	if skew, ok := in.zipf(s); ok {
		p.Skew = skew
		return
	}

	if p.Min, p.Max, ok = in.spanOf(s, maxPer); !ok {
		in.fail(
			"such as 27, 5..50, {p50: 27, max: 400}, zipf(1.1) or even",
			"per of %s must be a number, a range or a distribution, not %s", in.entity.Name, clip(s),
		)
		return
	}

	afterPer(in, p)
}

// afterPer adds an error if the numbers in per do not ascend, or if per allows no items.
func afterPer(in value, p *model.Per) bool {
	switch {
	case p.Max > 0 && !p.Ascending():
		in.fail("", "the numbers in per of %s do not ascend", in.entity.Name)
	case p.Max == 0 && (in.members == nil || !in.lacks("max")):
		in.fail("write a number from 1 on", "per of %s allows no items", in.entity.Name)
	}
	return true
}

func perNode(p *model.Per) *yaml.Node {
	s := p.String()
	switch {
	case *p == model.Per{}:
		return textNode(evenly)
	case s != "":
		return textNode(s)
	}
	return perObject.write(p)
}

// checkParents checks the parents of all entities, and sets the counts that follow from other counts.
func (p *parser) checkParents() {
	if len(p.errs) > 0 {
		return
	}
	p.errs = append(p.errs, p.m.SettleCounts()...)
}
