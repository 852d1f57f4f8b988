package keycond_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/memory"
)

// pageFixture is a store with ten items of partition "a", whose sort keys are 0 to 9.
type pageFixture struct {
	*testing.T
	st     store.Store
	schema *keycond.Schema
}

func newPages(t *testing.T) *pageFixture {
	f := &pageFixture{t, memory.Open(), parsedSchema(t, "p / s:N")}
	t.Cleanup(func() { require.NoError(t, f.st.Close()) })
	require.NoError(t, f.st.Update(t.Context(), func(w store.Writer) error {
		for i := range 10 {
			it := parsedItem(t, fmt.Sprintf(`{"p": {"S": "a"}, "s": {"N": "%d"}, "odd": {"BOOL": %t}}`, i, i%2 == 1))
			partition, sort, err := f.schema.Place(it)
			require.NoError(t, err)
			require.NoError(t, w.Put(1, partition, sort, it))
		}
		return nil
	}))
	return f
}

func parsedSchema(t *testing.T, key string) *keycond.Schema {
	s, err := keycond.ParseSchema(key)
	require.NoError(t, err)
	return s
}

func parsedItem(t *testing.T, text string) attr.Item {
	it, err := attr.ParseItem([]byte(text))
	require.NoError(t, err)
	return it
}

func (f *pageFixture) slice(clauses ...keycond.Clause) *keycond.Slice {
	one := keycond.Clause{Attribute: "p", Op: ast.Equal, Values: []attr.Value{attr.NewString("a")}}
	s, err := keycond.Of(f.schema, append(clauses, one)...)
	require.NoError(f, err)
	return s
}

// page reads a page of all ten, and returns the sort keys that were visited.
func (f *pageFixture) page(o keycond.PageOptions, visit func(n int) error) (page keycond.Page, keys string, err error) {
	err = f.st.View(f.Context(), func(r store.Reader) (err error) {
		visited := 0
		page, err = f.slice().Page(r, 1, o, func(it attr.Item) error {
			keys += string(it.Get("s").AppendNumber(nil))
			visited++
			if visit == nil {
				return nil
			}
			return visit(visited)
		})
		return err
	})
	return page, keys, err
}

func TestPage(t *testing.T) {
	f := newPages(t)
	failure := errors.New("no")
	values := parsedItem(t, `{":t": {"BOOL": true}}`)
	env, err := expr.NewEnv(expr.Params{Values: values})
	require.NoError(t, err)
	odd, err := env.Condition(expr.FilterExpression, "odd = :t")
	require.NoError(t, err)
	start := func(n int) attr.Item { return parsedItem(t, fmt.Sprintf(`{"p": {"S": "a"}, "s": {"N": "%d"}}`, n)) }

	for _, tt := range []struct {
		name               string
		o                  keycond.PageOptions
		visit              func(n int) error
		keys               string
		examined, returned int
		last               string // the sort key of Last
		stop               keycond.Stop
	}{
		{"all", keycond.PageOptions{}, nil, "0123456789", 10, 10, "", keycond.StopEnd},
		{"backwards", keycond.PageOptions{Reverse: true}, nil, "9876543210", 10, 10, "", keycond.StopEnd},
		{"a limit", keycond.PageOptions{Limit: 3}, nil, "012", 3, 3, "2", keycond.StopLimit},
		{"a limit that is the end", keycond.PageOptions{Limit: 10}, nil, "0123456789", 10, 10, "9", keycond.StopLimit},
		{"a limit above the end", keycond.PageOptions{Limit: 11}, nil, "0123456789", 10, 10, "", keycond.StopEnd},
		{"a filter, which is examined too", keycond.PageOptions{Limit: 4, Filter: odd}, nil, "13", 4, 2, "3", keycond.StopLimit},
		{"after an item", keycond.PageOptions{Start: start(6)}, nil, "789", 3, 3, "", keycond.StopEnd},
		{"after the last", keycond.PageOptions{Start: start(9)}, nil, "", 0, 0, "", keycond.StopEnd},
		{"before the first", keycond.PageOptions{Start: start(0), Reverse: true}, nil, "", 0, 0, "", keycond.StopEnd},
		{"after no item", keycond.PageOptions{Start: start(-5), Limit: 1}, nil, "0", 1, 1, "0", keycond.StopLimit},
		{"ended by the visitor", keycond.PageOptions{}, func(n int) error {
			if n == 2 {
				return fmt.Errorf("enough: %w", keycond.ErrEndPage)
			}
			return nil
		}, "01", 2, 2, "1", keycond.StopAnswer},
	} {
		page, keys, err := f.page(tt.o, tt.visit)
		require.NoError(t, err, tt.name)
		require.Equal(t, tt.keys, keys, tt.name)
		require.Equal(t, []int{tt.examined, tt.returned}, []int{page.Examined, page.Returned}, tt.name)
		require.Equal(t, tt.stop, page.Stop, tt.name)
		require.Equal(t, tt.last, string(page.Last.Get("s").AppendNumber(nil)), tt.name)
	}

	for _, tt := range []struct {
		name  string
		o     keycond.PageOptions
		visit func(int) error
		want  string
	}{
		{"an error of the visitor", keycond.PageOptions{}, func(int) error { return failure }, "no"},
		{"an error of Examine", keycond.PageOptions{Examine: func(attr.Item) error { return failure }}, nil, "no"},
		{"another partition", keycond.PageOptions{Start: parsedItem(t, `{"p": {"S": "b"}, "s": {"N": "1"}}`)}, nil,
			"The provided starting key is outside query boundaries based on provided conditions"},
		{"a start without its sort key", keycond.PageOptions{Start: parsedItem(t, `{"p": {"S": "a"}}`)}, nil,
			"the item has no attribute s, which is in the key"},
		{"a start of another type", keycond.PageOptions{Start: parsedItem(t, `{"p": {"S": "a"}, "s": {"S": "1"}}`)}, nil,
			"the key attribute s is of type N, not S"},
	} {
		page, _, err := f.page(tt.o, tt.visit)
		require.EqualError(t, err, tt.want, tt.name)
		require.Zero(t, page, tt.name)
	}

	require.NoError(t, f.st.View(t.Context(), func(r store.Reader) error {
		_, err := new(keycond.Slice).Page(r, 1, keycond.PageOptions{}, nil)
		require.ErrorContains(t, err, "neither Compile nor Of")
		return nil
	}))
	ended, cancel := context.WithCancel(t.Context())
	err = f.st.View(ended, func(r store.Reader) error {
		cancel()
		_, err := f.slice().Page(r, 1, keycond.PageOptions{}, func(attr.Item) error { return nil })
		return err
	})
	require.ErrorIs(t, err, context.Canceled)
}

// TestAfter tries positions outside of the slice, which no key condition gives.
func TestAfter(t *testing.T) {
	f := newPages(t)
	number := func(s string) attr.Value {
		v, err := attr.NewNumber(s)
		require.NoError(t, err)
		return v
	}
	slice := f.slice(keycond.Clause{
		Attribute: "s", Op: ast.OpBetween, Values: []attr.Value{number("3"), number("5")},
	})
	for _, tt := range []struct {
		after   string
		reverse bool
		want    string
	}{
		{"2", false, "345"}, {"3", false, "45"}, {"4.5", false, "5"}, {"5", false, ""}, {"9", false, ""},
		{"6", true, "543"}, {"5", true, "43"}, {"3.5", true, "3"}, {"3", true, ""}, {"-1", true, ""},
	} {
		rest, got := slice.After(number(tt.after).Raw(), tt.reverse), ""
		require.NoError(t, f.st.View(t.Context(), func(r store.Reader) error {
			for row, err := range rest.Rows(r, 1, tt.reverse) {
				require.NoError(t, err)
				got += string(attr.Item(row.Value).Get("s").AppendNumber(nil))
				require.True(t, rest.Contains(rest.Partition, row.Sort))
			}
			return nil
		}))
		require.Equal(t, tt.want, got, "%+v", tt)
	}
}

// TestOf tries clauses that no expression can contain.
func TestOf(t *testing.T) {
	schema := parsedSchema(t, "p / s")
	one := []attr.Value{attr.NewString("a")}
	equal := keycond.Clause{Attribute: "p", Op: ast.Equal, Values: one}
	for _, tt := range []struct {
		want    string
		clauses []keycond.Clause
	}{
		{"Query condition missed key schema element: p", nil},
		{"Query condition missed key schema element: p", []keycond.Clause{{Attribute: "s", Op: ast.Equal, Values: one}}},
		{"Invalid operator used in KeyConditionExpression: ", []keycond.Clause{{Attribute: "p", Values: one}}},
		{"Invalid operator used in KeyConditionExpression: <>", []keycond.Clause{{Attribute: "p", Op: ast.NotEqual, Values: one}}},
		{"the condition on p has 0 operands, and = takes 1", []keycond.Clause{{Attribute: "p", Op: ast.Equal}}},
		{"the condition on s has 1 operand, and BETWEEN takes 2",
			[]keycond.Clause{equal, {Attribute: "s", Op: ast.OpBetween, Values: one}}},
		{"Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key",
			[]keycond.Clause{equal, equal}},
		{"Query condition missed key schema element: s", []keycond.Clause{equal, {Attribute: "x", Op: ast.Equal, Values: one}}},
		{"One or more parameter values were invalid: Condition parameter type does not match schema type",
			[]keycond.Clause{{Attribute: "p", Op: ast.Equal, Values: []attr.Value{{}}}}},
		{"One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: p",
			[]keycond.Clause{{Attribute: "p", Op: ast.Equal, Values: []attr.Value{attr.NewString("")}}}},
	} {
		_, err := keycond.Of(schema, tt.clauses...)
		require.EqualError(t, err, tt.want)
	}
	_, err := keycond.Compile(schema, nil)
	require.EqualError(t, err, "Query condition missed key schema element: p")
}

// TestMadeSchemas tries keys that no table can have.
func TestMadeSchemas(t *testing.T) {
	a, b, c := keycond.Attribute{Name: "a", Kind: attr.String}, keycond.Attribute{Name: "b", Kind: attr.String},
		keycond.Attribute{Name: "c", Kind: attr.String}
	table := keycond.NewSchema([]keycond.Attribute{a}, nil)
	one := keycond.Clause{Attribute: "a", Op: ast.Equal, Values: []attr.Value{attr.NewString("x")}}
	for _, s := range []*keycond.Schema{
		{}, keycond.NewSchema(nil, nil), keycond.NewSchema([]keycond.Attribute{a, b}, nil),
		keycond.NewSchema([]keycond.Attribute{a}, []keycond.Attribute{b, c}),
		keycond.NewSchema([]keycond.Attribute{{Name: "a", Kind: attr.Bool}}, nil),
		new(keycond.Schema).NewIndex("i", []keycond.Attribute{a}, nil),
		table.NewIndex("i", []keycond.Attribute{b}, nil).NewIndex("j", []keycond.Attribute{c}, nil),
		table.NewIndex("i", []keycond.Attribute{{Name: "b"}}, nil), table.NewIndex("i", nil, nil),
	} {
		_, _, err := s.Place(parsedItem(t, `{"a": {"S": "x"}, "b": {"S": "x"}, "c": {"S": "x"}}`))
		require.Error(t, err)
		_, err = keycond.Of(s, one)
		require.Error(t, err)
		_, err = keycond.Compile(s, nil)
		require.Error(t, err)
	}
}

// TestParseSchema parses keys as people write them.
func TestParseSchema(t *testing.T) {
	for _, key := range []string{"p", "p:N", "customer / order", "sensor / second:N", "a:B / b:B", "`a/b` / `c``:d`:N"} {
		require.Equal(t, key, parsedSchema(t, key).String())
	}
	for _, key := range []string{"", " ", "/", "p /", "/ s", "p / s / t", "p:X", "p:SS", "p:", "`p", "p`q", "p, q", "p / s, t", "p:N:S", "p / p"} {
		_, err := keycond.ParseSchema(key)
		require.ErrorContains(t, err, key, "%q", key)
	}

	table := parsedSchema(t, "id / at:N")
	index, err := table.Index("ix", "country, at:N / city, `id`")
	require.NoError(t, err)
	require.Equal(t, "country, at:N / city, id", index.String())
	require.Len(t, index.Attributes(), 4, "attributes of the table's key count once")
	_, err = table.Index("ix", "a, b, c, d / e, f, g, h")
	require.NoError(t, err)
	for key, want := range map[string]string{
		"a, b, c, d, e": "more than 4 attributes", "a / b, c, d, e, f": "more than 4 attributes",
		"a / b, a": "has a twice", "at": "at of type S", "id:B / x": "id of type B",
	} {
		_, err = table.Index("ix", key)
		require.ErrorContains(t, err, want)
	}
	require.Nil(t, table.Table())
	require.Same(t, table, index.Table())
}

// TestPageSize reads pages whose size reaches 1 MB exactly, and pages that are a byte smaller.
func TestPageSize(t *testing.T) {
	schema := parsedSchema(t, "p")
	sized := func(size int) attr.Item {
		rest := len("p") + len("a") + len("body")
		var b attr.Builder
		b.Add("p", attr.NewString("a"))
		b.Add("body", attr.NewBinary(make([]byte, size-rest)))
		return b.Item()
	}
	for _, tt := range []struct {
		sizes           []int
		examined, bytes int
		stop            keycond.Stop
	}{
		{[]int{1 << 19, 1 << 19, 100}, 2, 1048576, keycond.StopSize},
		{[]int{1 << 19, 1 << 19}, 2, 1048576, keycond.StopSize},
		{[]int{1 << 19, 1<<19 - 1, 100, 100}, 3, 1048675, keycond.StopSize},
		{[]int{1 << 19, 1<<19 - 1}, 2, 1048575, keycond.StopEnd},
		{[]int{1 << 20, 100}, 1, 1048576, keycond.StopSize},
	} {
		page, err := schema.Page(func(yield func(store.Row, error) bool) {
			for _, size := range tt.sizes {
				if !yield(store.Row{Value: sized(size)}, nil) {
					return
				}
			}
		}, keycond.PageOptions{}, func(attr.Item) error { return nil })
		require.NoError(t, err)
		require.Equal(t, tt.examined, page.Examined, "%+v", tt)
		require.Equal(t, tt.bytes, page.Bytes, "%+v", tt)
		require.Equal(t, tt.stop, page.Stop, "%+v", tt)
		require.Equal(t, tt.stop == keycond.StopSize, page.Last != nil, "%+v", tt)
	}
}

// TestTie uses two keys of a table that have the same hash. Their rows in an index must be in the order of the key.
func TestTie(t *testing.T) {
	table := parsedSchema(t, "p / s:N")
	index, err := table.Index("ix", "g / r")
	require.NoError(t, err)
	at := func(n int) []byte {
		it := parsedItem(t, fmt.Sprintf(`{"p": {"S": "p"}, "s": {"N": "%d"}, "g": {"S": "g"}, "r": {"S": "r"}}`, n))
		_, sort, err := index.Place(it)
		require.NoError(t, err)
		return sort
	}

	seen := map[uint32]int{}
	for n := range 100_000 {
		hash := store.Hash(append([]byte("p"), numbers(fmt.Sprint(n))[0].Raw()...))
		if before, ok := seen[hash]; ok {
			require.Less(t, string(at(before)), string(at(n)), "%d and %d", before, n)
			return
		}
		seen[hash] = n
	}
	t.Fatal("all hashes differ")
}
