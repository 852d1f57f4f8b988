package modelfile

import (
	"reflect"

	"go.yaml.in/yaml/v4"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/wire"
)

func startTable(key value, t *model.Table) bool {
	key.table = t
	key.checkName(t.Name, "table")
	return true
}

func startIndex(key value, x *model.Index) bool {
	x.Projection = "ALL"
	key.checkName(x.Name, "index")
	return true
}

func (in value) checkName(name, what string) {
	if !wire.ValidName(name) {
		in.fail("3 to 255 letters, digits, and _ - .", "%s is not a valid %s name", clip(name), what)
	}
}

func afterTable(in value, t *model.Table) bool {
	in.limitKeys(1, &t.Partition, &t.Sort)
	in.checkKinds(t)
	return true
}

func afterIndex(in value, x *model.Index) bool {
	t, most := in.table, 4
	if x.Local {
		most = 1
	}
	in.limitKeys(most, &x.Partition, &x.Sort)
	switch {
	case in.lacks("partition") && x.Local:
		x.Partition = t.Partition
	case in.lacks("partition"):
		in.failAt(x.Pos, "add partition: GSI1PK", "%s has no partition key", in.what)
	case x.Local && len(x.Partition) == 1 && len(t.Partition) == 1 && x.Partition[0] != t.Partition[0]:
		in.get("partition").fail(
			"leave it out", "the local %s must have the partition key of its table, %s, not %s", in.what,
			t.Partition[0].Name, x.Partition[0].Name,
		)
	}
	if x.Local && in.lacks("sort") {
		in.failAt(x.Pos, "add sort: …", "the local %s has no sort key", in.what)
	}
	if x.Local && len(t.Sort) == 0 {
		in.failAt(x.Pos, "", "a local index needs a table with a sort key, but %s has none", t.Name)
	}
	return true
}

// limitKeys reports an error if the partition key or the sort key has more than most attributes.
func (in value) limitKeys(most int, partition, sort *[]model.Attribute) {
	for name, list := range map[string]*[]model.Attribute{"partition": partition, "sort": sort} {
		if len(*list) <= most {
			continue
		}
		hint := ""
		if most == 1 {
			hint = "only global indexes can have keys of several attributes"
		}
		in.get(name).fail(hint, "the %s key has %d attributes, and the limit is %d", name, len(*list), most)
		*list = (*list)[:most]
	}
}

// keyOf returns the codec of a key: one attribute or a list of them.
func keyOf(attribute codec) codec {
	key := listOf(yaml.FlowStyle, attribute)
	list := key.write
	key.write = func(v reflect.Value) *yaml.Node {
		if v.Len() == 1 {
			return attribute.write(v.Index(0))
		}
		return list(v)
	}
	return key
}

func beforeKey(in value, a *model.Attribute) bool {
	name := in.get("name")
	if !in.short {
		name.what = "the name of " + in.what
	}
	a.Kind = attr.String
	ok := false
	if a.Name, ok = name.text(); ok && (a.Name == "" || len(a.Name) > 255) {
		in.fail("", "the name of %s must have 1 to 255 bytes", in.what)
	}
	return a.Name != ""
}

// keyTypeCodec is the codec of the type of a key attribute.
var keyTypeCodec = scalar(func(in value, s string) attr.Kind {
	in.oneOf(s, keyTypes)
	kind, _ := attr.ParseKind(s)
	return kind
})

var keyTypes = []string{"S", "N", "B"}

// projectionCodec is the codec of a projection: all, keys, or a list of attributes.
var projectionCodec = special(
	func(in value, x *model.Index) {
		if n := in.node; n != nil && n.Kind == yaml.SequenceNode {
			x.Projection, x.Include = "INCLUDE", in.texts()
		} else if word, ok := in.text(); ok && in.oneOf(word, projections) && word == "keys" {
			x.Projection = "KEYS_ONLY"
		}
	},
	func(x *model.Index) *yaml.Node {
		switch x.Projection {
		case "KEYS_ONLY":
			return textNode("keys")
		case "INCLUDE":
			return listNode(yaml.FlowStyle, x.Include, textNode)
		}
		return nil
	},
)

var projections = []string{"all", "keys"}

// checkKinds checks that each key attribute of a table has the same type in all keys, and that CreateTable would
// accept the table.
func (p *parser) checkKinds(t *model.Table) {
	before := len(p.errs)
	kinds := map[string]attr.Kind{}
	look := func(pos model.Pos, what string, list []model.Attribute) {
		for _, a := range list {
			if k, ok := kinds[a.Name]; ok && k != a.Kind {
				p.failAt(
					pos, "write {name: "+a.Name+", type: "+k.String()+"}",
					"%s has %s with type %s, but another key has it with type %s", what, a.Name, a.Kind, k,
				)
			} else {
				kinds[a.Name] = a.Kind
			}
		}
	}
	look(t.Pos, "table "+t.Name, t.Keys())
	for _, x := range t.Indexes {
		look(x.Pos, "index "+x.Name, x.Keys())
	}
	if len(p.errs) > before || len(t.Partition) == 0 {
		return
	}
	if err := t.Definition().Check(); err != nil {
		p.failAt(t.Pos, "", "cannot create table %s: %v", t.Name, err)
	}
}
