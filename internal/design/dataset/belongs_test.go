package dataset_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

// tenants builds a model with many items. It skips the test with -short, because generating them is slow.
func tenants(t *testing.T, o dataset.Options) *dataset.Dataset {
	t.Helper()
	if testing.Short() {
		t.Skip("many items in one goroutine")
	}
	m, err := modelfile.Load("testdata/tenants.yaml")
	require.NoError(t, err)
	w, err := dataset.Build(t.Context(), m, o)
	require.NoError(t, err)
	t.Cleanup(func() { w.Close() })
	return w
}

// made returns the generated items of an entity.
func made(w *dataset.Dataset, entity string) (all []*dataset.Item) {
	for i := range w.Items {
		if it := &w.Items[i]; it.Generated && it.Entity.Name == entity {
			all = append(all, it)
		}
	}
	return all
}

// id returns an item's values of the fields as one text.
func id(it *dataset.Item, fields ...string) string {
	var all []string
	for _, f := range fields {
		all = append(all, it.Values.Get(f))
	}
	return strings.Join(all, "|")
}

// per returns the number of children of each parent, in ascending order. It fails the test if a child belongs to no
// parent.
func per(t *testing.T, parents, children []*dataset.Item, fields ...string) []int {
	t.Helper()
	n := map[string]int{}
	for _, p := range parents {
		key := id(p, fields...)
		_, twice := n[key]
		require.False(t, twice, "two items are %s", key)
		n[key] = 0
	}
	for _, c := range children {
		key := id(c, fields...)
		_, ok := n[key]
		require.True(t, ok, "a %s belongs to %s, which does not exist", c.Entity.Name, key)
		n[key]++
	}
	return slices.Sorted(maps.Values(n))
}

// TestTenants checks that each item belongs to an existing item, and that parents have as many children as the model
// declares.
func TestTenants(t *testing.T) {
	proptest.NeedLong(t)
	w := tenants(t, dataset.Options{})
	require.Equal(t, 1.0, w.Scale)
	count := map[string]int{}
	all := map[string][]*dataset.Item{}
	for _, e := range w.Model.Entities {
		all[e.Name] = made(w, e.Name)
		count[e.Name] = len(all[e.Name])
		require.Equal(t, e.Count, count[e.Name], e.Name)
	}
	require.Equal(t, map[string]int{"Org": 200, "User": 2500, "Member": 5000, "Project": 1500, "Task": 40000, "Comment": 32000, "Line": 12000}, count)

	for _, tt := range []struct {
		parent, child       string
		fields              []string
		min, p50, p95, most int
	}{
		{"Project", "Task", []string{"org", "project"}, 1, 27, 35, 190},
		{"Task", "Comment", []string{"org", "project", "task"}, 0, 0, 2, 12},
		{"User", "Member", []string{"user"}, 1, 2, 3, 3},
		// Zipf: the first of 200 parents has 1/(1 + 2^-1.1 + … + 200^-1.1) of all items.
		{"Org", "Project", []string{"org"}, 1, 2, 23, 319},
		{"Org", "Line", []string{"org"}, 7, 16, 183, 2551},
		{"Org", "Member", []string{"org"}, 7, 12, 73, 500},
	} {
		n := per(t, all[tt.parent], all[tt.child], tt.fields...)
		at := func(share float64) int { return n[int(share*float64(len(n)-1))] }
		got := []int{n[0], at(0.5), at(0.95), n[len(n)-1]}
		for i, want := range []int{tt.min, tt.p50, tt.p95, tt.most} {
			require.InDelta(t, want, got[i], 1+float64(want)*0.02, "%s of %s: %v", tt.child, tt.parent, got)
		}
	}
	// Ancestors too: a comment has the project and the organization of its task.
	per(t, all["Project"], all["Comment"], "org", "project")
	per(t, all["Org"], all["Comment"], "org")
}

// TestBelongsIsDeterministic checks that equal seeds give equal items, and that the order in which a test asks for
// the values of an item does not change them.
func TestBelongsIsDeterministic(t *testing.T) {
	dump := func(seed uint64) string {
		w := tenants(t, dataset.Options{Seed: seed, MaxItems: 3000})
		var b []byte
		for _, it := range w.Items {
			b = append(it.Attributes.AppendJSON(b), '\n')
		}
		for _, it := range slices.Backward(w.Items) {
			b = fmt.Appendln(b, it.Values.Map())
		}
		return string(b)
	}
	require.Equal(t, dump(7), dump(7))
	require.NotEqual(t, dump(7), dump(8))
}

// TestBelongsScale compares a share of the items with all of them. The share must have fewer organizations and
// projects, but the usual number of items for each.
func TestBelongsScale(t *testing.T) {
	proptest.NeedLong(t)
	whole := tenants(t, dataset.Options{})
	for _, most := range []int{200, 2000, 20_000} {
		w := tenants(t, dataset.Options{MaxItems: most})
		sum := 0
		for _, e := range w.Model.Entities {
			n := len(made(w, e.Name))
			sum += n
			require.Positive(t, n, e.Name)
		}
		require.LessOrEqual(t, sum, max(most, 500))
		require.InEpsilon(t, float64(sum)/float64(93200), w.Scale, 0.001)
		per(t, made(w, "Project"), made(w, "Task"), "org", "project")
		per(t, made(w, "Org"), made(w, "Project"), "org")
		per(t, made(w, "User"), made(w, "Member"), "user")

		// The number of rows that one request would read at the declared scale.
		declared := 0.0
		for i := range w.Items {
			declared += w.Represents(&w.Items[i])
		}
		require.InEpsilon(t, float64(len(whole.Items)), declared, 0.001)
		for _, tt := range []struct {
			parent, child string
			fields        []string
		}{{"Project", "Task", []string{"org", "project"}}, {"Org", "Project", []string{"org"}}} {
			want := per(t, made(whole, tt.parent), made(whole, tt.child), tt.fields...)
			groups := map[string][]dataset.Row{}
			for _, it := range made(w, tt.child) {
				groups[id(it, tt.fields...)] = append(groups[id(it, tt.fields...)], dataset.Row{Item: it})
			}
			grow := w.GrowthOf(tt.fields)
			for _, rows := range groups {
				grow.Count(rows)
			}
			var got []float64
			for _, rows := range groups {
				got = append(got, float64(len(rows))*grow.In(rows)(rows[0].Item))
			}
			slices.Sort(got)
			for share, near := range map[float64]float64{0.5: 0.3, 1: 0.01} {
				if share < 1 && most < 2000 {
					continue // many parents have no children, so the median says little
				}
				full := float64(want[int(share*float64(len(want)-1))])
				n := got[int(share*float64(len(got)-1))]
				require.InEpsilon(t, full, n, near, "%s of %s at %v of %d items", tt.child, tt.parent, share, most)
			}
		}
	}
}

// TestTwoParents checks that two parents have at most one item in common if nothing else is in its key, and that both
// belong to the same entity.
func TestTwoParents(t *testing.T) {
	const head = `name: m
tables: {Tab: {partition: PK, sort: SK}}
entities:
  Org: {count: 20, attributes: {PK: "O#{org}", SK: A}}
  User: {of: Org, per: 1..9, attributes: {PK: "O#{org}", SK: "U#{user}"}}
  Task: {of: Org, per: 3..30, attributes: {PK: "O#{org}", SK: "T#{task}"}}
`
	build := func(entity string) (*dataset.Dataset, error) {
		m, err := modelfile.Parse("m.yaml", []byte(head+entity))
		if err != nil {
			return nil, err
		}
		w, err := dataset.Build(t.Context(), m, dataset.Options{})
		if err == nil {
			t.Cleanup(func() { w.Close() })
		}
		return w, err
	}
	w, err := build(`  Share: {of: [Task, User], per: [1, even], attributes: {PK: "O#{org}#{task}", SK: "U#{user}"}}`)
	require.NoError(t, err)
	shares := made(w, "Share")
	require.Len(t, shares, w.Model.Entity("Task").Count)
	per(t, made(w, "Task"), shares, "org", "task")
	per(t, made(w, "User"), shares, "org", "user")

	// Each of 20 organizations must have each of 30 people, so every pair must occur.
	const pairs = `
  Person: {count: 30, attributes: {PK: "P#{person}", SK: A}}
  Seat: {of: [Org, Person], per: [%d, even], attributes: {PK: "O#{org}", SK: "P#{person}"}}`
	for _, n := range []int{1, 15, 29, 30} {
		w, err = build(fmt.Sprintf(pairs, n))
		require.NoError(t, err, n)
		slots := made(w, "Seat")
		require.Len(t, slots, 20*n)
		of := per(t, made(w, "Person"), slots, "person")
		require.LessOrEqual(t, of[len(of)-1]-of[0], 1)
	}
	_, err = build(fmt.Sprintf(pairs, 31))
	require.ErrorContains(t, err, "entity Seat: the largest Org would have 31 items, one for each Person, but there are only 30 of Person")
	errs, ok := err.(model.Errors)
	require.True(t, ok)
	require.Contains(t, errs[0].Hint, "add a component of its own to the key")
}

// TestTooFewKeys checks that the error names the parent with too many items.
func TestTooFewKeys(t *testing.T) {
	m, err := modelfile.Parse("m.yaml", []byte(`name: m
tables: {Tab: {partition: PK, sort: SK}}
fields: {warehouse: {values: [W1, W2, W3]}}
entities:
  Product: {count: 50, attributes: {PK: "P#{product}", SK: A}}
  Stock: {of: Product, per: 1..3, attributes: {PK: "P#{product}", SK: "W#{warehouse}"}}
  Order: {of: Product, per: 4, attributes: {PK: "P#{product}", SK: "O#{warehouse}"}}
`))
	require.NoError(t, err)
	_, err = dataset.Build(t.Context(), m, dataset.Options{})
	require.EqualError(t, err, "m.yaml:7:3: entity Order has too few keys: one Product has 4 of them\n  hint: lower per or count, add a component of its own to the key, or give one more values")
}

// TestOwnFieldCarried checks that each item has the key of its parent's item, even if the parent declares a field of
// that key itself.
func TestOwnFieldCarried(t *testing.T) {
	w, err := build(t, `
fields: {room: {distinct: 20}}
entities:
  Reaction: {of: Message, per: 2, attributes: {PK: "ROOM#{room}", SK: "MSG#{at}#{id:ulid}#R#{user}"}}
  Message: {fields: {at: {type: time}}, attributes: {PK: "ROOM#{room}", SK: "MSG#{at}#{id:ulid}"}, count: 500}
`, dataset.Options{})
	require.NoError(t, err)
	key := func(it *dataset.Item) string {
		sort, _, _ := strings.Cut(string(it.Attributes.Get("SK").Raw()), "#R#")
		return string(it.Attributes.Get("PK").Raw()) + " " + sort
	}
	messages, reactions := map[string]bool{}, 0
	for i := range w.Items {
		if it := &w.Items[i]; it.Entity.Name == "Message" {
			messages[key(it)] = true
		}
	}
	for i := range w.Items {
		if it := &w.Items[i]; it.Entity.Name == "Reaction" {
			reactions++
			require.True(t, messages[key(it)], key(it))
		}
	}
	require.Equal(t, 1000, reactions)
}
