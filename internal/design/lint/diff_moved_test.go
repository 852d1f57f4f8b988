package lint_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/diff"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

// TestOnlyChanged holds that if only an entity's sort key changes, the plan moves only its items, and within the
// table.
func TestOnlyChanged(t *testing.T) {
	t.Parallel()
	moves := 0
	proptest.Check(t, 200, func(c *proptest.T) {
		old := randomVersion(c)
		for _, table := range old.tables {
			table.scanned = false // a scan would read both forms, whatever their keys
		}
		for _, e := range old.entities {
			e.ranged = e.ranged && e.attributes["SK"][0].field == 0 // otherwise a query would read the whole partition
		}
		made := old.clone()
		e := proptest.Pick(c, made.entities...)
		s := e.attributes["SK"]
		if s[0].field != 0 {
			return // the sort key does not begin with a word
		}
		switch c.IntN(3) {
		case 0:
			s[0].text = made.name("Word") + "#"
		case 1:
			e.attributes["SK"] = append(slices.Clone(s[:1]), s[len(s)-1])
		case 2:
			if size := e.fields[2]; !slices.Contains(e.fieldsOf(s), size.name) {
				e.attributes["SK"] = slices.Insert(slices.Clone(s), 1, piece{field: size.id}, piece{text: "#"})
			}
		}

		was, closeWas := sideOf(c, old)
		if was == nil {
			return
		}
		defer closeWas()
		is, closeIs := sideOf(c, made)
		if is == nil {
			return
		}
		defer closeIs()
		for _, other := range was.Dataset.Model.Entities {
			k := is.Dataset.Model.Entity(other.Name).Attribute("SK").Template
			if other.Name != e.name && k.Explicit() != other.Attribute("SK").Template.Explicit() {
				return // other takes the type of a field from the changed template, so its key changed too
			}
		}
		d, err := diff.Of(c.TB().Context(), *was, *is, nil)
		require.NoError(c, err)
		c.Logf("%s\n===\n%s\n%v", old.source(), made.source(), d.Questions)
		require.Empty(c, d.Questions)
		for _, step := range d.Plan {
			require.NotEqual(c, diff.CreateTable, step.Kind, "%v", d.Names)
			if step.Kind == diff.PutItems {
				require.Equal(c, e.name, step.Entity, "%v", d.Names)
				moves++
			}
		}
	})
	t.Logf("%d moves", moves)
}
