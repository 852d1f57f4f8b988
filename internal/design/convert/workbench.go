package convert

import (
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/design/model"
)

// workbench reads a model of NoSQL Workbench. Tables, facets, or both have
// sample data.
func (im *importer) workbench(n *node) {
	if n.isList() && len(n.list) > 0 {
		for _, m := range n.list[1:] {
			im.loss(m, "another data model", "only one is imported at a time", "")
		}
		n = n.list[0]
	}

	im.derived = true
	im.loseUnknown(n, "ModelName", "ModelMetadata", "DataModel", "AccessPatterns", "ModelAccessPatterns")
	if s := slug(n.str("ModelName")); s != "" {
		im.name = s
	}

	meta := n.get("ModelMetadata")
	im.loseUnknown(meta, "Author", "Description", "AWSService", "Version", "DateCreated", "DateLastModified")
	im.m.About = strings.TrimSpace(meta.str("Description"))
	if author := strings.TrimSpace(meta.str("Author")); author != "" {
		im.m.About = strings.TrimSpace(strings.TrimSpace(im.m.About) + "\nBy " + author + ".")
	}
	if dates := meta.either("DateCreated", "DateLastModified"); !dates.vacant() {
		im.loss(dates, "the dates of the model", "a model file has no dates", "use version control")
	}
	if v := meta.str("Version"); v != "" && !strings.HasPrefix(v, "3.") && v != "3" {
		im.loss(meta.get("Version"), "version "+clip(v), "the importer reads it as version 3.0", "check the result")
	}

	for _, t := range n.get("DataModel").elems() {
		im.workbenchTable(t)
	}
	im.workbenchPatterns(n, im.onlyTable())
	im.derived = len(im.m.Patterns) == 0
}

// onlyTable returns the table of a model with one, or nil.
func (im *importer) onlyTable() *model.Table {
	if len(im.m.Tables) == 1 {
		return im.m.Tables[0]
	}
	return nil
}

func (im *importer) workbenchTable(n *node) {
	im.loseUnknown(
		n, "TableName", "KeyAttributes", "NonKeyAttributes", "GlobalSecondaryIndexes", "LocalSecondaryIndexes",
		"TableFacets", "TableData", "DataAccess", "BillingMode", "ProvisionedCapacitySettings", "AccessPatterns",
		"TableAccessPatterns",
	)

	t := &model.Table{Name: n.str("TableName")}
	t.Partition, t.Sort = im.workbenchKeys(n.get("KeyAttributes"))
	for _, list := range []string{"GlobalSecondaryIndexes", "LocalSecondaryIndexes"} {
		for _, m := range n.get(list).elems() {
			im.loseUnknown(m, "IndexName", "KeyAttributes", "Projection", "BillingMode", "ProvisionedCapacitySettings")
			x := &model.Index{Name: m.str("IndexName"), Local: list[0] == 'L'}
			x.Partition, x.Sort = im.workbenchKeys(m.get("KeyAttributes"))
			if x.Local && len(x.Partition) == 0 {
				x.Partition = t.Partition
			}
			x.Projection, x.Include = im.projection(m.get("Projection"))
			t.Indexes = append(t.Indexes, x)
		}
	}

	if im.addTable(t, n) == nil {
		return
	}
	if c := n.get("ProvisionedCapacitySettings"); !c.vacant() {
		im.loss(
			c, "the capacity of table "+t.Name, "a model has no provisioned capacity",
			"declare the rates of entities and patterns instead",
		)
	}

	if c := n.get("DataAccess").get("MySql"); !c.vacant() {
		im.loss(c, "the MySQL access of table "+t.Name, "a model gets its data from samples and generators", "")
	}
	for _, f := range n.get("TableFacets").elems() {
		im.facet(t, n, f)
	}

	for _, m := range n.get("TableData").elems() {
		if it, ok := im.item(m); ok {
			im.put(t, it, nil, m)
		}
	}

	im.unused(t, n)
	im.workbenchPatterns(n, t)
}

// workbenchKeys reads keys. Several attributes are in a list.
func (im *importer) workbenchKeys(n *node) (hash, sort []model.Attribute) {
	read := func(m *node) (all []model.Attribute) {
		list := []*node{m}
		if m.isList() {
			list = m.list
		}
		for _, a := range list {
			if name := a.str("AttributeName"); name != "" {
				all = append(all, model.Attribute{Name: name, Kind: im.keyKind(a.get("AttributeType"))})
			}
		}
		return all
	}
	im.loseUnknown(n, "PartitionKey", "SortKey")
	return read(n.get("PartitionKey")), read(n.get("SortKey"))
}

// facet reads a view of a table: the items of one kind, and the aliases of
// their keys.
func (im *importer) facet(t *model.Table, table, n *node) {
	im.loseUnknown(n, "FacetName", "KeyAttributeAlias", "NonKeyAttributes", "TableData", "DataAccess")
	if c := n.get("DataAccess").get("MySql"); !c.vacant() {
		im.loss(
			c, "the MySQL access of facet "+n.str("FacetName"), "a model gets its data from samples and generators", "",
		)
	}

	alias := n.get("KeyAttributeAlias")
	im.loseUnknown(alias, "PartitionKeyAlias", "SortKeyAlias")
	g := &group{name: n.str("FacetName"), aliases: map[string]string{}, n: n}
	if g.name == "" {
		g.name = t.Name
	}
	if len(t.Partition) > 0 {
		g.aliases[t.Partition[0].Name] = alias.str("PartitionKeyAlias")
	}
	if len(t.Sort) > 0 {
		g.aliases[t.Sort[0].Name] = alias.str("SortKeyAlias")
	}

	for _, a := range n.get("NonKeyAttributes").elems() {
		name := a.text
		if a.isObject() {
			name = a.str("AttributeName")
		}
		if name != "" && !slices.Contains(g.attributes, name) {
			g.attributes = append(g.attributes, name)
		}
	}

	p := im.pool(t)
	p.groups = append(p.groups, g)
	for _, m := range n.get("TableData").elems() {
		if it, ok := im.item(m); ok {
			im.put(t, it, g, m)
		}
	}

	if len(g.rows) == 0 {
		im.adopt(t, table, g)
	}
}

// adopt assigns to a facet without data the items of the table that have an
// attribute of this facet and no other.
func (im *importer) adopt(t *model.Table, table *node, g *group) {
	if len(g.attributes) == 0 {
		return
	}
	others := map[string]bool{}
	for _, f := range table.get("TableFacets").elems() {
		if f == g.n {
			continue
		}
		for _, a := range f.get("NonKeyAttributes").elems() {
			others[a.text] = true
		}
	}
	own := slices.DeleteFunc(slices.Clone(g.attributes), func(a string) bool { return others[a] })
	for _, m := range table.get("TableData").elems() {
		if !slices.ContainsFunc(own, func(a string) bool { return m.get(a) != nil }) {
			continue
		}
		if it, ok := im.item(m); ok {
			im.put(t, it, g, m)
		}
	}
}

// unused records attributes that the table declares but no item has.
func (im *importer) unused(t *model.Table, n *node) {
	var missing []string
	for _, a := range n.get("NonKeyAttributes").elems() {
		name := a.str("AttributeName")
		if name == "" || t.IsKey(name) {
			continue
		}
		has := func(r *row) bool { return r.it.Get(name).Kind() != 0 }
		named := func(g *group) bool { return len(g.rows) == 0 && slices.Contains(g.attributes, name) }
		if p := im.pool(t); !slices.ContainsFunc(p.rows, has) && !slices.ContainsFunc(p.groups, named) {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		im.loss(
			n.get("NonKeyAttributes"), "the attributes "+strings.Join(missing, ", ")+" of table "+t.Name,
			"no item has them", "add them to the fields of an entity",
		)
	}
}
