package convert

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

// maxTables and maxIndexes limit an import.
const (
	maxTables  = 200
	maxIndexes = 30
)

// addTable adds a table, under another name if its own is invalid. It returns
// nil, and records a loss, if the table is invalid.
func (im *importer) addTable(t *model.Table, n *node) *model.Table {
	if name := t.Name; !wire.ValidName(name) {
		t.Name = validTable(name)
		im.loss(
			n, fmt.Sprintf("the table name %q", clip(name)),
			"table names have 3 to 255 letters, digits, _, - and ., so it is imported as "+t.Name, "",
		)
	}

	switch {
	case im.m.Table(t.Name) != nil:
		im.loss(n, "table "+t.Name, "another table has the same name", "")
		return nil
	case len(im.m.Tables) >= maxTables:
		im.loss(n, "table "+t.Name, fmt.Sprintf("an import has at most %d tables", maxTables), "")
		return nil
	}

	indexes := t.Indexes
	t.Indexes = nil
	if len(t.Partition) == 0 || nameless(t.Keys()) {
		im.loss(n, "table "+t.Name, "it has no partition key, or a key without a name", "")
		return nil
	}
	if err := checkTables(&model.Model{Name: "table", Tables: []*model.Table{t}}); err != nil {
		im.loss(n, "table "+t.Name, reason(err), "")
		return nil
	}

	for _, x := range indexes {
		im.addIndex(t, x, n)
	}
	im.m.Tables = append(im.m.Tables, t)
	return t
}

// validTable returns a table's name, changed if it is invalid.
func validTable(name string) string {
	if wire.ValidName(name) {
		return name
	}
	name = dashed(name)
	for len(name) < wire.MinName {
		name += "-table"
	}
	return name[:min(len(name), wire.MaxName)]
}

// joinTable adds the table of a schema, or returns the one of its name that is there: so several schemas are
// of one table. It is an error if their keys differ, or those of indexes. Whose is what has the schema n, for
// messages.
func (im *importer) joinTable(t *model.Table, n *node, whose string) (*model.Table, error) {
	have := im.m.Table(validTable(t.Name))
	if have == nil {
		return im.addTable(t, n), nil
	}
	differ := func(what string, want, got []model.Attribute) error {
		return &Error{
			Pos: n.pos(), Msg: fmt.Sprintf(
				"%s has %s %s, but that of table %s is %s", whose, what, keyList(got), have.Name, keyList(want),
			),
			Hint: "entities of one table have the same keys: correct one of the schemas, or import it by itself",
		}
	}
	if len(t.Partition) > 0 && !sameKey(t.Partition, t.Sort, have.Partition, have.Sort) {
		return nil, differ("the key", have.Keys(), t.Keys())
	}
	for _, x := range t.Indexes {
		y := have.Index(x.Name)
		if y == nil {
			im.addIndex(have, x, n)
		} else if !sameKey(x.Partition, x.Sort, y.Partition, y.Sort) {
			return nil, differ("for index "+x.Name+" the key", y.Keys(), x.Keys())
		}
	}
	have.TTL = cmp.Or(have.TTL, t.TTL)
	return have, nil
}

// keyList lists the attributes of a key with their types.
func keyList(list []model.Attribute) string {
	parts := make([]string, len(list))
	for i, a := range list {
		parts[i] = a.Name + ":" + a.Kind.String()
	}
	return strings.Join(parts, " / ")
}

// sameKey reports whether two keys are the same.
func sameKey(partition, sort, otherPartition, otherSort []model.Attribute) bool {
	return slices.Equal(partition, otherPartition) && slices.Equal(sort, otherSort)
}

// declareOnce returns an error if another file declares the same entity.
func (im *importer) declareOnce(entity string, n *node) error {
	before := im.declarers[entity]
	if before != nil && before != n.doc {
		return &Error{
			Pos: n.pos(), Msg: fmt.Sprintf("entity %s is also in %s", entity, before.name),
			Hint: "import one of the files",
		}
	}
	im.declarers[entity] = n.doc
	return nil
}

// dashed returns a name with a dash for what no name of a table or an index can have.
func dashed(name string) string {
	var b strings.Builder
	replaced := false // the character before
	for _, r := range name {
		valid := wire.IsName(string(r))
		switch {
		case valid:
			b.WriteRune(r)
		case !replaced:
			b.WriteByte('-')
		}
		replaced = !valid
	}
	return b.String()
}

func (im *importer) addIndex(t *model.Table, x *model.Index, n *node) {
	if len(t.Indexes) >= maxIndexes || t.Index(x.Name) != nil {
		im.loss(n, "index "+x.Name, "another index has the same name, or the table has too many", "")
		return
	}
	if len(x.Partition) == 0 || nameless(x.Keys()) {
		im.loss(n, "index "+x.Name+" of table "+t.Name, "it has no partition key, or a key without a name", "")
		return
	}
	if x.Local && !slices.Equal(x.Partition, t.Partition) {
		im.loss(
			n, "the partition key of index "+x.Name, "a local index must have that of its table, "+t.Partition[0].Name,
			"",
		)
		x.Partition = t.Partition
	}
	t.Indexes = append(t.Indexes, x)
	if err := checkTables(&model.Model{Name: "table", Tables: []*model.Table{t}}); err != nil {
		t.Indexes = t.Indexes[:len(t.Indexes)-1]
		im.loss(n, "index "+x.Name+" of table "+t.Name, reason(err), "")
	}
}

func nameless(list []model.Attribute) bool {
	return slices.ContainsFunc(list, func(a model.Attribute) bool { return a.Name == "" })
}

// checkTables checks that the tables of a model can be created.
func checkTables(m *model.Model) error {
	again, err := reread(m)
	if err != nil {
		return err
	}
	w, err := world.Build(context.Background(), again, world.Options{})
	if err != nil {
		return err
	}
	return w.Close()
}

// checkModel checks that a model can be written and read back.
func checkModel(m *model.Model) error {
	_, err := reread(m)
	return err
}

func reread(m *model.Model) (*model.Model, error) {
	var b bytes.Buffer
	if err := modelfile.Write(&b, m); err != nil {
		return nil, err
	}
	return modelfile.Parse("", b.Bytes())
}

// reason returns the first error of a model without its place, which is in no
// file.
func reason(err error) string {
	if list, ok := errors.AsType[model.Errors](err); ok && len(list) > 0 {
		return list[0].Msg
	}
	return err.Error()
}

// tables reads CreateTable requests and DescribeTable responses: values or
// lists of them.
func (im *importer) tables(d *document) {
	for _, n := range d.roots {
		im.tablesIn(n, 0)
	}
	im.derived = true
}

func (im *importer) tablesIn(n *node, depth int) {
	list := n.elems()
	inner := n.either("Tables", "tables")
	switch {
	case depth > 2:
	case inner.isList():
		im.loseUnknown(n, "Tables", "tables")
		list = inner.list
	case isTable(n.either("Table", "TableDescription")):
		im.createTable(n.either("Table", "TableDescription"))
		return
	case isTable(n):
		im.createTable(n)
		return
	}
	for _, m := range list {
		im.tablesIn(m, depth+1)
	}
	if len(list) == 0 {
		im.loss(n, "this value", "it is not CreateTable or DescribeTable JSON", "")
	}
}

// Members of a description about a running table, not its design.
var runtime = []string{
	"TableStatus", "CreationDateTime", "TableSizeBytes", "ItemCount", "TableArn", "TableId", "LatestStreamArn",
	"LatestStreamLabel",
	"BillingMode", "BillingModeSummary", "WarmThroughput", "TableThroughputModeSummary", "TableClassSummary",
	"IndexStatus", "IndexSizeBytes", "IndexArn", "Backfilling", "SSEDescription", "ArchivalSummary", "RestoreSummary",
	"Replicas", "GlobalTableVersion",
	"OnDemandThroughput", "ProvisionedThroughput",
}

// settings are settings of a table other than its keys.
var settings = []string{
	"StreamSpecification", "TableClass", "Tags", "SSESpecification", "DeletionProtectionEnabled", "ResourcePolicy",
	"MultiRegionConsistency",
	"ContributorInsightsSpecification", "GlobalTableWitnesses",
}

// loseSettings records the settings of a table, which a model does not have.
func (im *importer) loseSettings(n *node, table string) {
	var names []string
	for _, m := range n.members() {
		if slices.Contains(settings, m.key) && !m.vacant() {
			names = append(names, m.key)
		}
	}
	if units := n.get("ProvisionedThroughput").get("ReadCapacityUnits").numeral(); units != "" && units != "0" {
		names = append(names, "ProvisionedThroughput")
	}
	if len(names) > 0 {
		im.add(Loss{Pos: n.pos(), Path: n.path(), settings: names, table: table})
	}
}

// joinSettings gives the losses of settings their words: each setting has one line, at the first
// of its tables, and settings of the same tables share theirs.
func joinSettings(losses []Loss) []Loss {
	tables := map[string][]string{} // by setting
	for _, l := range losses {
		for _, name := range l.settings {
			tables[name] = append(tables[name], l.table)
		}
	}

	var joined []Loss
	said := map[string]bool{}
	for _, l := range losses {
		if l.settings == nil {
			joined = append(joined, l)
			continue
		}
		for _, first := range l.settings {
			if said[first] {
				continue
			}
			var names []string
			for _, name := range l.settings {
				if slices.Equal(tables[name], tables[first]) {
					names, said[name] = append(names, name), true
				}
			}
			of := "table " + tables[first][0]
			if n := len(tables[first]); n > 1 {
				of = text.Count(n, "table")
			}
			joined = append(joined, Loss{
				Pos: l.Pos, Path: l.Path, What: strings.Join(names, ", ") + " of " + of,
				Why: "a model has keys and indexes, but no settings",
			})
		}
	}
	return joined
}

func (im *importer) createTable(n *node) *model.Table {
	kinds := map[string]attr.Kind{}
	for _, a := range n.get("AttributeDefinitions").elems() {
		kinds[a.str("AttributeName")] = im.keyKind(a.get("AttributeType"))
	}

	known := []string{
		"TableName", "AttributeDefinitions", "KeySchema", "LocalSecondaryIndexes", "GlobalSecondaryIndexes",
		"TimeToLiveSpecification",
	}
	im.loseUnknown(n, slices.Concat(known, runtime, settings)...)
	im.loseSettings(n, n.str("TableName"))
	t := &model.Table{Name: n.str("TableName")}
	t.Partition, t.Sort = im.schema(n.get("KeySchema"), kinds)
	if ttl := n.get("TimeToLiveSpecification"); ttl != nil {
		t.TTL = ttl.str("AttributeName")
	}

	for _, list := range []string{"GlobalSecondaryIndexes", "LocalSecondaryIndexes"} {
		for _, m := range n.get(list).elems() {
			im.loseUnknown(m, append([]string{"IndexName", "KeySchema", "Projection"}, runtime...)...)
			x := &model.Index{Name: m.str("IndexName"), Local: list[0] == 'L'}
			x.Partition, x.Sort = im.schema(m.get("KeySchema"), kinds)
			x.Projection, x.Include = im.projection(m.get("Projection"))
			t.Indexes = append(t.Indexes, x)
		}
	}
	return im.addTable(t, n)
}

func (im *importer) keyKind(n *node) attr.Kind {
	switch {
	case n == nil:
		return attr.String
	case n.text == "N":
		return attr.Number
	case n.text == "B":
		return attr.Binary
	case n.text != "S":
		im.loss(n, fmt.Sprintf("the type %q of a key", clip(n.text)), "keys have type S, N or B; using S", "")
	}
	return attr.String
}

func (im *importer) schema(n *node, kinds map[string]attr.Kind) (hash, sort []model.Attribute) {
	for _, m := range n.elems() {
		a := model.Attribute{Name: m.str("AttributeName"), Kind: attr.String}
		if k := kinds[a.Name]; k != 0 {
			a.Kind = k
		}
		if strings.EqualFold(m.str("KeyType"), "RANGE") {
			sort = append(sort, a)
		} else {
			hash = append(hash, a)
		}
	}
	return hash, sort
}

func (im *importer) projection(n *node) (kind string, include []string) {
	kind = strings.ToUpper(n.str("ProjectionType"))
	switch kind {
	case "INCLUDE":
		for _, a := range n.get("NonKeyAttributes").elems() {
			if a.isText() {
				include = append(include, a.text)
			}
		}
		if len(include) == 0 {
			return "KEYS_ONLY", nil
		}
	case "KEYS_ONLY":
	default:
		if n != nil && kind != "ALL" {
			im.loss(n, "a projection", "unknown projection type; using ALL", "")
		}
		kind = "ALL"
	}
	return kind, include
}
