package modelfile

import (
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/sortkey/sortkey/internal/design/model"
)

// The objects of the format, from the whole file to its parts. To add a member to the format, add an entry to an
// object and a field to its struct. schema.json describes the member to editors.

var modelObject = object[model.Model]{
	sections: map[string]string{
		"tables":   "Tables, their keys and their indexes.",
		"fields":   "Fields in keys. Entities that name the same field share its values.",
		"entities": "Entities: the templates of their attributes, samples, and the number of items to generate.",
		"items":    "Items that no entity describes, by table.",
		"patterns": "Access patterns and their expected results.",
		"allow":    "Accepted findings, with the reasons.",
	},
	before: beforeModel, after: afterModel,
	members: []member{
		needed("%s has no name", addName, has("name", nameCodec)),
		has("about", textCodec),
		has("seed", seedCodec),
		has("tables", tablesCodec),
		has("fields", fieldsCodec),
		has("entities", entitiesOf(draftsCodec)),
		has("items", itemsCodec.optional()),
		has("patterns", patternsCodec),
		has("allow", allowancesCodec),
		has("$schema", codec{}),
	},
}

var tablesCodec = named("table ", startTable, tableObject.codec())

var tableObject = object[model.Table]{
	after: afterTable,
	members: []member{
		needed("%s has no partition key", "add partition: PK",
			has("partition", keysCodec.called("the partition key"))),
		has("sort", keysCodec.called("the sort key")),
		has("indexes", indexesCodec),
		{name: "ttl", field: "TTL", codec: textCodec},
	},
}

var keysCodec = keyOf(keyObject.codec())

var keyObject = object[model.Attribute]{
	style: yaml.FlowStyle, short: "name", before: beforeKey,
	members: []member{
		needed("%s has no name", "write {name: PK, type: S}",
			has("name", textCodec.unread())),
		{name: "type", field: "Kind", codec: keyTypeCodec.without("S").called("the type of a key attribute")},
	},
}

var indexesCodec = named("index ", startIndex, indexObject.codec()).optional()

var indexObject = object[model.Index]{
	style: yaml.FlowStyle, after: afterIndex,
	members: []member{
		has("partition", keysCodec.called("the partition key")),
		has("sort", keysCodec.called("the sort key")),
		has("projection", projectionCodec),
		has("local", flagCodec),
	},
}

var fieldsCodec = named("field ", startField, fieldObject.codec().optional()).optional()

var fieldObject = object[model.Field]{
	style: yaml.FlowStyle, short: "type", before: beforeField, after: afterField,
	members: []member{
		has("type", typeCodec),
		has("values", textsCodec),
		has("distinct", integer(1, 100_000_000)),
		has("distribution", distributionCodec),
		has("size", sizeCodec),
		has("from", textCodec),
		has("to", textCodec),
	},
}

var draftsCodec = named("entity ", startEntity, entityObject.codec()).optional()

var entityObject = object[draft]{
	before: beforeEntity,
	members: []member{
		has("table", referenceCodec),
		has("about", textCodec),
		has("fields", fieldsCodec),
		has("attributes", attributesCodec),
		has("mutable", listOf(yaml.FlowStyle, fieldCodec.called("a mutable field")).later()),
		has("unique", listOf(yaml.FlowStyle, fieldCodec.called("a unique field")).later()),
		has("samples", samplesCodec.optional().later()),
		has("of", parentsCodec),
		has("per", perListCodec),
		has("count", integer(0, 1_000_000_000)),
		has("rates", ratesObject.codec()),
	},
}

var perObject = object[model.Per]{
	style: yaml.FlowStyle, after: afterPer,
	members: []member{
		has("min", perCodec),
		has("p50", perCodec),
		has("p95", perCodec),
		needed("%s has no max", "write {p50: 27, p95: 80, max: 400}", has("max", perCodec)),
	},
}

// perCodec is the codec of a number of items per parent.
var perCodec = integer(0, maxPer)

const maxPer = 1_000_000_000

var ratesObject = object[draft]{
	style: yaml.FlowStyle,
	members: []member{
		has("reads", number(maxRate)),
		has("writes", number(maxRate)),
	},
}

var attributesCodec = named("attribute ", startAttribute, attributeObject.codec()).optional()

var attributeObject = object[attribute]{
	style: yaml.FlowStyle, short: "template",
	before: beforeAttribute, after: afterAttribute,
	members: []member{
		has("template", templateCodec),
		has("type", keyTypeCodec.called("the type of an attribute with a template")),
		has("value", constantCodec),
		has("when", whenCodec),
	},
}

var patternsCodec = listOf(0, patternObject.codec().called("a pattern")).optional()

var patternObject = object[model.Pattern]{
	before: beforePattern, after: afterPattern,
	members: []member{
		needed("the pattern has no name", "add a name such as name: orders of a customer",
			has("name", textCodec.called("the name of a pattern"))),
		has("about", textCodec),
		question("query", "Query", queryObject),
		question("get", "GetItem", getObject),
		question("scan", "Scan", scanObject),
		writeMember("put"),
		writeMember("update"),
		writeMember("delete"),
		has("transact", transactCodec),
		has("rate", number(maxRate)),
		has("asked", askedCodec),
		has("expect", expectObject.codec()),
		has("then", thenCodec),
	},
}

var (
	queryObject = questionObject(
		"entity", "table", "index", "where", "filter", "parameters", "project", "order", "limit", "consistent",
	)
	getObject  = questionObject("entity", "table", "where", "project", "consistent")
	scanObject = questionObject("table", "index", "entity", "filter", "parameters", "project", "limit", "consistent")
)

// questionObject returns an object with the named members of a query.
func questionObject(names ...string) object[model.Pattern] {
	o := object[model.Pattern]{before: beforeQuery, after: afterQuery}
	for _, name := range names {
		i := slices.IndexFunc(questionMembers, func(m member) bool { return m.name == name })
		o.members = append(o.members, questionMembers[i])
	}
	return o
}

// question returns the member of a pattern that describes its request: an operation with conditions on fields.
func question(verb, operation string, o object[model.Pattern]) member {
	return has(verb, special(func(in value, q *model.Pattern) {
		q.Operation = operation
		o.read(in.called("a "+verb), q)
	}, func(q *model.Pattern) *yaml.Node {
		if q.Operation != operation {
			return nil
		}
		if n := o.write(q); n != nil {
			return n
		}
		return flowNode()
	}))
}

// questionMembers are the members of a query. A get and a scan have only some of them.
var questionMembers = []member{
	has("entity", referenceCodec),
	has("table", tableCodec),
	has("index", referenceCodec),
	has("where", whereCodec),
	has("filter", textCodec),
	has("parameters", parametersCodec),
	has("project", textsCodec),
	has("order", orderCodec),
	has("limit", integer(1, 1<<31-1)),
	has("consistent", flagCodec),
}

var expectObject = object[model.Expect]{
	style: yaml.FlowStyle,
	after: afterExpect,
	members: []member{
		has("rows", countCodec),
		has("max_rows", countCodec),
		has("entities", listOf(yaml.FlowStyle, entityCodec.called("an entity"))),
		has("units", number(maxRate)),
		has("pages", countCodec),
		has("waste", number(1)),
		has("budget", budgetCodec),
		has("keys", listOf(0, rowKeyCodec)),
		has("ties", flagCodec),
		has("item", itemCodec),
		has("error", textCodec),
	},
}

var countCodec = integer(0, 1<<40)

var allowancesCodec = listOf(0, allowanceObject.codec().called("an allowance")).optional()

var allowanceObject = object[model.Allowance]{
	style: yaml.FlowStyle,
	after: afterAllowance,
	members: []member{
		needed("the allowance has no rule", "name the rule, as in rule: natural-order",
			has("rule", ruleCodec.called("the rule"))),
		has("on", subjectCodec),
		has("why", textCodec),
	},
}
