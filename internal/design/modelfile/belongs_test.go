package modelfile_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
)

func parse(t *testing.T, src string) *model.Model {
	t.Helper()
	m, err := modelfile.Parse("m.yaml", []byte(src))
	require.NoError(t, err)
	return m
}

const tree = `name: m
tables: {Tab: {partition: PK, sort: SK, indexes: {ByOrg: {partition: org, sort: SK}}}}
fields: {at: {type: time}}
entities:
  Comment: {of: Task, per: 1..2, attributes: {PK: "T#{task}", SK: "{at}#{comment}", org: "{org}"}}
  Task: {of: [Project, User], per: [{p50: 3, max: 9}, even], attributes: {PK: "P#{org}#{project}", SK: "T#{at:date}#{task}#{user}"}}
  Project: {of: Org, per: 10, count: 50, attributes: {PK: "O#{org}", SK: "P#{project}"}}
  Org: {attributes: {PK: "O#{org}", SK: A}}
  User: {count: 30, attributes: {PK: "U#{user}", SK: A}}
`

// TestCounts checks that missing counts of parents and of children are computed from the others.
func TestCounts(t *testing.T) {
	m := parse(t, tree)
	got := map[string]int{}
	for _, e := range m.Entities {
		got[e.Name] = e.Count
	}
	// Half of the projects have (0+3)/2 tasks on average and half (3+9)/2, so the mean is 3.75.
	require.Equal(t, map[string]int{"Org": 5, "User": 30, "Project": 50, "Task": 188, "Comment": 282}, got)
}

// TestCarried checks which fields an item copies from a parent: those in the keys of the parent and its ancestors,
// but no time of the child's own.
func TestCarried(t *testing.T) {
	m := parse(t, tree)
	from := func(entity, field string) string {
		e := m.Entity(entity)
		require.NotNil(t, e.Field(field), field)
		if p := e.CarriedFrom(e.Field(field)); p != nil {
			return p.Name
		}
		return ""
	}
	for _, tt := range []struct{ entity, field, want string }{
		{"Comment", "task", "Task"}, {"Comment", "org", "Task"}, {"Comment", "at", ""}, {"Comment", "comment", ""},
		{"Task", "org", "Project"}, {"Task", "project", "Project"}, {"Task", "user", "User"}, {"Task", "task", ""},
		{"Project", "org", "Org"}, {"Project", "project", ""}, {"Org", "org", ""},
	} {
		if got := from(tt.entity, tt.field); got != tt.want {
			t.Errorf("%s has %s from %q, want %q", tt.entity, tt.field, got, tt.want)
		}
	}
	require.Equal(t, []*model.Entity{m.Entity("Task"), m.Entity("Project"), m.Entity("User"), m.Entity("Org")}, m.Entity("Comment").Ancestors())
}

// TestOwnFieldCarried checks that a child copies a field that its parent declares, with its type, unless the child
// declares a field of that name.
func TestOwnFieldCarried(t *testing.T) {
	m := parse(t, `name: m
tables: {Tab: {partition: PK, sort: SK}}
entities:
  Reaction: {of: Message, attributes: {PK: "R#{room}", SK: "M#{at}#{id}#R#{user}", note: "{text}"}}
  Pin: {of: Message, fields: {at: {type: date}}, attributes: {PK: "R#{room}", SK: "M#{id}#P#{at}"}}
  Message: {fields: {at: {type: time}, text: {type: number}}, attributes: {PK: "R#{room}", SK: "M#{at}#{id}"}}
`)
	message, reaction, pin := m.Entity("Message"), m.Entity("Reaction"), m.Entity("Pin")
	require.Same(t, message.Field("at"), reaction.Field("at"))
	require.Same(t, message, reaction.CarriedFrom(reaction.Field("at")))
	require.NotSame(t, message.Field("text"), reaction.Field("text"))
	require.Equal(t, "date", pin.Field("at").Type.Name)
	require.Nil(t, pin.CarriedFrom(pin.Field("at")))

	var src strings.Builder
	require.NoError(t, modelfile.Write(&src, m))
	again := parse(t, src.String())
	require.Same(t, again.Entity("Message").Field("at"), again.Entity("Reaction").Field("at"))
	require.Equal(t, 1, strings.Count(src.String(), "at: time"), src.String())
}

// TestPer compares the numbers per parent with the quantiles that they are made from.
func TestPer(t *testing.T) {
	p50, p95 := 27, 35
	for _, tt := range []struct {
		per           model.Per
		text          string
		mean          float64
		min, mid, max uint64
	}{
		{model.Per{Min: 27, Max: 27}, "27", 27, 27, 27, 27},
		{model.Per{Min: 5, Max: 50}, "5..50", 27.5, 5, 27, 50},
		{model.Per{Max: 1}, "0..1", 0.5, 0, 0, 1},
		{model.Per{Min: 1, P50: &p50, P95: &p95, Max: 190}, "", 26.575, 1, 27, 190},
	} {
		mean, ok := tt.per.Mean()
		require.True(t, ok)
		require.InDelta(t, tt.mean, mean, 1e-9)
		require.Equal(t, tt.text, tt.per.String())
		const n = 2001
		at := func(i uint64) uint64 { return tt.per.At(i, n) / model.PerUnit }
		require.Equal(t, []uint64{tt.min, tt.mid, tt.max}, []uint64{at(0), at(n / 2), at(n - 1)}, tt.text)
		sum, last := uint64(0), uint64(0)
		for i := range uint64(n) {
			v := tt.per.At(i, n)
			require.GreaterOrEqual(t, v, last)
			sum, last = sum+v, v
		}
		require.InEpsilon(t, mean, float64(sum)/n/model.PerUnit, 0.01)
	}
	_, ok := model.Per{Skew: 1}.Mean()
	require.False(t, ok)
}
