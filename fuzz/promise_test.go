package fuzz_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr"
	"github.com/sortkey/sortkey/expr/ast"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/btree"
	"github.com/sortkey/sortkey/store/disk"
	"github.com/sortkey/sortkey/store/memory"
)

// TestPromise is the specification of the core, in the sentences of its properties, on the public
// faces alone: attr, expr, keycond and store. What it compares with is Go's own order of strings and
// bytes, and math/big for numbers.
func TestPromise(t *testing.T) {
	for _, engine := range []struct {
		name string
		open func(t *testing.T) store.Store
	}{
		{"btree", func(*testing.T) store.Store { return btree.Open() }},
		{"memory", func(*testing.T) store.Store { return memory.Open() }},
		{"pebble in memory", func(t *testing.T) store.Store {
			return openDisk(t, "db", disk.Options{InMemory: true, SyncEvery: time.Hour})
		}},
		{"disk", func(t *testing.T) store.Store {
			return openDisk(t, filepath.Join(t.TempDir(), "db"), disk.Options{SyncEvery: time.Hour})
		}},
	} {
		t.Run(engine.name, func(t *testing.T) {
			t.Parallel()
			st := engine.open(t)
			t.Cleanup(func() { require.NoError(t, st.Close()) })
			promise(t, st)
		})
	}
}

func openDisk(t *testing.T, dir string, o disk.Options) store.Store {
	st, err := disk.Open(dir, o)
	require.NoError(t, err)
	return st
}

// promise runs the properties on a store. Each case has a space of its own.
func promise(t *testing.T, st store.Store) {
	spaces := store.Space(0)
	forAll := func(check func(*shelf, question) error) gopter.Prop {
		return prop.ForAll(func(kind attr.Kind, sorts []int, q question) (bool, error) {
			spaces++
			s := &shelf{st: st, space: spaces, kind: kind}
			if err := s.fill(sorts); err != nil {
				return false, err
			}
			err := errors.Join(check(s, q), s.clear())
			return err == nil, err
		}, genKind, gen.SliceOf(gen.IntRange(0, 1<<30)), genQuestion)
	}
	cases := proptest.Parameters(500)
	cases.MaxSize = 60
	p := gopter.NewProperties(cases)
	p.Property("a key condition reads the items whose sort key satisfies it, and no others, in the order of the sort key",
		forAll(func(s *shelf, q question) error {
			return s.both(s.table(), q, func(want []row) error { return s.sameRows(s.table(), q, want) })
		}))
	p.Property("the expression and the clauses of a key condition are one slice",
		forAll(func(s *shelf, q question) error { return s.sameSlice(q) }))
	p.Property("pages joined are the whole, whatever their limit, and each says what it read",
		forAll(func(s *shelf, q question) error {
			return s.both(s.table(), q, func(want []row) error { return s.samePages(s.table(), q, want) })
		}))
	p.Property("a page begins after any start key, whether or not an item has it",
		forAll(func(s *shelf, q question) error {
			return s.both(s.table(), q, func(want []row) error { return s.sameAfter(q, want) })
		}))
	p.Property("an index reads every item that satisfies the condition, those with equal sort keys in one order, backwards the same reversed",
		forAll(func(s *shelf, q question) error { return s.sameInIndex(q) }))
	p.TestingRun(t)

	large := proptest.Parameters(40)
	large.MaxSize = 12
	p = gopter.NewProperties(large)
	p.Property("a page ends with the item that brings it to 1 MB",
		forAll(func(s *shelf, q question) error {
			q.Limit = 0
			if err := s.store(150_000 + q.Padding%200_000); err != nil {
				return err
			}
			return s.both(s.table(), q, func(want []row) error { return s.samePages(s.table(), q, want) })
		}))
	p.TestingRun(t)
}

// A question is a condition on the sort key, and how to read its pages.
type question struct {
	Op       string
	Operands []int
	Reverse  bool
	Limit    int // 0 for none
	Start    int
	Padding  int // bytes added to an item
}

var (
	genKind     = gen.OneConstOf(attr.String, attr.Number, attr.Binary)
	genQuestion = gen.Struct(reflect.TypeFor[question](), map[string]gopter.Gen{
		"Op":       gen.OneConstOf("", "=", "<", "<=", ">", ">=", "BETWEEN", "begins_with"),
		"Operands": gen.SliceOfN(2, gen.IntRange(0, 1<<30)), "Reverse": gen.Bool(),
		"Limit": gen.IntRange(0, 7), "Start": gen.IntRange(0, 1<<30), "Padding": gen.IntRange(0, 1<<20),
	})
)

// sortKey returns the sort key of a kind with a number, as text of a number or as bytes. Near numbers
// have sort keys that lie near each other.
func sortKey(kind attr.Kind, n int) string {
	pick := func(list ...string) string {
		one := list[n%len(list)]
		n /= len(list)
		return one
	}
	switch kind {
	case attr.Number:
		digits := pick("1", "1.0", "9", "0.5", "0", "12345678901234567890123456789012345678",
			"12345678901234567890123456789012345679", "99999999999999999999999999999999999999")
		return pick("", "-") + digits + pick("", "E-1", "E1", "E80", "E-129", "E-100", "E2")
	case attr.Binary:
		return pick("\x00", "\x01", "\x7f", "\xff") + pick("", "\x00", "\xff", "\xff\xff") + pick("", "\x00", "\x01", "\xff")
	}
	return pick("a", "\x00", "\uffff", "\U00010000", "\U0010ffff", "é", "b", "A") +
		pick("", "\x00", "\u00ff", "\ue000", "\U00010000", "a") + pick("", "\x00", "a", "\U0010ffff")
}

// compareKeys is the order of sort keys, without any code of ours.
func compareKeys(kind attr.Kind, a, b string) int {
	if kind != attr.Number {
		return strings.Compare(a, b)
	}
	return rational(a).Cmp(rational(b))
}

func rational(text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		panic(text)
	}
	return r
}

func keyValue(kind attr.Kind, text string) (attr.Value, error) {
	switch kind {
	case attr.Number:
		return attr.NewNumber(text)
	case attr.Binary:
		return attr.NewBinary([]byte(text)), nil
	}
	return attr.NewString(text), nil
}

// A row is an item: its sort key, and its number.
type row struct {
	sort string
	id   string
}

// A shelf has items with sort keys of one kind, as a table p / s and as an index p / s of a table by id.
type shelf struct {
	st    store.Store
	space store.Space
	kind  attr.Kind
	rows  []row // each sort key once, in order
	all   []row // with ties, as in the index
}

func (s *shelf) table() *keycond.Schema { return must(keycond.ParseSchema("p / s:" + s.kind.String())) }

func (s *shelf) index() *keycond.Schema {
	return must(must(keycond.ParseSchema("id")).Index("ix", "p / s:"+s.kind.String()))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

const indexSpace = 1 << 40 // added to the space of the table

// fill puts items with sort keys of these numbers.
func (s *shelf) fill(sorts []int) error {
	for i, n := range sorts {
		s.all = append(s.all, row{sortKey(s.kind, n), fmt.Sprint(i)})
	}
	byKey := func(a, b row) int { return compareKeys(s.kind, a.sort, b.sort) }
	slices.SortStableFunc(s.all, byKey)
	s.rows = slices.CompactFunc(slices.Clone(s.all), func(a, b row) bool { return byKey(a, b) == 0 })
	return s.store(0)
}

// store puts the rows, each with padding.
func (s *shelf) store(padding int) error {
	return s.st.Update(context.Background(), func(w store.Writer) error {
		for _, at := range []struct {
			schema *keycond.Schema
			space  store.Space
			rows   []row
		}{{s.table(), s.space, s.rows}, {s.index(), s.space + indexSpace, s.all}} {
			for _, r := range at.rows {
				it, err := s.item(r, padding)
				if err != nil {
					return err
				}
				partition, sort, err := at.schema.Place(it)
				if err != nil {
					return err
				}
				if err := w.Put(at.space, partition, sort, it); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// clear deletes all rows.
func (s *shelf) clear() error {
	return s.st.Update(context.Background(), func(w store.Writer) error {
		return errors.Join(w.Clear(s.space), w.Clear(s.space+indexSpace))
	})
}

func (s *shelf) item(r row, padding int) (attr.Item, error) {
	sort, err := keyValue(s.kind, r.sort)
	if err != nil {
		return nil, err
	}
	var b attr.Builder
	b.Add("p", attr.NewString("p"))
	b.Add("s", sort)
	b.Add("id", attr.NewString(r.id))
	b.Add("padding", attr.NewBinary(make([]byte, padding)))
	return b.Item(), nil
}

// clauses returns the condition as clauses and as an expression with values.
func (s *shelf) clauses(q question) (list []keycond.Clause, src string, values attr.Item, err error) {
	list = []keycond.Clause{{Attribute: "p", Op: ast.Equal, Values: []attr.Value{attr.NewString("p")}}}
	src = "p = :p"
	var b attr.Builder
	b.Add(":p", attr.NewString("p"))
	if q.Op != "" {
		c := keycond.Clause{Attribute: "s", Op: ast.Op(q.Op)}
		for i, operand := range s.operands(q) {
			v, err := keyValue(s.kind, operand)
			if err != nil {
				return nil, "", nil, err
			}
			c.Values = append(c.Values, v)
			b.Add([]string{":v", ":w"}[i], v)
		}
		list = append(list, c)
		form := map[string]string{"BETWEEN": "s BETWEEN :v AND :w", "begins_with": "begins_with(s, :v)"}[q.Op]
		if form == "" {
			form = "s " + q.Op + " :v"
		}
		src += " AND " + form
	}
	return list, src, b.Item(), nil
}

// operands returns the operands of the condition, those of BETWEEN in order. A text to begin with is
// often shorter than the keys.
func (s *shelf) operands(q question) []string {
	first := sortKey(s.kind, q.Operands[0])
	if len(s.all) > 0 && q.Operands[0]%3 == 0 {
		first = s.all[q.Operands[0]%len(s.all)].sort
	}
	switch q.Op {
	case "begins_with":
		switch s.kind {
		case attr.String:
			r := []rune(first)
			return []string{string(r[:1+q.Operands[1]%len(r)])}
		case attr.Binary:
			return []string{first[:1+q.Operands[1]%len(first)]}
		}
	case "BETWEEN":
		second := sortKey(s.kind, q.Operands[1])
		if compareKeys(s.kind, first, second) > 0 {
			first, second = second, first
		}
		return []string{first, second}
	}
	return []string{first}
}

// matches is what the condition says, in the words of Go.
func (s *shelf) matches(q question, key string) bool {
	if q.Op == "" {
		return true
	}
	operands := s.operands(q)
	n := compareKeys(s.kind, key, operands[0])
	switch q.Op {
	case "=":
		return n == 0
	case "<":
		return n < 0
	case "<=":
		return n <= 0
	case ">":
		return n > 0
	case ">=":
		return n >= 0
	case "BETWEEN":
		return n >= 0 && compareKeys(s.kind, key, operands[1]) <= 0
	}
	return strings.HasPrefix(key, operands[0])
}

// both checks the slice of a question, forwards or backwards, with the rows that it should read. Nothing
// begins with a number: that is refused.
func (s *shelf) both(schema *keycond.Schema, q question, check func(want []row) error) error {
	clauses, _, _, err := s.clauses(q)
	if err != nil {
		return err
	}
	if _, err = keycond.Of(schema, clauses...); q.Op == "begins_with" && s.kind == attr.Number {
		if _, ok := errors.AsType[*keycond.Error](err); !ok {
			return fmt.Errorf("begins_with of a number: %v", err)
		}
		return nil
	} else if err != nil {
		return err
	}

	var want []row
	for _, r := range s.rows {
		if s.matches(q, r.sort) {
			want = append(want, r)
		}
	}
	if q.Reverse {
		slices.Reverse(want)
	}
	return check(want)
}

func (s *shelf) slice(schema *keycond.Schema, q question) *keycond.Slice {
	clauses, _, _, err := s.clauses(q)
	if err != nil {
		panic(err)
	}
	return must(keycond.Of(schema, clauses...))
}

func (s *shelf) sameRows(schema *keycond.Schema, q question, want []row) error {
	var got []row
	slice := s.slice(schema, q)
	err := s.st.View(context.Background(), func(r store.Reader) error {
		for row, err := range slice.Rows(r, s.space, q.Reverse) {
			if err != nil {
				return err
			}
			got = append(got, rowOf(s, attr.Item(row.Value)))
			if !slice.Contains(slice.Partition, row.Sort) {
				return fmt.Errorf("Contains is false for the row at %q", row.Sort)
			}
		}
		return nil
	})
	return same(got, want, err)
}

// rowOf returns the row that was stored as an item.
func rowOf(s *shelf, it attr.Item) row {
	id := string(it.Get("id").Raw())
	i := slices.IndexFunc(s.all, func(r row) bool { return r.id == id })
	return s.all[i]
}

func same(got, want []row, err error) error {
	switch {
	case err != nil:
		return err
	case !slices.Equal(got, want):
		return fmt.Errorf("read %q, want %q", got, want)
	}
	return nil
}

func (s *shelf) sameSlice(q question) error {
	clauses, src, values, err := s.clauses(q)
	if err != nil {
		return err
	}
	condition, err := expr.ParseCondition(src, expr.Params{Values: values})
	if err != nil {
		if s.kind == attr.Number && q.Op == "begins_with" {
			return nil
		}
		return err
	}
	for _, schema := range []*keycond.Schema{s.table(), s.index()} {
		one, oneErr := keycond.Compile(schema, condition)
		other, otherErr := keycond.Of(schema, clauses...)
		if fmt.Sprint(oneErr) != fmt.Sprint(otherErr) || !reflect.DeepEqual(one, other) {
			return fmt.Errorf("%s: %v, %v, of clauses %v, %v", src, one, oneErr, other, otherErr)
		}
		for _, r := range s.all {
			it, err := s.item(r, 0)
			if err != nil {
				return err
			}
			if condition.Match(it) != s.matches(q, r.sort) {
				return fmt.Errorf("Match of %q is %t", r.sort, condition.Match(it))
			}
		}
	}
	return nil
}

// samePages reads the slice page by page and compares what each says with a naive count.
func (s *shelf) samePages(schema *keycond.Schema, q question, want []row) error {
	var got []row
	slice, o := s.slice(schema, q), keycond.PageOptions{Reverse: q.Reverse, Limit: q.Limit}
	return s.st.View(context.Background(), func(r store.Reader) error {
		for {
			read, size := 0, 0
			page, err := slice.Page(r, s.space, o, func(it attr.Item) error {
				if size >= keycond.PageBytes {
					return fmt.Errorf("the page goes on after %d bytes", size)
				}
				read, size = read+1, size+it.Size()
				got = append(got, rowOf(s, it))
				return nil
			})
			if err != nil {
				return err
			}
			full := size >= keycond.PageBytes || q.Limit > 0 && read == q.Limit
			if page.Examined != read || page.Returned != read || page.Bytes != size || full != (page.Last != nil) {
				return fmt.Errorf("a page of %d items and %d bytes says %+v", read, size, page)
			}
			if page.Last == nil {
				return same(got, want, nil)
			}
			o.Start = page.Last
		}
	})
}

// sameAfter reads what follows a start key, of an item or not.
func (s *shelf) sameAfter(q question, want []row) error {
	start := row{sort: sortKey(s.kind, q.Start), id: "none"}
	if len(s.rows) > 0 && q.Start%2 == 0 {
		start = s.rows[q.Start%len(s.rows)]
	}
	it, err := s.item(start, 0)
	if err != nil {
		return err
	}
	schema := s.table()
	var got []row
	o := keycond.PageOptions{Reverse: q.Reverse, Start: schema.Key(it)}
	err = s.st.View(context.Background(), func(r store.Reader) error {
		_, err := s.slice(schema, q).Page(r, s.space, o, func(it attr.Item) error {
			got = append(got, rowOf(s, it))
			return nil
		})
		return err
	})
	if !s.matches(q, start.sort) {
		if _, ok := errors.AsType[*keycond.Error](err); !ok {
			return fmt.Errorf("a start key outside the slice: %v", err)
		}
		return nil
	}
	want = slices.DeleteFunc(slices.Clone(want), func(r row) bool {
		n := compareKeys(s.kind, r.sort, start.sort)
		return n == 0 || n < 0 != q.Reverse
	})
	return same(got, want, err)
}

// sameInIndex reads the index forwards and backwards, page by page.
func (s *shelf) sameInIndex(q question) error {
	if s.kind == attr.Number && q.Op == "begins_with" {
		return nil
	}
	read := func(reverse bool, limit int) (rows []row, err error) {
		o := keycond.PageOptions{Reverse: reverse, Limit: limit}
		err = s.st.View(context.Background(), func(r store.Reader) error {
			for {
				page, err := s.slice(s.index(), q).Page(r, s.space+indexSpace, o, func(it attr.Item) error {
					rows = append(rows, rowOf(s, it))
					return nil
				})
				if o.Start = page.Last; err != nil || o.Start == nil {
					return err
				}
			}
		})
		return rows, err
	}
	forwards, err := read(false, q.Limit)
	if err != nil {
		return err
	}
	backwards, err := read(true, q.Limit)
	if err != nil {
		return err
	}
	slices.Reverse(backwards)
	if err := same(backwards, forwards, nil); err != nil {
		return err
	}

	byKey := func(a, b row) int { return compareKeys(s.kind, a.sort, b.sort) }
	if !slices.IsSortedFunc(forwards, byKey) {
		return fmt.Errorf("%q is not in order", forwards)
	}
	var want []row
	for _, r := range s.all {
		if s.matches(q, r.sort) {
			want = append(want, r)
		}
	}
	byID := func(a, b row) int { return bytes.Compare([]byte(a.id), []byte(b.id)) }
	slices.SortFunc(want, byID)
	slices.SortFunc(forwards, byID)
	return same(forwards, want, nil)
}
