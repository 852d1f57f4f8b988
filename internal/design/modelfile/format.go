package modelfile

import (
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/sortkey/sortkey/internal/design/model"
)

// The objects of the format, from the whole file to its parts. An entry in one of them and a
// field of its struct are all that a member needs to be read, written and in the schema.

var modelObject = object[model.Model]{
	sections: true, also: schema{"required": []string{"name", "tables"}},
	before: beforeModel, after: afterModel,
	members: []member{
		needed("%s has no name", addName, has("name", "Lower-case words joined by hyphens.", nameCodec)),
		has("about", "A sentence or two.", textCodec),
		has("seed", "The seed of generated values; equal seeds give equal items.", seedCodec),
		has("tables", "Tables, their keys and their indexes.", tablesCodec),
		has("fields", "Fields in keys. Entities that name the same field share its values.", fieldsCodec),
		has("entities", "Entities: the templates of their attributes, samples, and the number of items to generate.",
			entitiesOf(draftsCodec)),
		has("items", "Items that no entity describes, by table.", itemsCodec.optional()),
		has("patterns", "Access patterns and their expected results.", patternsCodec),
		has("allow", "Accepted findings, with the reasons.", allowancesCodec),
		has("$schema", "", codec{schema: schema{"type": "string"}}),
	},
}

var tablesCodec = named("table ", startTable, tableObject.codec())

var tableObject = object[model.Table]{
	name: "table", after: afterTable,
	members: []member{
		needed("%s has no partition key", "add partition: PK",
			has("partition", "The attribute of the partition key.", keysCodec.called("the partition key"))),
		has("sort", "The attribute of the sort key.", keysCodec.called("the sort key")),
		has("indexes", "Indexes by name.", indexesCodec),
		{name: "ttl", help: "The attribute with the time at which an item expires.", field: "TTL", codec: textCodec},
	},
}

var keysCodec = keyOf(keyObject.codec())

var keyObject = object[model.Attribute]{
	name: "key", style: yaml.FlowStyle, short: "name", before: beforeKey,
	members: []member{
		needed("%s has no name", "write {name: PK, type: S}",
			has("name", "The name of the attribute.", textCodec.unread())),
		{
			name: "type", help: "The type of the attribute.", field: "Kind",
			codec: keyTypeCodec.with("default", "S").called("the type of a key attribute"),
		},
	},
}

var indexesCodec = named("index ", startIndex, indexObject.codec()).optional()

var indexObject = object[model.Index]{
	name: "index", style: yaml.FlowStyle, after: afterIndex,
	members: []member{
		has("partition", "The attributes of the partition key, up to four.",
			indexPartition(keysCodec.called("the partition key"))),
		has("sort", "The attributes of the sort key, up to four.", keysCodec.called("the sort key")),
		has("projection", "The attributes in the index besides keys.", projectionCodec),
		has("local", "A local index has the partition key of its table.", flagCodec),
	},
}

var fieldsCodec = named("field ", startField, fieldObject.codec().optional()).optional()

var fieldObject = object[model.Field]{
	name: "field", style: yaml.FlowStyle, short: "type", before: beforeField, after: afterField,
	members: []member{
		has("type", "", typeCodec),
		has("values", "All possible values; one listed twice is twice as frequent.", textsCodec),
		has("distinct", "The number of different values.", integer(1, 100_000_000)),
		has("distribution", "The distribution of the values.", distributionCodec),
		has("size", "Bytes of generated text, such as 20 or 20..200.", sizeCodec),
		has("from", "The lowest generated number or time.", textCodec),
		has("to", "The highest generated number or time.", textCodec),
	},
}

var draftsCodec = named("entity ", startEntity, entityObject.codec()).optional()

var entityObject = object[draft]{
	name: "entity", before: beforeEntity,
	members: []member{
		has("table", "The table of its items. Default: the only one.", referenceCodec),
		has("about", "A sentence or two.", textCodec),
		has("fields", "Fields of its own.", fieldsCodec),
		has("attributes", "Templates and constants by attribute.", attributesCodec),
		has("mutable", "Fields that change during the life of an item.",
			listOf(yaml.FlowStyle, fieldCodec.called("a mutable field")).later()),
		has("unique", "Fields of which no two of its items have the same value.",
			listOf(yaml.FlowStyle, fieldCodec.called("a unique field")).later()),
		has("samples", "Items, by field.", samplesCodec.optional().later()),
		has("of", "The entity, or the two entities, to which its items belong.", parentsCodec),
		has("per", "How many items belong to one item of that entity; for two, a list of two.", perListCodec),
		has("count", "The number of items to generate in addition to the samples.", integer(0, 1_000_000_000)),
		has("life", "The time from the put of an item until it expires, such as 30d.", lifeCodec),
		has("rates", "Requests per second for all items of the entity together.", ratesObject.codec()),
	},
}

var perObject = object[model.Per]{
	name: "per", style: yaml.FlowStyle, after: afterPer,
	members: []member{
		has("min", "The fewest.", perCodec),
		has("p50", "The most that half of them have.", perCodec),
		has("p95", "The most that 95 of 100 have.", perCodec),
		needed("%s has no max", "write {p50: 27, p95: 80, max: 400}", has("max", "The most.", perCodec)),
	},
}

// perCodec is the codec of a number of items per parent.
var perCodec = integer(0, maxPer)

const maxPer = 1_000_000_000

var ratesObject = object[draft]{
	name: "rates", style: yaml.FlowStyle,
	members: []member{
		has("reads", "Reads per second.", rateCodec),
		has("writes", "Writes per second.", rateCodec),
	},
}

var attributesCodec = named("attribute ", startAttribute, attributeObject.codec()).optional()

var attributeObject = object[attribute]{
	name: "attribute", style: yaml.FlowStyle, short: "template", also: schema{"oneOf": oneOf("template", "value")},
	before: beforeAttribute, after: afterAttribute,
	members: []member{
		has("template", "Text, and fields in braces with a type where order matters.", templateCodec),
		has("type", "The type of the attribute.", keyTypeCodec.called("the type of an attribute with a template")),
		has("value", "", constantCodec),
		has("when", "Items have the attribute only if these fields have one of these values, or lie in a range.",
			whenCodec),
	},
}

var patternsCodec = listOf(0, patternObject.codec().called("a pattern")).optional()

var patternObject = object[model.Pattern]{
	name: "pattern", also: schema{"oneOf": oneOf(verbs...)},
	before: beforePattern, after: afterPattern,
	gone: map[string]string{
		"request": "write it as query: {table: Shop, where: {PK: C#1, SK: {begins_with: ORDER#}}}, or as a get or a scan",
	},
	members: []member{
		needed("the pattern has no name", "add a name such as name: orders of a customer",
			has("name", "What the pattern is for.", textCodec.called("the name of a pattern"))),
		has("about", "A sentence or two.", textCodec),
		late(has("rate", "Requests per second.", rateCodec)),
		late(has("asked", "How often each value of the key conditions is asked for.", askedCodec)),
		late(has("expect", "The expected result, over all pages.", onOneLine(expectObject))),
		question("query", "Query",
			"entity", "table", "index", "where", "filter", "parameters", "project", "order", "limit", "consistent"),
		question("get", "GetItem", "entity", "table", "where", "project", "consistent"),
		question("scan", "Scan",
			"table", "index", "entity", "filter", "parameters", "project", "limit", "consistent"),
		writeMember("put", "Writes a new item of an entity."),
		writeMember("update", "Changes fields of an item."),
		writeMember("delete", "Deletes an item."),
		has("transact", "Writes several items, or none of them.", transactCodec),
		late(has("then", "The entity whose items a batch reads by the values of each row.", thenCodec)),
	},
}

// question returns a member of patterns: conditions on fields, for an operation.
func question(verb, operation string, names ...string) member {
	o := object[model.Pattern]{name: verb, before: beforeQuery, after: afterQuery}
	for _, name := range names {
		i := slices.IndexFunc(questionMembers, func(m member) bool { return m.name == name })
		o.members = append(o.members, questionMembers[i])
	}
	return has(verb, "", special(o.codec().schema, func(in value, q *model.Pattern) {
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

// questionMembers are the members of a query; a get and a scan have some of them.
var questionMembers = []member{
	has("entity", "The entity of the fields in where.", referenceCodec),
	has("table", "The table. Default: that of the entity, or the only one.", tableCodec),
	has("index", "The index to read instead of the table.", referenceCodec),
	has("where", "", whereCodec),
	has("filter", "A filter with names and quoted values instead of placeholders.", textCodec),
	has("parameters", "Values to try the parameters of the filter with, such as :user.", parametersCodec),
	has("project", "The attributes to return.", textsCodec),
	has("order", "The order of the rows.", orderCodec),
	has("limit", "The most rows that the request reads.", integer(1, 1<<31-1)),
	has("consistent", "Reads what all earlier writes have written.", flagCodec),
}

var expectObject = object[model.Expect]{
	name: "expect", after: afterExpect,
	members: []member{
		has("rows", "The number of rows returned.", countCodec),
		has("max_rows", "The most rows returned.", countCodec),
		has("entities", "The only entities among the rows.", listOf(yaml.FlowStyle, entityCodec.called("an entity"))),
		has("units", "The most read units.", numberCodec),
		has("pages", "The most pages.", countCodec),
		has("waste", "The largest share of the bytes read that are not returned.", numberCodec),
		has("budget", "The partitions in which max_rows, units, pages and waste hold: "+
			"the one in where, 95 of 100, or all (the default).", budgetCodec),
		has("keys", "The keys of the rows, in order.",
			listOf(0, rowKeyCodec).with("anyOf", []schema{arrayOf(rowKeyCodec.schema), textSchema})),
		has("ties", "Accepts rows with equal index keys in any order.", flagCodec),
		has("item", "The item that a get returns, or none.", itemCodec),
		has("error", "The expected exception; NotARange for a pattern with fields that is not one request.", textCodec),
	},
}

var countCodec = integer(0, 1<<40)

var allowancesCodec = listOf(0, allowanceObject.codec().called("an allowance")).optional()

var allowanceObject = object[model.Allowance]{
	name: "allowance", style: yaml.FlowStyle, also: schema{"required": []string{"rule", "why"}},
	after: afterAllowance,
	members: []member{
		needed("the allowance has no rule", "name the rule, as in rule: natural-order",
			has("rule", "The rule, as in findings: natural-order.", ruleCodec.called("the rule"))),
		has("on", "The table, index, entity or pattern of the findings. Default: any.", subjectCodec),
		has("why", "The reason.", textCodec),
	},
}
