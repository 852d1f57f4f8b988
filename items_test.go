package sortkey_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
)

func open(t *testing.T, opts sortkey.Options) *sortkey.DB {
	t.Helper()
	db, err := sortkey.Open(opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// TestOptionKinds tests that each operation takes the options that apply to it, and refuses the others by name.
func TestOptionKinds(t *testing.T) {
	db, ctx := open(t, sortkey.Options{}), t.Context()
	require.NoError(t, db.CreateTable(ctx, "Items", "p / s", sortkey.Stream()))
	items := sortkey.Table[map[string]string](db, "Items")
	item := map[string]string{"p": "P", "s": "S"}

	var old attr.Item
	options := map[string]sortkey.Option{
		"If":    sortkey.If("attribute_exists(p) OR attribute_not_exists(p)"),
		"Where": sortkey.Where("attribute_not_exists(gone)"),
		"Only":  sortkey.Only("p"), "Limit": sortkey.Limit(1), "After": sortkey.After(""),
		"Segment": sortkey.Segment(0, 1),
		"Old":     sortkey.Old(&old), "Consistent": sortkey.Consistent, "Descending": sortkey.Descending,
		"UntilNow": sortkey.UntilNow,
	}
	ended, end := context.WithCancel(ctx)
	end()

	for _, op := range []struct {
		name, takes string
		call        func(o sortkey.Option) error
	}{
		{"Put", "If Old", func(o sortkey.Option) error { return items.Put(ctx, item, o) }},
		{"Get", "Only Consistent", func(o sortkey.Option) error { _, err := items.Get(ctx, "P", "S", o); return err }},
		{"Update", "If Old", func(o sortkey.Option) error {
			_, err := items.Update(ctx, sortkey.Key{"P", "S"}, "SET a = :a", "x", o)
			return err
		}},
		{"Query", "Where Only Limit After Consistent Descending", func(o sortkey.Option) error {
			_, err := items.QueryPage(ctx, "P", o)
			return err
		}},
		{"Scan", "Where Only Limit After Consistent Segment", func(o sortkey.Option) error {
			_, err := items.ScanPage(ctx, o)
			return err
		}},
		{"Changes", "UntilNow", func(o sortkey.Option) (last error) {
			for _, last = range items.Changes(ended, "", o) {
			}
			if errors.Is(last, context.Canceled) {
				last = nil
			}
			return last
		}},
		{"Delete", "If Old", func(o sortkey.Option) error { return items.Delete(ctx, "P", "S", o) }},
	} {
		for name, o := range options {
			require.NoError(t, items.Put(ctx, item))
			err := op.call(o)
			if slices.Contains(strings.Fields(op.takes), name) {
				require.NoError(t, err, "%s with %s", op.name, name)
				continue
			}
			require.ErrorContains(t, err, op.name+" takes no option "+name+", only ")
			_, err = items.Get(ctx, "P", "S")
			require.NoError(t, err, "nothing has been done")
		}
	}

	_, err := items.ScanPage(ctx, sortkey.Segment(0, 0))
	require.ErrorContains(t, err, "TotalSegments", "the service's own check")
}

func TestExpressionText(t *testing.T) {
	db, ctx := open(t, sortkey.Options{}), t.Context()
	require.NoError(t, db.CreateTable(ctx, "Items", "p"))
	items := sortkey.Table[map[string]any](db, "Items")
	require.NoError(t, items.Put(ctx, map[string]any{"p": "P", "size": 3, "a-b": "x"}))

	for _, condition := range []string{
		"size = :n", "size (p) < size\n AND size\n\t(p) < :n", "`a-b` < p OR size = :n",
	} {
		require.NoError(t, items.Put(ctx, map[string]any{"p": "P", "size": 3, "a-b": "x"}, sortkey.If(condition, 3)),
			condition)
	}
	for condition, want := range map[string]string{
		"#n = :n":       "there are no placeholders for names",
		"p = :n AND :m": "no value for :m",
		"p = p":         "p = p: 1 value has no placeholder",
		"`p = :n":       "a backquote is not closed",
	} {
		require.ErrorContains(t, items.Put(ctx, map[string]any{"p": "P"}, sortkey.If(condition, 3)), want)
	}
}

// TestExpiringTable tests that a new table has its time to live from the beginning, whatever TableDelay is.
func TestExpiringTable(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	db := open(t, sortkey.Options{
		Clock: func() time.Time { return now }, Simulate: sortkey.Simulation{TableDelay: time.Minute},
	})
	ctx := t.Context()
	for _, attribute := range []string{"", strings.Repeat("x", 256), "\xff"} {
		require.ErrorContains(t, db.CreateTable(ctx, "Items", "p", sortkey.TimeToLive(attribute)),
			"want the name of an attribute")
	}
	tables, err := db.Tables(ctx)
	require.NoError(t, err)
	require.Empty(t, tables)

	require.NoError(t, db.CreateTable(ctx, "Items", "p", sortkey.TimeToLive("until")))
	now = now.Add(2 * time.Minute)
	items := sortkey.Table[map[string]any](db, "Items")
	require.NoError(t, items.Put(ctx, map[string]any{"p": "P", "until": now.Unix() - 1}))
	_, err = db.Sweep(ctx)
	require.NoError(t, err)
	_, err = items.Get(ctx, "P")
	require.ErrorIs(t, err, sortkey.ErrNotFound)
}

// TestLiteralWords tests that true, false and null are values in expressions, and attribute names where no value is
// allowed.
func TestLiteralWords(t *testing.T) {
	db, err := sortkey.Open(sortkey.Options{})
	require.NoError(t, err)
	defer db.Close()
	ctx := t.Context()
	require.NoError(t, db.CreateTable(ctx, "Words", "id"))
	rows := sortkey.Table[map[string]any](db, "Words")
	for _, word := range []string{"true", "false", "null"} {
		require.NoError(t, rows.Put(ctx, map[string]any{"id": "a", word: 5, "b": true, "x": 1}))
		got, err := rows.Get(ctx, "a", sortkey.Only(word, "x"))
		require.NoError(t, err)
		require.Equal(t, map[string]any{word: 5., "x": 1.}, got)
		for update, args := range map[string][]any{
			"SET w = :v": {1}, "SET x = true, w = null": nil, "SET w = if_not_exists(w, :v) REMOVE x": {2},
			"REMOVE w": nil, "ADD w :v": {3}, "REMOVE x, w": nil,
		} {
			require.NoError(t, rows.Put(ctx, map[string]any{"id": "a", word: 5, "b": true, "x": 1}))
			update = strings.ReplaceAll(update, "w", word)
			_, err := rows.Update(ctx, sortkey.Key{"a"}, update, args...)
			require.NoError(t, err, update)
		}
		require.NoError(t,
			rows.Put(ctx, map[string]any{"id": "a", word: 5, "b": true}, sortkey.If("attribute_exists(id)")))
		require.NoError(t, rows.Put(ctx, map[string]any{"id": "a", word: 5, "b": true},
			sortkey.If("attribute_exists("+word+") AND `"+word+"` = 5 AND b = true AND NOT b = false")))
	}
}

// TestReservedWords tests that each word of the expression language can be an attribute name wherever a name is
// allowed.
func TestReservedWords(t *testing.T) {
	db, err := sortkey.Open(sortkey.Options{})
	require.NoError(t, err)
	defer db.Close()
	ctx := t.Context()
	require.NoError(t, db.CreateTable(ctx, "Words", "id"))
	rows := sortkey.Table[map[string]any](db, "Words")
	for _, word := range []string{
		"set", "add", "delete", "remove", "in", "and", "or", "not", "between", "SET", "And", "status", "size", "_x",
		"contains", "name", "begins_with", "attribute_exists",
	} {
		require.NoError(t, rows.Put(ctx, map[string]any{"id": "a", word: 1, "n": map[string]any{word: 2}}), word)
		got, err := rows.Get(ctx, "a", sortkey.Only(word, "n."+word))
		require.NoError(t, err, word)
		require.Equal(t, map[string]any{word: 1., "n": map[string]any{word: 2.}}, got)

		for _, condition := range []string{
			"w = :x", ":x = w", "w IN (:x, n.w)", "n.w IN (3, w, 2)", "w BETWEEN :x AND n.w", "NOT w <> :x",
			"NOT (w <> :x) AND w = :x OR w = n.w",
			"attribute_exists(w) AND n.w > :x", "(w = :x) AND NOT w = n.w", "w = 1 AND id = 'a'",
			"attribute_not_exists(w.w)", "w IN (1)", "1 BETWEEN w AND n.w", "`w` == :x", "w != 2 AND w >= :x",
		} {
			condition = strings.ReplaceAll(condition, "w", word)
			if strings.Contains(word, "w") { // begins_with
				continue
			}
			args := []any{}
			if strings.Contains(condition, ":x") {
				args = append(args, 1)
			}
			require.NoError(t, rows.Put(ctx, map[string]any{"id": "a", word: 1, "n": map[string]any{word: 2}},
				sortkey.If(condition, args...)), condition)
		}
		for update, args := range map[string][]any{
			"SET w = w + :x": {1}, "SET w = w+1": nil, "SET w = w-1, n.w = 5 REMOVE x": nil,
			"SET n.w = :x, w = n.w ADD v :x": {3},
			"REMOVE n.w SET w = 1":           nil, "SET w = if_not_exists(x, :x) + 1": {1}, "ADD w :x": {0},
		} {
			if strings.Contains(word, "w") {
				continue
			}
			update := strings.ReplaceAll(update, "w", word)
			require.NoError(t, rows.Put(ctx, map[string]any{"id": "a", word: 1, "n": map[string]any{word: 2}}))
			_, err := rows.Update(ctx, sortkey.Key{"a"}, update, args...)
			require.NoError(t, err, update)
		}
	}
}
