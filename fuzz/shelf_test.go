package fuzz_test

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr/ast"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store"
)

// The items of TestPromise, and what a key condition says of them in the words of Go.

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
		return pick("\x00", "\x01", "\x7f", "\xff") + pick("", "\x00", "\xff", "\xff\xff") +
			pick("", "\x00", "\x01", "\xff")
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
func (s *shelf) store(f face) error { return s.update(f, store.Writer.Put) }

// clear deletes the rows one by one: after many thousand Writer.Clear, reads of Pebble's memtable are slow.
func (s *shelf) clear(f face) error {
	return s.update(f, func(w store.Writer, space store.Space, partition, sort, _ []byte) error {
		return w.Delete(space, partition, sort)
	})
}

// update calls write for every row.
func (s *shelf) update(f face, write func(w store.Writer, at store.Space, partition, sort, value []byte) error) error {
	return s.st.Update(context.Background(), func(w store.Writer) error {
		for _, r := range s.rows {
			it := s.item(r)
			partition, sort, err := f.schema.Place(it)
			if err != nil {
				return err
			}
			if err := write(w, f.space, partition, sort, it); err != nil {
				return err
			}
		}
		return nil
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
