package modelfile_test

import (
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/model"
)

type values map[string]string

func (v values) Get(field string) string { return v[field] }

// samples yields the values of the samples of an entity.
func samples(e *model.Entity) iter.Seq[model.Values] {
	return func(yield func(model.Values) bool) {
		for _, s := range e.Samples {
			if !yield(values(s.Values)) {
				return
			}
		}
	}
}

// TestShownParents checks which parents the keys of entities show.
func TestShownParents(t *testing.T) {
	const head = `name: m
tables: {Tab: {partition: PK, sort: SK, indexes: {GSI1: {partition: GSI1PK, sort: SK}}}}
fields: {at: {type: time}, state: {values: [a, b]}}
entities:
  Org: {attributes: {PK: "O#{org}", SK: A}}
  Project: {attributes: {PK: "O#{org}", SK: "P#{project}"}}
  User: {attributes: {PK: "U#{user}", SK: A}}
  Order: {attributes: {PK: "U#{user}", SK: "ORDER#{at}#{orderId}"}}
  Grade: {attributes: {PK: "U#{user}", SK: "G#{course}"}}
  State: {attributes: {PK: "STATE#{state}", SK: A}}
  Child: {attributes: `
	for _, tt := range []struct{ name, child, want string }{
		{"the nearest", `{PK: "P#{org}#{project}", SK: "C#{c}"}}`, "Project"},
		{"the key of an index", `{PK: "C#{c}", SK: "C#{c}", GSI1PK: "O#{org}"}}`, "Org"},
		{"two", `{PK: "O#{org}", SK: "U#{user}"}}`, "Org User"},
		{"by the name of the parent", `{PK: "ORDER#{orderId}", SK: "C#{c}"}}`, "Order"},
		{"a part of a key that has another name", `{PK: "COURSE#{course}", SK: "C#{c}"}}`, ""},
		{"a time and a part of the key", `{PK: "X#{x}", SK: "C#{at}#{c}"}}`, ""},
		{"a value of few", `{PK: "STATE#{state}", SK: "C#{c}"}}`, ""},
		{"the same key", `{PK: "O#{org}", SK: B}}`, ""},
		{"declared already", `{PK: "P#{org}#{project}", SK: "C#{c}"}, of: Project}`, ""},
		{"declared above", `{PK: "P#{org}#{project}", SK: "C#{c}", GSI1PK: "U#{user}"}, of: Project}`, "User"},
	} {
		m := parse(t, head+tt.child+"\n")
		var got []string
		for _, s := range m.ShownParents(m.Entity("Child"), samples, func(*model.ShownParent) bool { return true }) {
			got = append(got, s.Name)
		}
		slices.Sort(got)
		require.Equal(t, tt.want, strings.Join(got, " "), tt.name)
	}
}

// TestShownParentsCount checks the counts of parents, children and orphans.
func TestShownParentsCount(t *testing.T) {
	m := parse(t, `name: m
tables: {Tab: {partition: PK, sort: SK}}
entities:
  Org: {attributes: {PK: "O#{org}", SK: A}, samples: [{org: x}, {org: y}, {org: z}]}
  User: {attributes: {PK: "O#{org}", SK: "U#{user}"}, samples: [{org: x, user: 1}, {org: x, user: 2}, {org: w, user: 1}, {org: z, user: 1}]}
`)
	var got *model.ShownParent
	m.ShownParents(m.Entity("User"), samples, func(s *model.ShownParent) bool {
		got = s
		return false
	})
	require.Equal(t, 3, got.Items)
	require.Equal(t, []int{0, 1, 2}, got.Per)
	require.Equal(t, 1, got.Orphans)
	require.Equal(t, "w", got.Orphan.Get("org"))
}
