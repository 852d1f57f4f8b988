package fuzz_test

import (
	"context"
	"errors"
	"fmt"
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
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/btree"
	"github.com/sortkey/sortkey/store/disk"
	"github.com/sortkey/sortkey/store/memory"
)

// TestPromise is the specification of the core, in the sentences of its properties, on the public
// faces alone: attr, expr, keycond and store. What it compares with is Go's own order of strings and
// bytes, math/big for numbers, and [store.Hash] for ties.
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

// promise runs the properties on a store. Each case asks the table or its index, in empty spaces.
func promise(t *testing.T, st store.Store) {
	spaces := store.Space(0)
	forAll := func(check func(*shelf, face, question) error) gopter.Prop {
		return prop.ForAll(func(l layout, rows [][]int, q question) (bool, error) {
			spaces = spaces%1000 + 2
			s := newShelf(st, spaces, l, rows)
			f := s.table
			if q.Index {
				f = s.index
			}
			if err := s.store(f); err != nil {
				return false, err
			}
			err := errors.Join(check(s, f, q), s.clear(s.table), s.clear(s.index))
			return err == nil, err
		}, genLayout, gen.SliceOf(genNumbers), genQuestion)
	}

	cases := proptest.Parameters(400)
	cases.MaxSize = 60
	p := gopter.NewProperties(cases)
	p.Property("a partition key has at most 2,048 bytes and a sort key 1,024, and an item lies where its key says",
		forAll((*shelf).sameLimits))
	p.Property("a key condition reads the items of its partition that satisfy it, no others, in order of the sort key",
		forAll((*shelf).sameRows))
	p.Property("items of an index with equal sort keys are in the order of the hash of the table's key",
		forAll(func(s *shelf, _ face, q question) error {
			return errors.Join(s.store(s.index), s.sameRows(s.index, q))
		}))
	p.Property("the expression and the clauses of a key condition are one slice, in whatever order they are written",
		forAll((*shelf).sameSlice))
	p.Property("pages joined are the whole, whatever ends them, and each says what it read and what it left out",
		forAll((*shelf).samePages))
	p.Property("a page begins after any start key in the slice, whether or not an item has it, and after no other",
		forAll((*shelf).sameAfter))
	p.TestingRun(t)

	large := proptest.Parameters(40)
	large.MaxSize = 24
	p = gopter.NewProperties(large)
	p.Property("a page ends with the item that brings it to 1 MB",
		forAll(func(s *shelf, f face, q question) error {
			q.Limit, q.End, s.padding = 0, 0, 150_000+q.Padding%200_000
			return errors.Join(s.store(f), s.samePages(f, q))
		}))
	p.TestingRun(t)
}

// A layout is the key of the table p / s and that of its index g, h / r0, r1, r2, of which some of the
// attributes may be missing at the end of a side.
type layout struct {
	Kinds           []attr.Kind // of s, r0, r1 and r2
	Partition, Sort int         // attributes of the index
}

// A question is a key condition, and how to read its pages.
type question struct {
	Index    bool  // rather than the table
	Base     int   // chooses the item whose partition and equalities the condition has
	Numbers  []int // of that item, if it is not a stored one
	Equal    int   // sort key attributes with an equality before the one with Op
	Op       string
	Operands []int
	Exchange bool // the order of operands in the expression, and that of the clauses
	Reverse  bool
	Filter   bool
	Limit    int // 0 for none
	End      int // the item in a page that ends it, 0 for none
	Start    []int
	Padding  int // bytes added to an item
}

var (
	genKind    = gen.OneConstOf(attr.String, attr.Number, attr.Binary)
	genNumber  = gen.IntRange(0, 1<<30)
	genNumbers = gen.SliceOfN(6, genNumber) // of a row
	genLayout  = gen.Struct(reflect.TypeFor[layout](), map[string]gopter.Gen{
		"Kinds": gen.SliceOfN(4, genKind), "Partition": gen.IntRange(1, 2), "Sort": gen.IntRange(1, 3),
	})
	genQuestion = gen.Struct(reflect.TypeFor[question](), map[string]gopter.Gen{
		"Index": gen.Bool(), "Base": genNumber, "Numbers": genNumbers, "Equal": gen.IntRange(0, 2),
		"Op":       gen.OneConstOf("", "=", "<", "<=", ">", ">=", "BETWEEN", "begins_with"),
		"Operands": gen.SliceOfN(2, genNumber), "Exchange": gen.Bool(), "Reverse": gen.Bool(),
		"Filter": gen.Bool(), "Limit": gen.IntRange(0, 7), "End": gen.IntRange(0, 7),
		"Start": genNumbers, "Padding": gen.IntRange(0, 1<<20),
	})
)

// read calls check with the slice of a question and the rows that it should read, forwards or backwards.
func (s *shelf) read(f face, q question, check func(r store.Reader, slice *keycond.Slice, want []row) error) error {
	slice, err := s.of(f, q)
	switch {
	case s.refused(f, q):
		return wantRefusal(err)
	case err != nil:
		return err
	}

	var want []row
	for _, r := range s.rows {
		if s.matches(f, q, r) {
			want = append(want, r)
		}
	}
	slices.SortFunc(want, func(a, b row) int { return s.order(f, a, b) })
	if q.Reverse {
		slices.Reverse(want)
	}
	return s.st.View(context.Background(), func(r store.Reader) error { return check(r, slice, want) })
}

func wantRefusal(err error) error {
	if _, ok := errors.AsType[*keycond.Error](err); !ok {
		return fmt.Errorf("the error is %v, want one of keycond", err)
	}
	return nil
}

func same(got, want []row) error {
	if !slices.Equal(got, want) {
		return fmt.Errorf("read %v, want %v", got, want)
	}
	return nil
}

// sameLimits places an item whose key has a value of some length.
func (s *shelf) sameLimits(f face, q question) error {
	r, all := s.base(q), f.all()
	c := all[q.Start[0]%len(all)]
	if s.kinds[c] == attr.Number {
		return nil
	}
	most := map[string]int{"p": 2048, "g": 2048, "h": 2048}[columns[c]]
	if most == 0 {
		most = 1024
	}
	lengths := []int{0, 1, 1024, 1025, 2048, 2049, q.Padding % 4096}
	length := lengths[q.Start[1]%len(lengths)]
	r.values[c] = strings.Repeat("x", length)

	it := s.item(r)
	partition, sort, err := f.schema.Place(it)
	if length == 0 || length > most {
		return wantRefusal(err)
	}
	again, againSort, againErr := f.schema.Place(s.startKey(f, r))
	if string(partition) != string(again) || string(sort) != string(againSort) {
		return fmt.Errorf("an item and its key lie at %q, %q and %q, %q", partition, sort, again, againSort)
	}
	return errors.Join(err, againErr)
}

func (s *shelf) sameRows(f face, q question) error {
	return s.read(f, q, func(r store.Reader, slice *keycond.Slice, want []row) error {
		var got []row
		for row, err := range slice.Rows(r, f.space, q.Reverse) {
			if err != nil {
				return err
			}
			got = append(got, s.rowOf(attr.Item(row.Value)))
		}
		for _, r := range s.rows {
			partition, sort, err := f.schema.Place(s.item(r))
			if contains := slice.Contains(partition, sort); err != nil || contains != slices.Contains(want, r) {
				return fmt.Errorf("Contains of the row %v is %t, %v", r, contains, err)
			}
		}
		return same(got, want)
	})
}

func (s *shelf) sameSlice(f face, q question) error {
	src, values := s.source(f, q)
	condition, err := expr.ParseCondition(src, expr.Params{Values: values})
	if s.refused(f, q) {
		return nil
	} else if err != nil {
		return err
	}
	one, oneErr := keycond.Compile(f.schema, condition)
	other, otherErr := s.of(f, q)
	if oneErr != nil || otherErr != nil || !reflect.DeepEqual(one, other) {
		return fmt.Errorf("%s: %v, %v, of clauses %v, %v", src, one, oneErr, other, otherErr)
	}
	for _, r := range s.rows {
		if match := condition.Match(s.item(r)); match != s.matches(f, q, r) {
			return fmt.Errorf("%s: Match of %v is %t", src, r, match)
		}
	}
	return nil
}

// samePages reads the slice page by page and compares each with a naive count.
func (s *shelf) samePages(f face, q question) error {
	o := keycond.PageOptions{Reverse: q.Reverse, Limit: q.Limit}
	if q.Filter {
		var b attr.Builder
		b.Add(":t", attr.NewBool(true))
		o.Filter = must(expr.ParseCondition("odd = :t", expr.Params{Values: b.Item()}))
	}
	return s.read(f, q, func(r store.Reader, slice *keycond.Slice, rest []row) error {
		for {
			var got []row
			page, err := slice.Page(r, f.space, o, func(it attr.Item) error {
				if got = append(got, s.rowOf(it)); len(got) == q.End {
					return keycond.ErrEndPage
				}
				return nil
			})
			if err != nil {
				return err
			}

			want, rows := s.firstPage(f, q, rest)
			if fmt.Sprint(page) != fmt.Sprint(want) {
				return fmt.Errorf("a page says %+v, want %+v", page, want)
			}
			if err := same(got, rows); err != nil || page.Last == nil {
				return err
			}
			o.Start, rest = page.Last, rest[page.Examined:]
		}
	})
}

// firstPage counts the page that begins a list, and returns the rows that are not left out.
func (s *shelf) firstPage(f face, q question, list []row) (page keycond.Page, rows []row) {
	page.Stop = keycond.StopEnd
	for _, r := range list {
		page.Examined++
		page.Bytes += s.item(r).Size()
		if !q.Filter || r.odd {
			rows = append(rows, r)
			page.Returned++
		}
		switch {
		case len(rows) == q.End && q.End > 0 && (!q.Filter || r.odd):
			page.Stop = keycond.StopAnswer
		case page.Examined == q.Limit:
			page.Stop = keycond.StopLimit
		case page.Bytes >= 1<<20:
			page.Stop = keycond.StopSize
		default:
			continue
		}
		page.Last = s.startKey(f, r)
		return page, rows
	}
	return page, rows
}

// sameAfter reads what follows a start key, of an item or not.
func (s *shelf) sameAfter(f face, q question) error {
	start := s.row(q.Start)
	switch n := q.Start[5] / 2; {
	case n%3 == 0 && len(s.rows) > 0:
		start = s.rows[n/3%len(s.rows)]
	case n%3 == 1:
		for _, t := range s.terms(f, q) {
			if t.op == "=" {
				start.values[t.column] = t.operands[0]
			}
		}
	}
	return s.read(f, q, func(r store.Reader, slice *keycond.Slice, want []row) error {
		var got []row
		o := keycond.PageOptions{Reverse: q.Reverse, Start: s.startKey(f, start)}
		_, err := slice.Page(r, f.space, o, func(it attr.Item) error {
			got = append(got, s.rowOf(it))
			return nil
		})
		if !s.matches(f, q, start) {
			return wantRefusal(err)
		}
		want = slices.DeleteFunc(want, func(r row) bool {
			n := s.order(f, r, start)
			return n == 0 || n < 0 != q.Reverse
		})
		return errors.Join(err, same(got, want))
	})
}
