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
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/design/tabledef"
)

// maxTables is the largest number of tables in an import, and maxIndexes the largest number of indexes of a table.
const (
	maxTables  = 200
	maxIndexes = 30
)

// addTable adds a table. It returns nil, and records a loss, if the table is invalid.
func (im *importer) addTable(t *model.Table, at model.Pos) *model.Table {
	switch {
	case im.m.Table(t.Name) != nil:
		im.lossAt(at, "table "+t.Name, "another table has the same name", "")
		return nil
	case len(im.m.Tables) >= maxTables:
		im.lossAt(at, "table "+t.Name, fmt.Sprintf("an import has at most %d tables", maxTables), "")
		return nil
	}

	indexes := t.Indexes
	t.Indexes = nil
	if err := buildable(&model.Model{Name: "table", Tables: []*model.Table{t}}); err != nil {
		im.lossAt(at, "table "+t.Name, reason(err), "")
		return nil
	}

	for _, x := range indexes {
		im.addIndex(t, x, at)
	}
	im.m.Tables = append(im.m.Tables, t)
	return t
}

// joinTable lets several schemas share a table. If the model has no table with the name of t, joinTable adds t.
// Otherwise, it returns the existing table, or an error if the keys of the two tables or of their indexes differ. n
// is the schema.
func (im *importer) joinTable(t *model.Table, n *node) (*model.Table, error) {
	have := im.m.Table(t.Name)
	if have == nil {
		return im.addTable(t, n.pos()), nil
	}
	whose := "the schema"
	if entity := n.get("model").str("entity"); entity != "" {
		whose = "entity " + entity
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
			im.addIndex(have, x, n.pos())
		} else if !sameKey(x.Partition, x.Sort, y.Partition, y.Sort) {
			return nil, differ("for index "+x.Name+" the key", y.Keys(), x.Keys())
		}
	}
	have.TTL = cmp.Or(have.TTL, t.TTL)
	return have, nil
}

// keyList returns the attributes of a key with their types, for messages.
func keyList(list []model.Attribute) string {
	parts := make([]string, len(list))
	for i, a := range list {
		parts[i] = a.Name + ":" + a.Kind.String()
	}
	return strings.Join(parts, " / ")
}

// sameKey reports whether two pairs of partition key and sort key are equal.
func sameKey(partition, sort, otherPartition, otherSort []model.Attribute) bool {
	return slices.Equal(partition, otherPartition) && slices.Equal(sort, otherSort)
}

func (im *importer) addIndex(t *model.Table, x *model.Index, at model.Pos) {
	if len(t.Indexes) >= maxIndexes || t.Index(x.Name) != nil {
		im.lossAt(at, "index "+x.Name, "another index has the same name, or the table has too many", "")
		return
	}
	t.Indexes = append(t.Indexes, x)
	if err := buildable(&model.Model{Name: "table", Tables: []*model.Table{t}}); err != nil {
		t.Indexes = t.Indexes[:len(t.Indexes)-1]
		im.lossAt(at, "index "+x.Name+" of table "+t.Name, reason(err), "")
	}
}

// buildable checks that a model can be written, read back and built.
func buildable(m *model.Model) error {
	again, err := reread(m)
	if err != nil {
		return err
	}
	w, err := dataset.Build(context.Background(), again, dataset.Options{})
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

// reason returns the first error of a model, without its place. The place would not help, because the model is not in
// a file.
func reason(err error) string {
	if list, ok := errors.AsType[model.Errors](err); ok && len(list) > 0 {
		return list[0].Msg
	}
	return err.Error()
}

// definitions adds the tables that f defines: a template, or the JSON of CreateTable requests or DescribeTable
// responses.
func (im *importer) definitions(f File) {
	for _, n := range f.Notes {
		im.add(Loss{Pos: model.Pos{File: f.Name}, What: n.Text, Hint: n.Advice})
	}
	for _, s := range f.Tables {
		im.m.About = cmp.Or(im.m.About, s.About)
		im.definition(s)
	}
}

// definition adds a table. It returns nil if the table is invalid.
func (im *importer) definition(s *tabledef.Schema) *model.Table {
	kinds := s.KeyTypes()
	attributes := func(names []string) (all []model.Attribute) {
		for _, name := range names {
			all = append(all, model.Attribute{Name: name, Kind: keyKind(kinds[name])})
		}
		return all
	}

	t := &model.Table{Name: s.TableName}
	hash, sort := tabledef.KeyNames(s.KeySchema)
	t.Partition, t.Sort = attributes(hash), attributes(sort)
	if s.TimeToLiveSpecification != nil {
		t.TTL = s.TimeToLiveSpecification.AttributeName
	}
	for i, x := range slices.Concat(s.GlobalSecondaryIndexes, s.LocalSecondaryIndexes) {
		index := &model.Index{Name: x.IndexName, Local: i >= len(s.GlobalSecondaryIndexes)}
		hash, sort := tabledef.KeyNames(x.KeySchema)
		index.Partition, index.Sort = attributes(hash), attributes(sort)
		index.Projection, index.Include = projection(string(x.Projection.ProjectionType), x.Projection.NonKeyAttributes)
		t.Indexes = append(t.Indexes, index)
	}
	return im.addTable(t, model.Pos{File: s.Place})
}

// projection returns a projection in the form of a model.
func projection(kind string, include []string) (string, []string) {
	switch {
	case kind == "INCLUDE" && len(include) > 0:
		return kind, include
	case kind == "INCLUDE" || kind == "KEYS_ONLY":
		return "KEYS_ONLY", nil
	}
	return "ALL", nil
}

// keyKind returns the type of a key attribute: N or B by name, or else S.
func keyKind(name string) attr.Kind {
	kind, ok := attr.ParseKind(name)
	if !ok || kind != attr.Number && kind != attr.Binary {
		return attr.String
	}
	return kind
}
