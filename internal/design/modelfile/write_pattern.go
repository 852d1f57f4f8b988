package modelfile

import (
	"go.yaml.in/yaml/v4"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/expr/ast"
)

// writeVerbs maps the members of a pattern that writes, or of a write in a transaction, to their operations.
var writeVerbs = map[string]string{
	"put": model.Put, "update": model.Update, "delete": model.Delete, "check": model.Check,
}

// maxWrites is the largest number of writes in a transaction:
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
const maxWrites = 100

// writeMember returns the member of a pattern that has a single write.
func writeMember(verb string) member {
	o := writeObject(verb)
	return has(verb, special(func(in value, q *model.Pattern) {
		q.Operation = writeVerbs[verb]
		in.addWrite(q, verb, o)
	}, func(q *model.Pattern) *yaml.Node {
		if q.Operation != writeVerbs[verb] || !q.IsWrite() {
			return nil
		}
		return o.write(&q.Writes[0])
	}))
}

// addWrite reads a write and adds it to a pattern.
func (in value) addWrite(q *model.Pattern, verb string, o object[model.Write]) {
	w := model.Write{Operation: writeVerbs[verb]}
	if !o.read(in.called(article(verb)), &w) {
		return
	}
	if len(q.Writes) == 0 {
		q.Entity, q.Table = w.Entity, w.Entity.Table
	}
	q.Writes = append(q.Writes, w)
}

// transactCodec is the codec of the writes of a transaction.
var transactCodec = special(
	func(in value, q *model.Pattern) {
		q.Operation = model.Transaction
		list := in.called("the transaction").list()
		if len(list) == 0 || len(list) > maxWrites {
			in.fail("", "a transaction has 1 to %d writes, not %d", maxWrites, len(list))
			return
		}
		for _, one := range list {
			entries := one.entries()
			if len(entries) != 1 || writeVerbs[entries[0].name] == "" {
				one.fail(
					"write put, update, delete or check, with if and where inside, as in - put: {entity: Order, if: …}",
					"a write of a transaction has one operation",
				)
				continue
			}
			verb := entries[0].name
			entries[0].value.addWrite(q, verb, writeObject(verb))
		}
	}, func(q *model.Pattern) *yaml.Node {
		if q.Operation != model.Transaction || !q.IsWrite() {
			return nil
		}
		n := &yaml.Node{Kind: yaml.SequenceNode}
		for i := range q.Writes {
			w := &q.Writes[i]
			for verb, operation := range writeVerbs {
				if operation == w.Operation {
					n.Content = append(n.Content, put(flowNode(), verb, writeObject(verb).write(w)))
				}
			}
		}
		return n
	})

// writeObject returns the object that describes a write with the given verb.
func writeObject(verb string) object[model.Write] {
	o := object[model.Write]{
		style: yaml.FlowStyle, short: "entity",
		before: func(in value, w *model.Write) bool {
			name := in.get("entity")
			if name.node == nil {
				in.fail("name the entity, as in "+verb+": {entity: Order}", "%s has no entity", in.what)
				return false
			}
			w.Entity = find(name.called("the entity"), in.m.Entities, "unknown entity %s")
			in.entity = w.Entity
			return w.Entity != nil && w.Entity.Table != nil
		},
		after: func(in value, w *model.Write) bool { return in.afterWrite(verb, w) },
		members: []member{
			has("entity", referenceCodec),
			has("where", equalitiesCodec),
		},
	}
	if verb == "update" {
		o.members = append(o.members, has("set", equalitiesCodec))
	}

	o.members = append(o.members,
		has("if", textCodec),
		has("parameters", parametersCodec))
	return o
}

// article returns the verb as a noun with its article, such as "an update".
func article(verb string) string {
	if verb == "update" {
		return "an update"
	}
	return "a " + verb
}

// afterWrite checks conditions on several members of a write.
func (in value) afterWrite(verb string, w *model.Write) bool {
	switch {
	case verb == "update" && len(w.Set) == 0 && in.lacks("set"):
		in.fail("say what it changes, as in set: {status: shipped}", "%s changes nothing", in.what)
	case verb == "check" && w.If == "":
		in.fail("add if: …", "%s has no condition", in.what)
	case w.If != "":
		scan := &model.Pattern{Filter: w.If, Parameters: w.Parameters}
		q := &model.Pattern{Pos: w.Pos, Table: w.Entity.Table, Entity: w.Entity, Writes: []model.Write{*w}}
		in.get("if").expression(q, scan)
	}
	in.used(w.Parameters, "condition", w.If)
	return true
}

// equalitiesCodec is the codec of a mapping from fields of the written entity to values.
var equalitiesCodec = special(func(in value, list *[]model.Condition) {
	of := in.entity
	for _, e := range in.entries() {
		f := of.Field(e.name)
		if f == nil {
			e.key.known(e.name, namesOf(of.Fields), "entity %s has no field %s", of.Name)
			continue
		}
		text, ok := e.called("field " + e.name).text()
		if !ok {
			continue
		}
		if err := encodes(of, f, text); err != nil {
			e.failKey(e.pos(), "field "+e.name, err)
			continue
		}
		*list = append(*list, model.Condition{Pos: e.key.pos(), Field: e.name, Op: ast.Equal, Args: []string{text}})
	}
}, func(list *[]model.Condition) *yaml.Node {
	n := flowNode()
	for _, c := range *list {
		put(n, c.Field, conditionNode(c.Op, c.Args))
	}
	return n
})
