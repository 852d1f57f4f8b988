package fuzz_test

import (
	"cmp"
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

// promise runs the properties on a store. Each case has spaces of its own.
func promise(t *testing.T, st store.Store) {
	spaces := store.Space(0)
	forAll := func(check func(*shelf, question) error) gopter.Prop {
		return prop.ForAll(func(l layout, rows [][]int, q question) (bool, error) {
			spaces += 2
			s := newShelf(st, spaces, l, rows)
			if err := errors.Join(s.store(s.table), s.store(s.index)); err != nil {
				return false, err
			}
			err := errors.Join(check(s, q), s.clear())
			return err == nil, err
		}, genLayout, gen.SliceOf(genNumbers), genQuestion)
	}
	either := func(check func(*shelf, face, question) error) gopter.Prop {
		return forAll(func(s *shelf, q question) error { return check(s, s.face(q), q) })
	}

	cases := proptest.Parameters(500)
	cases.MaxSize = 60
	p := gopter.NewProperties(cases)
	p.Property("an item lies where its key says, which has at most 2,048 bytes of a partition key and 1,024 of a sort key",
		either((*shelf).sameLimits))
	p.Property("a key condition reads the items of its partition that satisfy it, and no others, in order of the sort key",
		forAll(func(s *shelf, q question) error { return s.sameRows(s.table, q) }))
	p.Property("an index does so too, and has items with equal sort keys in order of the hash of their key in the table",
		forAll(func(s *shelf, q question) error { return s.sameRows(s.index, q) }))
	p.Property("the expression and the clauses of a key condition are one slice, whatever the order of what is in them",
		either((*shelf).sameSlice))
	p.Property("pages joined are the whole, whatever ends them, and each says what it read and what it left out",
		either((*shelf).samePages))
	p.Property("a page begins after any start key that satisfies the condition, whether or not an item has it, and no other",
		either((*shelf).sameAfter))
	p.TestingRun(t)

	large := proptest.Parameters(40)
	large.MaxSize = 24
	p = gopter.NewProperties(large)
	p.Property("a page ends with the item that brings it to 1 MB",
		either(func(s *shelf, f face, q question) error {
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

func keyValue(kind attr.Kind, text string) attr.Value {
	switch kind {
	case attr.Number:
		return must(attr.NewNumber(text))
	case attr.Binary:
		return attr.NewBinary([]byte(text))
	}
	return attr.NewString(text)
}

// A row is an item: the text of its key attributes.
type row struct {
	id     string
	values [7]string // of the columns
	odd    bool      // what the filter asks for
}

// columns are the names of the key attributes: two of the table, two partition key attributes of the
// index, and three of its sort key.
var columns = [7]string{"p", "s", "g", "h", "r0", "r1", "r2"}

// A face is the table or the index of a shelf.
type face struct {
	schema          *keycond.Schema
	space           store.Space
	partition, sort []int // columns
}

// all returns the columns of the key, and of that of the table.
func (f face) all() []int {
	list := slices.Concat(f.partition, f.sort)
	if f.schema.Table() != nil {
		list = append(list, 0, 1)
	}
	return list
}

// A shelf has the same items in a table and in its index.
type shelf struct {
	st           store.Store
	kinds        [7]attr.Kind // of the columns
	table, index face
	rows         []row
	padding      int
}

func newShelf(st store.Store, space store.Space, l layout, rows [][]int) *shelf {
	s := &shelf{st: st, kinds: [7]attr.Kind{attr.String, l.Kinds[0], attr.String, attr.String,
		l.Kinds[1], l.Kinds[2], l.Kinds[3]}}
	s.table = face{space: space, partition: []int{0}, sort: []int{1}}
	s.index = face{space: space + 1, partition: []int{2, 3}[:l.Partition], sort: []int{4, 5, 6}[:l.Sort]}
	s.table.schema = must(keycond.ParseSchema(s.key(s.table)))
	s.index.schema = must(s.table.schema.Index("ix", s.key(s.index)))

	for i, numbers := range rows {
		r := s.row(numbers)
		if r.id = fmt.Sprint(i); !slices.ContainsFunc(s.rows, func(o row) bool { return s.compare(o, r, 0, 1) == 0 }) {
			s.rows = append(s.rows, r)
		}
	}
	return s
}

// key returns the key of a face as people write it.
func (s *shelf) key(f face) string {
	list := func(columnsOfSide []int) string {
		var parts []string
		for _, c := range columnsOfSide {
			parts = append(parts, columns[c]+":"+s.kinds[c].String())
		}
		return strings.Join(parts, ", ")
	}
	return list(f.partition) + " / " + list(f.sort)
}

func (s *shelf) face(q question) face {
	if q.Index {
		return s.index
	}
	return s.table
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// row makes a row of numbers. Partition keys of the index are often the same when joined, and every
// other value of its sort key is one of four.
func (s *shelf) row(numbers []int) row {
	n := numbers[0]
	r := row{odd: numbers[5]%2 == 1}
	r.values = [7]string{[]string{"p", "q"}[n%2], sortKey(s.kinds[1], numbers[1]),
		[]string{"a", "ab"}[n/2%2], []string{"bc", "c"}[n/4%2]}
	for i, n := range numbers[2:5] {
		if n%2 == 0 {
			n = n / 2 % 4 * 2
		}
		r.values[4+i] = sortKey(s.kinds[4+i], n/2)
	}
	return r
}

func (s *shelf) value(r row, column int) attr.Value {
	return keyValue(s.kinds[column], r.values[column])
}

// compare returns the order of two rows by columns.
func (s *shelf) compare(a, b row, by ...int) int {
	for _, c := range by {
		if n := compareKeys(s.kinds[c], a.values[c], b.values[c]); n != 0 {
			return n
		}
	}
	return 0
}

// order returns the order of two rows of a partition, of which only those of an index have ties.
func (s *shelf) order(f face, a, b row) int {
	if n := s.compare(a, b, f.sort...); n != 0 || f.schema.Table() == nil {
		return n
	}
	hash := func(r row) uint32 { return store.Hash(slices.Concat(s.value(r, 0).Raw(), s.value(r, 1).Raw())) }
	return cmp.Or(cmp.Compare(hash(a), hash(b)), s.compare(a, b, 0, 1))
}

// item returns the attributes of a row in columns, and what else an item has.
func (s *shelf) item(r row) attr.Item {
	var b attr.Builder
	for c := range columns {
		b.Add(columns[c], s.value(r, c))
	}
	b.Add("id", attr.NewString(r.id))
	b.Add("odd", attr.NewBool(r.odd))
	b.Add("padding", attr.NewBinary(make([]byte, s.padding)))
	return b.Item()
}

// startKey returns the key attributes of a row.
func (s *shelf) startKey(f face, r row) attr.Item {
	var b attr.Builder
	for _, c := range f.all() {
		b.Add(columns[c], s.value(r, c))
	}
	return b.Item()
}

// rowOf returns the row that was stored as an item.
func (s *shelf) rowOf(it attr.Item) row {
	id := string(it.Get("id").Raw())
	return s.rows[slices.IndexFunc(s.rows, func(r row) bool { return r.id == id })]
}

// store puts the rows.
func (s *shelf) store(f face) error {
	return s.st.Update(context.Background(), func(w store.Writer) error {
		for _, r := range s.rows {
			it := s.item(r)
			partition, sort, err := f.schema.Place(it)
			if err != nil {
				return err
			}
			if err := w.Put(f.space, partition, sort, it); err != nil {
				return err
			}
		}
		return nil
	})
}

// clear deletes all rows.
func (s *shelf) clear() error {
	return s.st.Update(context.Background(), func(w store.Writer) error {
		return errors.Join(w.Clear(s.table.space), w.Clear(s.index.space))
	})
}

// A term is the condition on a column.
type term struct {
	column   int
	op       string
	operands []string
}

// terms returns the key condition of a question in the order of the key.
func (s *shelf) terms(f face, q question) (list []term) {
	base := s.base(q)
	equal := min(q.Equal, len(f.sort)-1)
	for _, c := range slices.Concat(f.partition, f.sort[:equal]) {
		list = append(list, term{c, "=", []string{base.values[c]}})
	}
	if q.Op != "" {
		c := f.sort[equal]
		list = append(list, term{c, q.Op, operands(s.kinds[c], q, base.values[c])})
	}
	return list
}

// base returns the item whose values the equalities of the condition have.
func (s *shelf) base(q question) row {
	if len(s.rows) > 0 && q.Base%8 != 0 {
		return s.rows[q.Base/8%len(s.rows)]
	}
	return s.row(q.Numbers)
}

// operands returns the operands of the operator, those of BETWEEN in order. A text to begin with is
// often shorter than the keys.
func operands(kind attr.Kind, q question, stored string) []string {
	first := sortKey(kind, q.Operands[0])
	if q.Operands[0]%2 == 0 {
		first = stored
	}
	switch q.Op {
	case "begins_with":
		switch kind {
		case attr.String:
			r := []rune(first)
			return []string{string(r[:1+q.Operands[1]%len(r)])}
		case attr.Binary:
			return []string{first[:1+q.Operands[1]%len(first)]}
		}
	case "BETWEEN":
		second := sortKey(kind, q.Operands[1])
		if compareKeys(kind, first, second) > 0 {
			first, second = second, first
		}
		return []string{first, second}
	}
	return []string{first}
}

// holds is what a term says, in the words of Go.
func (s *shelf) holds(t term, r row) bool {
	kind, key := s.kinds[t.column], r.values[t.column]
	n := compareKeys(kind, key, t.operands[0])
	switch t.op {
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
		return n >= 0 && compareKeys(kind, key, t.operands[1]) <= 0
	}
	return strings.HasPrefix(key, t.operands[0])
}

func (s *shelf) matches(f face, q question, r row) bool {
	return !slices.ContainsFunc(s.terms(f, q), func(t term) bool { return !s.holds(t, r) })
}

// refused reports whether the condition demands that a number begins with something.
func (s *shelf) refused(f face, q question) bool {
	return slices.ContainsFunc(s.terms(f, q), func(t term) bool {
		return t.op == "begins_with" && s.kinds[t.column] == attr.Number
	})
}

// source returns the condition as an expression, and its values.
func (s *shelf) source(f face, q question) (src string, values attr.Item) {
	var parts []string
	var b attr.Builder
	for i, t := range s.terms(f, q) {
		for at, operand := range t.operands {
			b.Add(fmt.Sprintf(":%c%d", 'v'+at, i), keyValue(s.kinds[t.column], operand))
		}
		name, mirrored := columns[t.column], strings.NewReplacer("<", ">", ">", "<").Replace(t.op)
		switch {
		case t.op == "BETWEEN":
			parts = append(parts, fmt.Sprintf("%s BETWEEN :v%d AND :w%d", name, i, i))
		case t.op == "begins_with":
			parts = append(parts, fmt.Sprintf("begins_with(%s, :v%d)", name, i))
		case q.Exchange:
			parts = append(parts, fmt.Sprintf(":v%d %s %s", i, mirrored, name))
		default:
			parts = append(parts, fmt.Sprintf("%s %s :v%d", name, t.op, i))
		}
	}
	return strings.Join(parts, " AND "), b.Item()
}

// of returns the slice of the condition's clauses. What the caller does to its values afterwards does
// not matter.
func (s *shelf) of(f face, q question) (*keycond.Slice, error) {
	_, values := s.source(f, q)
	var clauses []keycond.Clause
	for i, t := range s.terms(f, q) {
		c := keycond.Clause{Attribute: columns[t.column], Op: ast.Op(t.op)}
		for at := range t.operands {
			c.Values = append(c.Values, values.Get(fmt.Sprintf(":%c%d", 'v'+at, i)))
		}
		clauses = append(clauses, c)
	}
	if q.Exchange {
		slices.Reverse(clauses)
	}
	slice, err := keycond.Of(f.schema, clauses...)
	clear(values)
	return slice, err
}

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
