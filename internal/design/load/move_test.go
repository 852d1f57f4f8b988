package load_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/load"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/engine"
	"github.com/sortkey/sortkey/internal/wire"
)

// trees are the models of the property: the path in the key, the path in an attribute, and ids.
var trees = []struct {
	name, keys, field string
}{
	{"path as sort key", `PK: "D#{drive}", SK: "{path:path}"`, "path"},
	{"path as sort key, with versions", `PK: "{path:path}", SK: "V#{drive}"`, "path"},
	{"path in an attribute", `PK: "D#{drive}", SK: "N#{node}", path: "{path:path}"`, "path"},
	{"path without an index", `PK: "N#{node}", SK: "D#{drive}", copy: "{path:path}"`, "path"},
	{"parent in an attribute", `PK: "D#{drive}", SK: "N#{node}", parents: "P#{up}", path: "{path:path}"`, "up"},
	{"drive", `PK: "D#{drive}", SK: "N#{node}", path: "{path:path}"`, "drive"},
}

const treeModel = `
name: trees
tables:
  Drive:
    partition: PK
    sort: SK
    indexes:
      ByParent: {partition: [PK, parent], sort: SK, projection: all}
      ByPath: {partition: PK, sort: path, local: true, projection: [note]}
      BySize: {partition: size, projection: keys}
  Shares:
    partition: PK
    sort: SK
entities:
  Node:
    table: Drive
    attributes:
      {%s, parent: "{parent:path}", note: "{note}", ids: "{node}#{up}#{drive}",
       size: {template: "{size}", when: {size: [large]}}}
    samples:
%s  Share:
    table: Shares
    attributes: {PK: "N#{node}", SK: "D#{drive}", target: "{path:path}", also: "{up}#{parent:path}", user: "{user}"}
    samples:
%spatterns:
  - {name: move, move: {entity: Node, field: %s%s}}
`

// TestMoves holds that the figures of a move are those of a naive search for the items that carry each value, which
// are written to a database in one transaction.
func TestMoves(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 39))
		for _, tree := range trees {
			slash := "/"
			if rng.IntN(3) == 0 {
				slash = ""
			}
			where := ""
			if rng.IntN(3) == 0 {
				where = ", where: {size: large}"
			}
			nodes, shares := randomTree(rng, slash)
			text := fmt.Sprintf(treeModel, tree.keys, nodes, shares, tree.field, where)
			t.Run(fmt.Sprintf("%d/%s", seed, tree.name), func(t *testing.T) { checkMoves(t, text, slash) })
		}
	}
}

// randomTree returns the samples of up to 28 folders and files in two drives, and of links to some of them.
func randomTree(rng *rand.Rand, slash string) (nodes, shares string) {
	var b, links strings.Builder
	node := 0
	for _, drive := range []string{"a", "b"} {
		folders := []string{""}
		seen := map[string]bool{}
		for range 1 + rng.IntN(14) {
			parent := folders[rng.IntN(len(folders))]
			path := parent + string(rune('a'+rng.IntN(3))) + strings.Repeat("x", rng.IntN(2))
			if seen[path] {
				continue
			}
			seen[path] = true
			if rng.IntN(2) == 0 || len(folders) == 1 {
				folders = append(folders, path+"/")
				path += slash
			}
			size := []string{"small", "large"}[rng.IntN(2)]
			sample := fmt.Sprintf(
				"drive: %s, node: n%d, path: %s, up: n%d, parent: %q", drive, node, path, node/2, cmp.Or(parent, "/"),
			)
			fmt.Fprintf(&b, "      - {%s, note: %s, size: %s}\n", sample, strings.Repeat("n", 1+rng.IntN(3000)), size)
			if node == 0 || rng.IntN(3) == 0 {
				fmt.Fprintf(&links, "      - {%s, user: u%d}\n", sample, rng.IntN(3))
			}
			node++
		}
	}
	return b.String(), links.String()
}

func checkMoves(t *testing.T, text, slash string) {
	m, err := modelfile.Parse("m.yaml", []byte(text))
	require.NoError(t, err, text)
	w, err := world.Build(t.Context(), m, world.Options{})
	require.NoError(t, err, text)
	defer w.Close()

	n := naive{w: w, write: &m.Patterns[0].Writes[0], slash: slash}
	want := n.moves(t)
	got, err := load.Write(t.Context(), w, m.Patterns[0])
	if len(want) == 0 {
		require.ErrorIs(t, err, load.ErrNoItem)
		return
	}
	require.NoError(t, err)

	slices.SortFunc(want, func(a, b naiveMove) int { return cmp.Compare(a.units, b.units) })
	sum, items := 0.0, 0
	for _, one := range want {
		sum, items = sum+one.units, items+one.items
	}
	n50, n95, count := (len(want)+1)/2, (95*len(want)+99)/100, float64(len(want))
	require.Len(t, want, got.Move.Values, text)
	require.Equal(t, want[n50-1].units, got.P50, text)
	require.Equal(t, want[n95-1].units, got.P95, text)
	require.Equal(t, want[len(want)-1].units, got.Worst, text)
	require.InDelta(t, sum/count, got.Mean(), 1e-9, text)
	require.InDelta(t, float64(items)/count, got.Move.MeanItems, 1e-9, text)
}

// A naive search looks at all items for each value.
type naive struct {
	w     *world.World
	write *model.Write
	slash string // at the end of folders
}

type naiveMove struct {
	items int
	units float64
}

// moves returns the moves of each value.
func (n *naive) moves(t *testing.T) (all []naiveMove) {
	field, tree := n.write.Field.Name, n.inTree()
	move := func(choose func(values map[string]string) []string) {
		done := map[string]bool{}
		for i := range n.w.Items {
			it := &n.w.Items[i]
			values := it.Values.Map()
			if it.Entity != n.write.Entity || len(n.write.Where) > 0 && values["size"] != "large" {
				continue
			}
			for _, old := range choose(values) {
				id := old
				if field != "path" {
					id = values["drive"] + " " + values["node"]
				} else if tree {
					id = values["drive"] + " " + old
				}
				if !done[id] {
					done[id] = true
					all = append(all, n.one(t, values, old, tree))
				}
			}
		}
	}

	own := func(values map[string]string) []string { return []string{values[field]} }
	if field != "path" || len(n.write.Where) > 0 {
		move(own)
		return all
	}
	move(func(values map[string]string) (folders []string) {
		for at := range values["path"] {
			if folder, ok := strings.CutSuffix(values["path"][:at+1], "/"); ok {
				folders = append(folders, folder+n.slash)
			}
		}
		return folders
	})
	if len(all) == 0 {
		move(own)
	}
	return all
}

// inTree reports whether each drive has a tree of its own.
func (n *naive) inTree() bool {
	e := n.write.Entity
	for _, list := range [][]model.Attribute{e.Table.Keys(), e.Table.Indexes[1].Keys()} {
		text := ""
		for _, a := range list {
			if at := e.Attribute(a.Name); at != nil {
				text += strings.Join(at.Components(), " ") + " "
			}
		}
		if before, _, ok := strings.Cut(text, "path"); ok {
			return strings.Contains(before, "drive")
		}
	}
	return false
}

// under reports whether a path is a moved one, or lies in it.
func (n *naive) under(old, path string) bool {
	if n.slash == "/" {
		return path == old || strings.HasSuffix(old, "/") && strings.HasPrefix(path, old)
	}
	return strings.HasPrefix(path+"/", old+"/")
}

// one moves one value.
func (n *naive) one(t *testing.T, moved map[string]string, old string, tree bool) (one naiveMove) {
	field := n.write.Field.Name
	var actions []wire.TransactWriteItem
	for i := range n.w.Items {
		it := &n.w.Items[i]
		values := it.Values.Map()
		after := maps.Clone(values)
		switch {
		case field != "path" && values["drive"] == moved["drive"] && values["node"] == moved["node"]:
			after[field] = strings.Repeat("z", len(values[field]))
		case field == "path" && (!tree || values["drive"] == moved["drive"]):
			for _, name := range []string{"path", "parent"} {
				if n.under(old, values[name]) {
					after[name] = "z" + values[name][1:]
				}
			}
		}

		next, err := it.Entity.Item(after)
		if err != nil {
			t.Fatal(err)
		}
		if string(next) == string(it.Attributes) {
			continue
		}
		one.items++
		if key := keyOf(it, it.Attributes); string(keyOf(it, next)) != string(key) {
			actions = append(actions, wire.TransactWriteItem{Delete: &wire.Delete{TableName: &it.Table.Name, Key: key}})
		}
		actions = append(actions, wire.TransactWriteItem{Put: &wire.Put{TableName: &it.Table.Name, Item: next}})
	}
	one.units = n.send(t, actions)
	return one
}

func keyOf(it *world.Item, attributes attr.Item) attr.Item {
	var b attr.Builder
	for _, a := range it.Table.Keys() {
		b.Add(a.Name, attributes.Get(a.Name))
	}
	return b.Item()
}

// send sends the actions to a copy of the database, and returns the units that they consume.
func (n *naive) send(t *testing.T, actions []wire.TransactWriteItem) (units float64) {
	fork, err := n.w.DB.Fork()
	if err != nil {
		t.Fatal(err)
	}
	defer fork.Close()
	total := new("TOTAL")
	if len(actions) == 1 { // an update
		put := actions[0].Put
		out, err := engine.Of(fork).Service.PutItem(context.Background(), &wire.PutItemInput{
			TableName: put.TableName, Item: put.Item, ReturnConsumedCapacity: total,
		})
		if err != nil {
			t.Fatal(err)
		}
		return *out.ConsumedCapacity.CapacityUnits
	}
	if len(actions) == 0 {
		return 0
	}
	out, err := engine.Of(fork).Service.TransactWriteItems(context.Background(), &wire.TransactWriteItemsInput{
		TransactItems: actions, ReturnConsumedCapacity: total,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range out.ConsumedCapacity {
		units += *c.CapacityUnits
	}
	return units
}

const albums = `
name: albums
tables: {Drive: {partition: PK, sort: SK}}
entities:
  Album:
    attributes: {PK: "D#{drive}", SK: "A#{album}"}
    count: 400
  Photo:
    of: Album
    per: {min: 1, p50: 40, p95: 200, max: 2000}
    attributes: {PK: "D#{drive}", SK: "A#{album}#{photo}", note: "{note}"}
patterns:
  - {name: rename an album, move: {entity: Album, field: album}}
  - {name: move a photo, move: {entity: Photo, field: album}}
`

// TestMovesOfASample holds that the figures of a sample are those of all items.
func TestMovesOfASample(t *testing.T) {
	m, err := modelfile.Parse("m.yaml", []byte(albums))
	require.NoError(t, err)
	costs := map[int][]*load.Cost{}
	for _, most := range []int{1 << 20, 10_000} {
		w, err := world.Build(t.Context(), m, world.Options{MaxItems: most})
		require.NoError(t, err)
		defer w.Close()
		for _, p := range m.Patterns {
			c, err := load.Write(t.Context(), w, p)
			require.NoError(t, err)
			costs[most] = append(costs[most], c)
		}
	}
	for i, all := range costs[1<<20] {
		some := costs[10_000][i]
		require.InEpsilon(t, all.Mean(), some.Mean(), 0.15, "mean")
		require.InEpsilon(t, all.P50, some.P50, 0.1, "p50") // p95 is where sizes rise steeply, and 75 albums are made
		require.InEpsilon(t, all.Worst, some.Worst, 0.1, "worst")
		require.InEpsilon(t, all.Move.Worst.Transactions, some.Move.Worst.Transactions, 0.1, "transactions")
	}
}
