package keycond_test

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/keycond"
)

// These properties are what this project promises: a valid key condition is one contiguous range of rows in byte
// order, and the range has exactly the rows of those items for which the condition holds.

// A question is a key condition on an index. The sort key of the index is one, two or three of the attributes r0, r1
// and r2. The condition has equalities on the first Equal of them, and then Op on the next.
type question struct {
	Kinds    []attr.Kind // of the sort key
	Equal    int
	Op       string
	Operands []int // numbers of values in the pool
}

// source returns the condition as an expression, and the values in it.
func (q question) source() (string, attr.Item) {
	clauses := []string{"p = :p"}
	var values attr.Builder
	values.Add(":p", attr.NewString("p"))
	value := func(at int, name string, operand int) {
		pool := pools[q.Kinds[at]]
		values.Add(name, pool[q.Operands[operand]%len(pool)])
	}

	equal := min(q.Equal, len(q.Kinds))
	for i := range equal {
		clauses = append(clauses, fmt.Sprintf("r%d = :e%d", i, i))
		value(i, fmt.Sprintf(":e%d", i), i)
	}
	if equal < len(q.Kinds) && q.Op != "" {
		name := fmt.Sprintf("r%d", equal)
		value(equal, ":v", 3)
		if q.Op == "BETWEEN" {
			value(equal, ":w", 4)
		}
		clauses = append(clauses, strings.ReplaceAll(forms[q.Op], "r", name))
	}
	return strings.Join(clauses, " AND "), values.Item()
}

// clauses returns the condition as clauses, the last one first.
func (q question) clauses(index *keycond.Schema) (list []keycond.Clause) {
	_, values := q.source()
	add := func(a keycond.Attribute, op string, places ...string) {
		c := keycond.Clause{Attribute: a.Name, Op: ast.Op(op)}
		for _, place := range places {
			c.Values = append(c.Values, values.Get(place))
		}
		list = append(list, c)
	}
	add(index.Partition()[0], "=", ":p")
	equal := min(q.Equal, len(q.Kinds))
	for i := range equal {
		add(index.Sort()[i], "=", fmt.Sprintf(":e%d", i))
	}
	switch {
	case equal == len(q.Kinds) || q.Op == "":
	case q.Op == "BETWEEN":
		add(index.Sort()[equal], q.Op, ":v", ":w")
	default:
		add(index.Sort()[equal], q.Op, ":v")
	}
	slices.Reverse(list)
	return list
}

var forms = map[string]string{
	"<": "r < :v", "<=": "r <= :v", ">": "r > :v", ">=": "r >= :v",
	"BETWEEN": "r BETWEEN :v AND :w", "begins_with": "begins_with(r, :v)",
}

// pools are values that lie close to each other in byte order.
var pools = map[attr.Kind][]attr.Value{
	attr.String: texts("a", "a\x00", "a\x00b", "a\x01", "ab", "a\u00ff", "b", "b\U0010ffff", "A"),
	attr.Binary: binaries("\x00", "\x00\x01", "\x00\xff", "\x01", "\xfe\xff", "\xff", "\xff\x00", "\xff\xff"),
	attr.Number: numbers("-1E125", "-10", "-1", "-1E-130", "0", "1E-130", "0.5", "1", "9", "10", "1E125"),
}

func texts(list ...string) (values []attr.Value) {
	for _, s := range list {
		values = append(values, attr.NewString(s))
	}
	return values
}

func binaries(list ...string) (values []attr.Value) {
	for _, s := range list {
		values = append(values, attr.NewBinary([]byte(s)))
	}
	return values
}

func numbers(list ...string) (values []attr.Value) {
	for _, s := range list {
		v, err := attr.NewNumber(s)
		if err != nil {
			panic(err)
		}
		values = append(values, v)
	}
	return values
}

var genKinds = gen.OneConstOf(attr.String, attr.Number, attr.Binary)

var genQuestion = gen.Struct(reflect.TypeFor[question](), map[string]gopter.Gen{
	"Kinds": gen.IntRange(1, 3).FlatMap(func(n any) gopter.Gen { return gen.SliceOfN(n.(int), genKinds) },
		reflect.TypeFor[[]attr.Kind]()),
	"Equal":    gen.IntRange(0, 3),
	"Op":       gen.OneConstOf("", "<", "<=", ">", ">=", "BETWEEN", "begins_with"),
	"Operands": gen.SliceOfN(5, gen.IntRange(0, 10)),
})

// genRows generates items, each as indexes into the pools of values.
var genRows = gen.SliceOfN(40, gen.SliceOfN(3, gen.IntRange(0, 10)))

// A laid row is an item at its sort position.
type laidRow struct {
	sort []byte
	item attr.Item
}

// lay returns the items at their positions in the index, in byte order.
func lay(s *keycond.Schema, rows [][]int) []laidRow {
	var laid []laidRow
	for i, numbers := range rows {
		var b attr.Builder
		b.Add("id", attr.NewString(fmt.Sprint(i)))
		b.Add("p", attr.NewString("p"))
		for at, a := range s.Sort() {
			pool := pools[a.Kind]
			b.Add(a.Name, pool[numbers[at]%len(pool)])
		}
		it := b.Item()
		position, ok := s.AppendSort(nil, it)
		if !ok {
			panic(fmt.Sprintf("%s is not in the index", it))
		}
		laid = append(laid, laidRow{position, it})
	}
	slices.SortFunc(laid, func(a, b laidRow) int { return bytes.Compare(a.sort, b.sort) })
	return laid
}

func TestPropertyRanges(t *testing.T) {
	properties := gopter.NewProperties(proptest.Parameters(800))

	properties.Property("a key condition is one range, which holds the rows that fulfil it and no others", prop.ForAll(
		func(q question, rows [][]int) *gopter.PropResult {
			var sort []keycond.Attribute
			for i, kind := range q.Kinds {
				sort = append(sort, keycond.Attribute{Name: fmt.Sprintf("r%d", i), Kind: kind})
			}
			table := keycond.NewSchema([]keycond.Attribute{{Name: "id", Kind: attr.String}}, nil)
			index := table.NewIndex("ix", []keycond.Attribute{{Name: "p", Kind: attr.String}}, sort)

			source, values := q.source()
			env, err := expr.NewEnv(expr.Params{Values: values})
			if err != nil {
				return failed("%s: %v", source, err)
			}
			condition, err := env.Condition(expr.KeyConditionExpression, source)
			if err != nil {
				return &gopter.PropResult{Status: gopter.PropUndecided} // such as begins_with of a number
			}
			slice, err := keycond.Compile(index, condition)
			other, otherErr := keycond.Of(index, q.clauses(index)...)
			if !reflect.DeepEqual(slice, other) || fmt.Sprint(err) != fmt.Sprint(otherErr) {
				return failed("%s with %s: %v, %v; of its clauses: %v, %v", source, values.AppendJSON(nil), slice, err,
					other, otherErr)
			}
			if err != nil {
				return &gopter.PropResult{Status: gopter.PropUndecided} // such as BETWEEN with its bounds exchanged
			}

			for _, row := range lay(index, rows) {
				if got, want := slice.Range.Contains(row.sort), condition.Match(row.item); got != want {
					return failed("%s with %s: row %s is in [%q, %q): %t, want %t",
						source, values.AppendJSON(nil), row.item.AppendJSON(nil), slice.Range.Lo, slice.Range.Hi,
						got, want)
				}
			}
			return &gopter.PropResult{Status: gopter.PropTrue}
		}, genQuestion, genRows))

	properties.TestingRun(t)
}

func failed(format string, args ...any) *gopter.PropResult {
	return &gopter.PropResult{Status: gopter.PropFalse, Labels: []string{fmt.Sprintf(format, args...)}}
}
