package export

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
)

// workbench writes a model of NoSQL Workbench, with a facet for each entity and its samples. It writes no patterns,
// because the form in which NoSQL Workbench saves them is not published.
func workbench(m *model.Model) ([]byte, error) {
	var tables []any
	for _, t := range m.Tables {
		tables = append(tables, workbenchTable(m, t))
	}
	doc := ordered{
		{"ModelName", m.Name},
		{"ModelMetadata", ordered{
			{"Author", ""}, {"DateCreated", ""}, {"DateLastModified", ""}, {"Description", m.About},
			{"AWSService", "Amazon DynamoDB"}, {"Version", "3.0"},
		}},
		{"DataModel", tables},
	}
	return indented(doc)
}

func workbenchTable(m *model.Model, t *model.Table) ordered {
	table := ordered{
		{"TableName", t.Name}, {"KeyAttributes", workbenchKeys(t.Partition, t.Sort)},
		{"NonKeyAttributes", nonKeyAttributes(m, t)},
	}
	for _, local := range []bool{false, true} {
		var list []any
		for _, x := range t.Indexes {
			if x.Local != local {
				continue
			}
			projection := ordered{{"ProjectionType", x.Projection}}
			if len(x.Include) > 0 {
				projection.add("NonKeyAttributes", x.Include)
			}
			list = append(list, ordered{
				{"IndexName", x.Name}, {"KeyAttributes", workbenchKeys(x.Partition, x.Sort)},
				{"Projection", projection},
			})
		}
		if list != nil {
			table.add(map[bool]string{false: "GlobalSecondaryIndexes", true: "LocalSecondaryIndexes"}[local], list)
		}
	}

	facets, rest := []any{}, []any{}
	for _, e := range m.Entities {
		if e.Table == t {
			facets = append(facets, facet(e))
		}
	}
	for _, r := range m.Items {
		if r.Table == t {
			rest = append(rest, json.RawMessage(r.Item.AppendJSON(nil)))
		}
	}
	table.add("TableFacets", facets)
	table.add("TableData", rest)
	table.add("DataAccess", ordered{{"MySql", ordered{}}})
	table.add("BillingMode", "PAY_PER_REQUEST")
	return table
}

// workbenchKeys returns a key in Workbench's form. A partition or sort key of several attributes is a list.
func workbenchKeys(hash, sort []model.Attribute) ordered {
	var keys ordered
	for i, list := range [][]model.Attribute{hash, sort} {
		var all []any
		for _, a := range list {
			all = append(all, ordered{{"AttributeName", a.Name}, {"AttributeType", a.Kind.String()}})
		}
		name := []string{"PartitionKey", "SortKey"}[i]
		switch len(all) {
		case 0:
		case 1:
			keys.add(name, all[0])
		default:
			keys.add(name, all)
		}
	}
	return keys
}

// nonKeyAttributes returns the attributes that are not in the table's key, including key attributes of indexes. The
// type of an attribute is the type of its value in the first item that has it.
func nonKeyAttributes(m *model.Model, t *model.Table) []any {
	all := []any{}
	var names []string
	add := func(name string, kind attr.Kind) {
		if !t.Has(name) && !slices.Contains(names, name) {
			names = append(names, name)
			all = append(all, ordered{{"AttributeName", name}, {"AttributeType", kind.String()}})
		}
	}
	m.AttributesIn(t, add)
	for _, a := range t.AllKeys() {
		add(a.Name, a.Kind)
	}
	return all
}

// facet returns the facet of an entity. The alias of a key attribute lists the fields in its template.
func facet(e *model.Entity) ordered {
	aliases := ordered{}
	for i, list := range [][]model.Attribute{e.Table.Partition, e.Table.Sort} {
		for _, a := range list {
			alias := a.Name
			if t := e.Attribute(a.Name); t != nil && len(t.Components()) > 0 {
				alias = strings.Join(t.Components(), " and ")
			}
			aliases.add([]string{"PartitionKeyAlias", "SortKeyAlias"}[i], alias)
		}
	}

	attributes, rows := []string{}, []any{}
	add := func(name string) {
		if !e.Table.Has(name) && !slices.Contains(attributes, name) {
			attributes = append(attributes, name)
		}
	}
	for _, t := range e.Attributes {
		add(t.Name)
	}
	for _, s := range e.Samples {
		for name := range s.Attributes.All() {
			add(string(name))
		}
		if it, err := e.ItemWith(s.Values, s.Attributes); err == nil {
			rows = append(rows, json.RawMessage(it.AppendJSON(nil)))
		}
	}
	return ordered{
		{"FacetName", e.Name}, {"KeyAttributeAlias", aliases}, {"NonKeyAttributes", attributes}, {"TableData", rows},
	}
}
