package storetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/commands"
	"github.com/leanovate/gopter/gen"

	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/store"
)

// testCommands runs short sequences of the writes and reads of a store, and compares the results with a map. Each
// write is an Update of its own, and each read a View. So testCommands is the shortest specification of a store.
// testModel also puts many operations into one Update, lets Updates fail, and reads inside them.
func testCommands(t *testing.T, s store.Store) {
	properties := gopter.NewProperties(proptest.Parameters(60))
	properties.Property("a store is a sorted map", commands.Prop(&commands.ProtoCommands{
		InitialStateGen: gen.Const(rows{}),
		NewSystemUnderTestFunc: func(commands.State) commands.SystemUnderTest {
			update(t, s, func(w store.Writer) {
				if err := w.Clear(0); err != nil {
					t.Fatal(err)
				}
			})
			return s
		},
		GenCommandFunc: func(commands.State) gopter.Gen {
			return gen.OneGenOf(genPut, genPut, genDelete, genClear, genGet, genQuery)
		},
	}))
	properties.TestingRun(t)
}

// rows maps a partition and a sort position to a value.
type rows map[[2]string]string

// Keys are short and few, so that commands often use the same rows.
var (
	genPartition = gen.OneConstOf("", "a", "a\x00")
	genSort      = gen.OneConstOf("", "\x00", "a", "a\x00", "ab", "b", "\xff")
)

var genPut = gopter.CombineGens(genPartition, genSort, gen.AlphaString()).Map(func(v []any) commands.Command {
	partition, sort, value := v[0].(string), v[1].(string), v[2].(string)
	return write(fmt.Sprintf("Put(%q, %q, %q)", partition, sort, value),
		func(w store.Writer) error { return w.Put(0, []byte(partition), []byte(sort), []byte(value)) },
		func(m rows) { m[[2]string{partition, sort}] = value })
})

var genDelete = gopter.CombineGens(genPartition, genSort).Map(func(v []any) commands.Command {
	partition, sort := v[0].(string), v[1].(string)
	return write(fmt.Sprintf("Delete(%q, %q)", partition, sort),
		func(w store.Writer) error { return w.Delete(0, []byte(partition), []byte(sort)) },
		func(m rows) { delete(m, [2]string{partition, sort}) })
})

var genClear = gen.Const(write("Clear", func(w store.Writer) error { return w.Clear(0) }, func(m rows) { clear(m) }))

var genGet = gopter.CombineGens(genPartition, genSort).Map(func(v []any) commands.Command {
	partition, sort := v[0].(string), v[1].(string)
	return read(fmt.Sprintf("Get(%q, %q)", partition, sort),
		func(r store.Reader) (string, error) {
			value, ok, err := r.Get(0, []byte(partition), []byte(sort))
			return fmt.Sprintf("%q %t", value, ok), err
		},
		func(m rows) string {
			value, ok := m[[2]string{partition, sort}]
			return fmt.Sprintf("%q %t", value, ok)
		})
})

// genQuery generates queries of a range that includes its first position but not its second. The position "" means no
// bound.
var genQuery = gopter.CombineGens(genPartition, genSort, genSort, gen.Bool()).Map(func(v []any) commands.Command {
	partition, lo, hi, reverse := v[0].(string), v[1].(string), v[2].(string), v[3].(bool)
	return read(fmt.Sprintf("Query(%q, [%q, %q), %t)", partition, lo, hi, reverse),
		func(r store.Reader) (string, error) {
			var b strings.Builder
			for row, err := range r.Query(0, []byte(partition), store.Range{Lo: bound(lo), Hi: bound(hi)}, reverse) {
				if err != nil {
					return "", err
				}
				fmt.Fprintf(&b, "%q=%q ", row.Sort, row.Value)
			}
			return b.String(), nil
		},
		func(m rows) string {
			var sorts []string
			for at := range m {
				if at[0] == partition && at[1] >= lo && (hi == "" || at[1] < hi) {
					sorts = append(sorts, at[1])
				}
			}
			slices.Sort(sorts)
			if reverse {
				slices.Reverse(sorts)
			}

			var b strings.Builder
			for _, sort := range sorts {
				fmt.Fprintf(&b, "%q=%q ", sort, m[[2]string{partition, sort}])
			}
			return b.String()
		})
})

func bound(s string) []byte {
	if s == "" {
		return nil
	}
	return []byte(s)
}

// write returns a command that changes the store and the map in the same way.
func write(name string, change func(store.Writer) error, model func(rows)) commands.Command {
	return &commands.ProtoCommand{
		Name: name,
		RunFunc: func(s commands.SystemUnderTest) commands.Result {
			return s.(store.Store).Update(background(), change)
		},
		NextStateFunc: func(state commands.State) commands.State {
			next := maps.Clone(state.(rows))
			model(next)
			return next
		},
		PostConditionFunc: func(_ commands.State, result commands.Result) *gopter.PropResult {
			return expect(result, nil)
		},
	}
}

// read returns a command that asks the store and the map the same question.
func read(name string, ask func(store.Reader) (string, error), model func(rows) string) commands.Command {
	return &commands.ProtoCommand{
		Name: name,
		RunFunc: func(s commands.SystemUnderTest) commands.Result {
			var got string
			err := s.(store.Store).View(background(), func(r store.Reader) (err error) {
				got, err = ask(r)
				return err
			})
			if err != nil {
				return err
			}
			return got
		},
		PostConditionFunc: func(state commands.State, result commands.Result) *gopter.PropResult {
			return expect(result, model(state.(rows)))
		},
	}
}

func expect(got, want any) *gopter.PropResult {
	if got == want {
		return &gopter.PropResult{Status: gopter.PropTrue}
	}
	return &gopter.PropResult{Status: gopter.PropFalse, Labels: []string{fmt.Sprintf("got %v, want %v", got, want)}}
}
