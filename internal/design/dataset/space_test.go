package dataset_test

import (
	"context"
	"strings"
	"testing"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/internal/wire"
)

// TestOrder compares the rows of the partitions in a table and an index with the results of queries. Keys have common
// prefixes or end early, and some rows have equal keys in the index.
func TestOrder(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	text := func(name string) model.Attribute { return model.Attribute{Name: name, Kind: attr.String} }
	index := &model.Index{
		Name: "Inverse", Partition: []model.Attribute{text("G")}, Sort: []model.Attribute{text("H")}, Projection: "ALL",
	}
	table := &model.Table{
		Name: "Tab", Partition: []model.Attribute{text("PK")}, Sort: []model.Attribute{text("SK")},
		Indexes: []*model.Index{index},
	}
	proptest.Check(t, 100, func(t *proptest.T) {
		part := func() string {
			prefix := proptest.Pick(t, "A#", "ORDER#", "CUSTOMER#\x00", "\x00\x00\x00")
			return prefix + strings.Repeat("ab", t.Between(0, 6)*t.Between(0, 1)) + t.Text("\x00ab", 0, t.Between(0, 10))
		}
		some := proptest.SliceOf(t, 1, 4, func(t *proptest.T) string { return part() })
		seen := map[[2]string]bool{}
		var items []dataset.Item
		for range t.Between(0, 100) {
			key := [2]string{proptest.Pick(t, some...), part()}
			if seen[key] {
				continue
			}
			seen[key] = true
			var b attr.Builder
			b.Add("PK", attr.NewString(key[0]))
			b.Add("SK", attr.NewString(key[1]))
			b.Add("G", attr.NewString(proptest.Pick(t, some...)))
			if t.Between(0, 9) > 0 {
				b.Add("H", attr.NewString(proptest.Pick(t, append(some, part())...)))
			}
			items = append(items, dataset.Item{Table: table, Attributes: b.Item()})
		}
		w, err := dataset.Holding(ctx, []*model.Table{table}, items)
		if err != nil {
			t.Fatalf("%v", err)
		}
		defer w.Close()
		for _, x := range []*model.Index{nil, index} {
			compareOrder(ctx, t, w, table, x)
		}
	})
}

func compareOrder(ctx context.Context, t *proptest.T, w *dataset.Dataset, table *model.Table, x *model.Index) {
	space, err := w.Space(ctx, table, x)
	if err != nil {
		t.Fatalf("%v", err)
	}
	for _, p := range space.Parts {
		key := space.Hash[0].Name
		in := &wire.QueryInput{
			TableName: &table.Name, KeyConditionExpression: new("#k = :k"),
			ExpressionAttributeNames: map[string]string{"#k": key},
		}
		var b attr.Builder
		b.Add(":k", space.Rows[p.From].Item.Attributes.Get(key))
		in.ExpressionAttributeValues = b.Item()
		if x != nil {
			in.IndexName = &x.Name
		}
		out, _, err := w.Target().Do(ctx, in)
		if err != nil {
			t.Fatalf("%v", err)
		}
		rows := out.(*wire.QueryOutput).Items
		if len(rows) != p.To-p.From {
			t.Fatalf("%d rows in the database, %d in the space", len(rows), p.To-p.From)
		}
		for i, r := range space.In(p) {
			if !r.Item.Attributes.Equal(rows[i]) {
				t.Fatalf("row %d is %s in the database, %s in the space", i, rows[i], r.Item.Attributes)
			}
		}
	}
}
