package diff_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/diff"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/sortkeytest"
)

// A carrier carries out a plan on a server, as a team would.
type carrier struct {
	need    require.TestingT
	ctx     context.Context
	url     string
	was, is diff.Side
	item    map[string]*world.Item // of the new version, by id
}

// send sends a request, and returns the answer.
func (c *carrier) send(op string, in map[string]any) map[string]any {
	body, err := json.Marshal(in)
	require.NoError(c.need, err)
	req, err := http.NewRequestWithContext(c.ctx, http.MethodPost, c.url, strings.NewReader(string(body)))
	require.NoError(c.need, err)
	req.Header.Set("X-Amz-Target", "DynamoDB_20120810."+op)
	req.Header.Set("Content-Type", "application/x-amz-json-1.0")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(c.need, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(c.need, err)
	require.Equal(c.need, http.StatusOK, resp.StatusCode, "%s: %s", op, text)
	out := map[string]any{}
	require.NoError(c.need, json.Unmarshal(text, &out))
	return out
}

// write sends a write of one item, and returns its units.
func (c *carrier) write(op string, in map[string]any) float64 {
	in["ReturnConsumedCapacity"] = "INDEXES"
	capacity := c.send(op, in)["ConsumedCapacity"].(map[string]any)
	return capacity["CapacityUnits"].(float64)
}

func jsonOf(it attr.Item) (v map[string]any) {
	if err := json.Unmarshal(it.AppendJSON(nil), &v); err != nil {
		panic(err)
	}
	return v
}

func keyOf(t *model.Table, it attr.Item) map[string]any {
	all := jsonOf(it)
	key := map[string]any{}
	for _, a := range t.Keys() {
		key[a.Name] = all[a.Name]
	}
	return key
}

// scan returns all items of a table.
func (c *carrier) scan(t *model.Table) (all []map[string]any) {
	in := map[string]any{"TableName": t.Name}
	for {
		out := c.send("Scan", in)
		for _, it := range out["Items"].([]any) {
			all = append(all, it.(map[string]any))
		}
		if out["LastEvaluatedKey"] == nil {
			return all
		}
		in["ExclusiveStartKey"] = out["LastEvaluatedKey"]
	}
}

// items returns all items of a table, as text by key.
func (c *carrier) items(t *model.Table) map[string]string {
	all := map[string]string{}
	for _, item := range c.scan(t) {
		text, err := json.Marshal(item)
		require.NoError(c.need, err)
		key := ""
		for _, a := range t.Keys() {
			key += fmt.Sprint(item[a.Name])
		}
		all[key] = string(text)
	}
	return all
}

// reads holds that the patterns of a version return on the server what they return in its world.
func (c *carrier) reads(s diff.Side, when string) {
	target := explain.HTTP(c.url, http.DefaultClient, nil)
	for i := range s.Result.Patterns {
		want := &s.Result.Patterns[i]
		got, err := check.Through(c.ctx, target, s.World.Model, want.Pattern, explain.Options{})
		require.NoError(c.need, err)
		require.Nil(c.need, got.Report.Refused, "%s: %s", when, want.Pattern.Name)
		keys := func(r *explain.Report) (all []string) {
			for _, it := range r.Items {
				all = append(all, fmt.Sprint(keyOf(s.World.Model.Tables[0], it)))
			}
			return all
		}
		require.NotEmpty(c.need, keys(want.Report))
		require.Equal(c.need, keys(want.Report), keys(got.Report), "%s: %s", when, want.Pattern.Name)
	}
}

// step carries out a step, and returns the items that it wrote and the units that they took.
func (c *carrier) step(s diff.Step) (items int, units float64) {
	made := c.is.World.Model.Tables[0]
	each := func(f func(old, made attr.Item) float64) {
		for i := range c.was.World.Items {
			it := &c.was.World.Items[i]
			items++
			units += f(it.Attributes, c.item[it.Values.Get("id")].Attributes)
		}
	}
	change := func(old attr.Item, verb string, values attr.Item) float64 {
		in := map[string]any{"TableName": made.Name, "Key": keyOf(made, old)}
		names, placeholders, parts := map[string]any{}, map[string]any{}, []string{}
		for i, name := range s.Attributes {
			names[fmt.Sprint("#", i)] = name
			part := fmt.Sprint("#", i)
			if verb == "SET" {
				placeholders[fmt.Sprint(":", i)] = jsonOf(values)[name]
				part += fmt.Sprint(" = :", i)
			}
			parts = append(parts, part)
		}
		in["UpdateExpression"], in["ExpressionAttributeNames"] = verb+" "+strings.Join(parts, ", "), names
		if len(placeholders) > 0 {
			in["ExpressionAttributeValues"] = placeholders
		}
		return c.write("UpdateItem", in)
	}
	switch s.Kind {
	case diff.CreateIndex:
		var request map[string]any
		require.NoError(c.need, json.Unmarshal(made.CreateRequest(), &request))
		for _, x := range request["GlobalSecondaryIndexes"].([]any) {
			if x.(map[string]any)["IndexName"] == s.Index {
				c.send("UpdateTable", map[string]any{
					"TableName": s.Table, "AttributeDefinitions": request["AttributeDefinitions"],
					"GlobalSecondaryIndexUpdates": []any{map[string]any{"Create": x}},
				})
				return 0, 0
			}
		}
		require.Fail(c.need, "the new table has no index "+s.Index)
	case diff.CreateTable:
		var request map[string]any
		require.NoError(c.need, json.Unmarshal(made.CreateRequest(), &request))
		c.send("CreateTable", request)
		return 0, 0
	case diff.DeleteTable:
		c.send("DeleteTable", map[string]any{"TableName": s.Table})
	case diff.PutItems:
		each(func(_, made attr.Item) float64 {
			return c.write("PutItem", map[string]any{"TableName": s.Table, "Item": jsonOf(made)})
		})
	case diff.SetItems:
		each(func(old, made attr.Item) float64 { return change(old, "SET", made) })
	case diff.StopWriting:
		each(func(old, _ attr.Item) float64 { return change(old, "REMOVE", attr.Item{}) })
	case diff.DeleteOld:
		each(func(old, _ attr.Item) float64 {
			return c.write("DeleteItem", map[string]any{"TableName": s.Table, "Key": keyOf(made, old)})
		})
	case diff.DeleteIndex:
		c.send("UpdateTable", map[string]any{
			"TableName": s.Table, "GlobalSecondaryIndexUpdates": []any{map[string]any{"Delete": map[string]any{"IndexName": s.Index}}},
		})
	case diff.WriteBoth, diff.Switch, diff.StopAsking, diff.Keep: // changes of the program
	default:
		require.Fail(c.need, "the plan has a step "+string(s.Kind))
	}
	return items, units
}

// samples returns n items of a tree, with the fields of both versions.
func samples(n int, fields func(i int) string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "      - {drive: d%d, %s, body: %q}\n", i%3, fields(i), strings.Repeat("x", 1+i*37%2500))
	}
	return b.String()
}

// TestCarriedOut carries out plans on a server: at each step the program's requests find what they should,
// the steps write as many items and units as the plan says, and the end is the new version, item for item.
func TestCarriedOut(t *testing.T) {
	t.Parallel()
	const n = 240
	path := func(i int) string { return fmt.Sprintf("id: i%04d, path: root/f%02d/n%04d", i, i%12, i) }
	parent := func(i int) string {
		return fmt.Sprintf("id: i%04d, parent: root/f%02d, label: n%04d", i, i%12, i)
	}
	at := func(i int) string { return fmt.Sprintf(`id: i%04d, at: "2026-0%d-1%dT08:00:00Z"`, i, 1+i%6, i%7) }
	for name, versions := range map[string][2]string{
		"from the path as the key to the parent in an index": {`
name: tree
tables: {Tree: {partition: PK, sort: SK}}
entities:
  Node:
    attributes: {PK: "DRIVE#{drive}", SK: "{path:path}", id: "{id}", body: "{body}"}
    samples:
` + samples(n, path) + `
patterns:
  - {name: children, query: {entity: Node, where: {drive: d1, path: {begins_with: root/f04/}}}}
  - {name: a node, get: {entity: Node, where: {drive: d1, path: root/f04/n0004}}}
`, `
name: tree
tables: {Tree: {partition: PK, sort: SK, indexes: {ByParent: {partition: folder, sort: label, projection: keys}}}}
entities:
  Node:
    attributes: {PK: "DRIVE#{drive}", SK: "NODE#{id}", folder: "{drive}#{parent:path}", label: "{label}", body: "{body}"}
    samples:
` + samples(n, parent) + `
patterns:
  - {name: children, query: {entity: Node, index: ByParent, where: {drive: d1, parent: root/f04}}}
  - {name: a node, get: {entity: Node, where: {drive: d1, id: i0004}}}
`},
		"from a table to another": {`
name: tree
tables: {Tree: {partition: PK, sort: SK, indexes: {ByMonth: {partition: month, sort: SK, projection: all}}}}
entities:
  Node:
    attributes: {PK: "DRIVE#{drive}", SK: "{id}", month: "{at:month}", body: "{body}"}
    samples:
` + samples(n, at) + `
patterns:
  - {name: a node, get: {entity: Node, where: {drive: d1, id: i0004}}}
`, `
name: tree
tables: {Wood: {partition: folder, sort: SK, indexes: {ByMonth: {partition: month, sort: SK, projection: keys}}}}
entities:
  Node:
    attributes: {folder: "DRIVE#{drive}", SK: "{id}", month: "{at:month}", body: "{body}"}
    samples:
` + samples(n, at) + `
patterns:
  - {name: a node, get: {entity: Node, where: {drive: d1, id: i0004}}}
`},
		"from months to days": {`
name: tree
tables: {Tree: {partition: PK, sort: SK, indexes: {ByMonth: {partition: month, sort: SK, projection: all}}}}
entities:
  Node:
    attributes: {PK: "DRIVE#{drive}", SK: "{id}", month: "{at:month}", body: "{body}"}
    samples:
` + samples(n, at) + `
patterns:
  - {name: nodes of a day, query: {entity: Node, index: ByMonth, where: {at: "2026-01-10T08:00:00Z"}}}
`, `
name: tree
tables: {Tree: {partition: PK, sort: SK, indexes: {ByDay: {partition: day, sort: SK, projection: all}}}}
entities:
  Node:
    attributes: {PK: "DRIVE#{drive}", SK: "{id}", day: "{at:date}", body: "{body}"}
    samples:
` + samples(n, at) + `
patterns:
  - {name: nodes of a day, query: {entity: Node, index: ByDay, where: {at: "2026-01-10T08:00:00Z"}}}
`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			was, is := side(t, versions[0]), side(t, versions[1])
			c := &carrier{
				need: t, ctx: t.Context(), url: sortkeytest.New(t).URL(), was: was, is: is, item: map[string]*world.Item{},
			}
			for i := range is.World.Items {
				it := &is.World.Items[i]
				c.item[it.Values.Get("id")] = it
			}
			require.Len(t, c.item, n)
			old := was.World.Model.Tables[0]
			var create map[string]any
			require.NoError(t, json.Unmarshal(old.CreateRequest(), &create))
			c.send("CreateTable", create)
			for i := range was.World.Items {
				c.write("PutItem", map[string]any{"TableName": old.Name, "Item": jsonOf(was.World.Items[i].Attributes)})
			}

			switched := false
			for i, s := range differ(t, was, is, nil).Plan {
				when := fmt.Sprintf("after step %d, %s", i+1, s.Do)
				items, units := c.step(s)
				if units > 0 {
					require.Equal(t, s.Items, items, when)
					require.Equal(t, s.Units, math.Ceil(units), when)
				}
				if switched = switched || s.Kind == diff.Switch; switched {
					c.reads(is, when)
				} else {
					c.reads(was, when)
				}
			}
			require.True(t, switched)
			want := map[string]string{}
			for _, it := range c.item {
				key := ""
				all := jsonOf(it.Attributes)
				for _, a := range is.World.Model.Tables[0].Keys() {
					key += fmt.Sprint(all[a.Name])
				}
				text, err := json.Marshal(all)
				require.NoError(t, err)
				want[key] = string(text)
			}
			require.Equal(t, want, c.items(is.World.Model.Tables[0]))
		})
	}
}
