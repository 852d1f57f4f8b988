package convert

import (
	"strings"

	"github.com/sortkey/sortkey/internal/design/model"
)

// workbench reads a model of NoSQL Workbench. The sample data can be in tables, in facets, or in both. workbench does
// not read access patterns, because their format is not published.
func (im *importer) workbench(n *node) {
	if n.isList() && len(n.list) > 0 {
		for _, m := range n.list[1:] {
			im.loss(m, "another data model", "only one is imported at a time", "")
		}
		n = n.list[0]
	}
	if s := slug(n.str("ModelName")); s != "" {
		im.name = s
	}
	meta := n.get("ModelMetadata")
	im.m.About = strings.TrimSpace(meta.str("Description"))
	if author := strings.TrimSpace(meta.str("Author")); author != "" {
		im.m.About = strings.TrimSpace(im.m.About + "\nBy " + author + ".")
	}

	im.losePatterns(n)
	for _, t := range n.get("DataModel").elems() {
		im.losePatterns(t)
		im.workbenchTable(t)
	}
}

// losePatterns records a loss for the access patterns of a model or a table.
func (im *importer) losePatterns(n *node) {
	for _, m := range n.members() {
		if strings.Contains(strings.ToLower(m.key), "accesspattern") && !m.vacant() {
			im.loss(m, m.key, "their format is not published", "add the access patterns to the model")
		}
	}
}

func (im *importer) workbenchTable(n *node) {
	t := &model.Table{Name: n.str("TableName")}
	t.Partition, t.Sort = workbenchKeys(n.get("KeyAttributes"))
	for _, list := range []string{"GlobalSecondaryIndexes", "LocalSecondaryIndexes"} {
		for _, m := range n.get(list).elems() {
			x := &model.Index{Name: m.str("IndexName"), Local: list[0] == 'L'}
			x.Partition, x.Sort = workbenchKeys(m.get("KeyAttributes"))
			if x.Local && len(x.Partition) == 0 {
				x.Partition = t.Partition
			}
			p := m.get("Projection")
			kind := strings.ToUpper(p.str("ProjectionType"))
			x.Projection, x.Include = projection(kind, p.get("NonKeyAttributes").texts())
			t.Indexes = append(t.Indexes, x)
		}
	}
	if im.addTable(t, n.pos()) == nil {
		return
	}

	before := len(im.held)
	owners := map[string]*facet{} // for each attribute that only one facet has: this facet
	for _, f := range n.get("TableFacets").elems() {
		alias := f.get("KeyAttributeAlias")
		view := &facet{name: f.str("FacetName"), aliases: map[string]string{}}
		view.aliases[t.Partition[0].Name] = alias.str("PartitionKeyAlias")
		if len(t.Sort) > 0 {
			view.aliases[t.Sort[0].Name] = alias.str("SortKeyAlias")
		}
		for _, name := range f.get("NonKeyAttributes").texts() {
			if _, shared := owners[name]; shared {
				owners[name] = nil
			} else {
				owners[name] = view
			}
		}
		im.workbenchItems(t, f, func(*node) *facet { return view })
	}
	im.workbenchItems(t, n, func(m *node) *facet {
		for _, a := range m.members() {
			if f := owners[a.key]; f != nil {
				return f
			}
		}
		return nil
	})
	if len(im.held) == before {
		im.loss(
			n, "the entities of table "+t.Name, "it has no items to infer the templates of its keys from",
			"add entities with templates such as CUSTOMER#{customerId}",
		)
	}
}

// workbenchItems reads the sample data of a table or a facet.
func (im *importer) workbenchItems(t *model.Table, n *node, facet func(*node) *facet) {
	for _, m := range n.get("TableData").elems() {
		if it, ok := im.item(m); ok {
			im.held = append(im.held, row{t: t, it: it, n: m, facet: facet(m)})
		}
	}
}

// workbenchKeys reads the attributes of a partition key and a sort key. A key of several attributes is a list.
func workbenchKeys(n *node) (hash, sort []model.Attribute) {
	read := func(m *node) (all []model.Attribute) {
		for _, a := range m.orElems() {
			if name := a.str("AttributeName"); name != "" {
				all = append(all, model.Attribute{Name: name, Kind: keyKind(a.str("AttributeType"))})
			}
		}
		return all
	}
	return read(n.get("PartitionKey")), read(n.get("SortKey"))
}
