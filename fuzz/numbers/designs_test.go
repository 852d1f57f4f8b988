package numbers_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/expr/ast"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/design/world"
)

var designs = flag.Bool("designs", false, "compare the figures of whole designs")

// TestDesigns compares the figures of whole designs, told from the default sample, with a count of all items. It
// logs a table of both.
func TestDesigns(t *testing.T) {
	if !*designs {
		t.Skip("each has more than half a million items: run with -designs")
	}
	files, err := filepath.Glob("testdata/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		m, err := modelfile.Parse(file, source)
		require.NoError(t, err)
		_, items := worldOf(t, m, world.Options{MaxItems: 1 << 30, MaxBytes: 1 << 40}, false)
		sample, some := worldOf(t, m, world.Options{}, true)
		t.Logf("%s: %d items, of which a sample has %d\n%-32s %28s | %28s | %s", file, len(items), len(some), "",
			"rows told: p50 p95 worst", "counted", "mean units told, counted")
		for i, p := range m.Patterns {
			if len(p.Where) == 0 || p.Operation != "Query" {
				continue
			}
			q := patternOf(p)
			exact, told := figures(q.naive(items)), figuresOf(sample.Patterns[i].Spread)
			mark := ""
			for k := range exact.rows {
				if !near(exact.units[k], told.units[k], 0.5) || !q.mixed && !near(exact.rows[k], told.rows[k], 1) {
					mark = " differs"
				}
			}
			if !near(exact.mean, told.mean, 0.25) {
				mark = " differs"
			}
			t.Logf("%-32s %8.0f %8.0f %10.0f | %8.0f %8.0f %10.0f | %9.3f %9.3f%s", p.Name, told.rows[0], told.rows[1],
				told.rows[2], exact.rows[0], exact.rows[1], exact.rows[2], told.mean, exact.mean, mark)
			if mark != "" {
				t.Errorf("%s: %s", file, p.Name)
			}
		}
	}
}

func worldOf(t *testing.T, m *model.Model, o world.Options, run bool) (*check.Result, []world.Item) {
	w, err := world.Build(t.Context(), m, o)
	require.NoError(t, err)
	defer w.Close()
	if !run {
		return nil, w.Items
	}
	r, err := check.Run(t.Context(), w, check.Options{})
	require.NoError(t, err)
	return r, w.Items
}

// patternOf returns a pattern of equalities with the beginnings of the keys that it asks for.
func patternOf(p *model.Pattern) *randomPattern {
	q := &randomPattern{name: p.Name, entity: p.Entity.Name, limit: p.Limit, mixed: true}
	hash, sort := p.Table.Partition[0].Name, p.Table.Sort[0].Name
	if p.Index != nil {
		q.index, hash, sort = p.Index.Name, p.Index.Partition[0].Name, p.Index.Sort[0].Name
	}
	q.keys = [2]string{hash, sort}
	fixed := map[string]bool{}
	for _, w := range p.Where {
		if w.Op != ast.Equal {
			panic(fmt.Sprintf("%s: a naive count knows = alone", p.Name))
		}
		fixed[w.Field] = true
	}
	text := func(name string) string {
		a := p.Entity.Attribute(name)
		if a.Template == nil {
			return string(a.Const.Raw())
		}
		return a.Template.String()
	}
	q.pk, q.sk = text(hash), text(sort)
	for e := p.Entity; len(e.Parents) > 0; {
		e = e.Parents[0].Entity
		for name := range fixed {
			if !e.ComponentsOf(e.Table.Keys())[name] {
				return q.upTo(fixed)
			}
		}
		q.parent = e.Name
	}
	return q.upTo(fixed)
}

// upTo ends the beginning of the sort key where a field is not fixed.
func (q *randomPattern) upTo(fixed map[string]bool) *randomPattern {
	for rest := q.sk; ; {
		_, after, ok := strings.Cut(rest, "{")
		if !ok {
			break
		}
		field, tail, _ := strings.Cut(after, "}")
		if !fixed[field] {
			q.sk = q.sk[:len(q.sk)-len(after)-1]
			break
		}
		rest = tail
	}
	return q
}
