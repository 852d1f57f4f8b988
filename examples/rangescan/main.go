// Command rangescan shows the core of Sortkey without a database around it: items at their places in a
// store, key conditions as slices, and slices read in pages of 1 MB. It reads the same slices from three
// engines, by every operator that a sort key has, and prints what each page read.
//
//	go run ./examples/rangescan
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/btree"
	"github.com/sortkey/sortkey/store/disk"
	"github.com/sortkey/sortkey/store/memory"
)

// A collection is an item collection for each type of sort key: 12,000 readings of one sensor, 200 bytes
// each.
type collection struct {
	space  store.Space // one table
	schema *keycond.Schema
	// sort returns the sort key of a reading, and values what the conditions compare with.
	sort       func(i int) attr.Value
	values     string
	conditions []string
}

const readings = 12_000

var collections = []collection{
	{
		space: 1, schema: key("sensor / taken"),
		sort: func(i int) attr.Value { return attr.NewString(moment(i).Format(time.DateTime)) },
		values: `{":s": {"S": "a"}, ":v": {"S": "2026-01-02 03:04:00"}, ":w": {"S": "2026-01-05"},
			":p": {"S": "2026-01-0"}}`,
		conditions: append(every, "begins_with(taken, :p)"),
	},
	{
		space: 2, schema: key("sensor / taken:N"),
		sort:       func(i int) attr.Value { return number(fmt.Sprintf("%d.5", i-1000)) },
		values:     `{":s": {"S": "a"}, ":v": {"N": "-3.5"}, ":w": {"N": "1E3"}}`,
		conditions: every,
	},
	{
		space: 3, schema: key("sensor / taken:B"),
		sort:       func(i int) attr.Value { return attr.NewBinary([]byte{byte(i >> 8), byte(i)}) },
		values:     `{":s": {"S": "a"}, ":v": {"B": "AP8="}, ":w": {"B": "AQ=="}, ":p": {"B": "AA=="}}`,
		conditions: append(every, "begins_with(taken, :p)"),
	},
}

var every = []string{"taken = :v", "taken < :v", "taken <= :v", "taken > :v", "taken >= :v", "taken BETWEEN :v AND :w"}

func main() {
	dir, err := os.MkdirTemp("", "rangescan")
	check(err)
	onDisk, err := disk.Open(filepath.Join(dir, "db"), disk.Options{})
	check(err)

	engines := []struct {
		name string
		st   store.Store
	}{{"btree", btree.Open()}, {"memory", memory.Open()}, {"disk", onDisk}}
	var first string
	for _, e := range engines {
		for _, c := range collections {
			check(c.fill(e.st))
		}
		var out strings.Builder
		for _, c := range collections {
			for _, condition := range c.conditions {
				check(c.print(&out, e.st, condition))
			}
		}
		check(e.st.Close())

		switch {
		case first == "":
			first = out.String()
			fmt.Printf("%s:\n%s", e.name, first)
		case first == out.String():
			fmt.Printf("%s: the same\n", e.name)
		default:
			fmt.Printf("%s differs:\n%s", e.name, out.String())
		}
	}
	check(os.RemoveAll(dir))
}

// fill puts the readings.
func (c *collection) fill(st store.Store) error {
	return st.Update(context.Background(), func(w store.Writer) error {
		for i := range readings {
			var b attr.Builder
			b.Add("sensor", attr.NewString("a"))
			b.Add("taken", c.sort(i))
			b.Add("reading", attr.NewString(strings.Repeat("x", 200)))
			it := b.Item()
			partition, sort, err := c.schema.Place(it)
			if err != nil {
				return err
			}
			if err := w.Put(c.space, partition, sort, it); err != nil {
				return err
			}
		}
		return nil
	})
}

// print reads the slice of a condition, page by page, and prints how much each page read.
func (c *collection) print(out *strings.Builder, st store.Store, condition string) error {
	values, err := attr.ParseItem([]byte(c.values))
	if err != nil {
		return err
	}
	parsed, err := expr.ParseCondition("sensor = :s AND "+condition, expr.Params{Values: values})
	if err != nil {
		return err
	}
	slice, err := keycond.Compile(c.schema, parsed)
	if err != nil {
		return err
	}

	fmt.Fprintf(out, "  %-62s", slice)
	for o := (keycond.PageOptions{}); ; {
		var page keycond.Page
		err := st.View(context.Background(), func(r store.Reader) (err error) {
			page, err = slice.Page(r, c.space, o, func(attr.Item) error { return nil })
			return err
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(out, " %d items, %d KB;", page.Examined, page.Bytes/1000)
		if o.Start = page.Last; o.Start == nil {
			fmt.Fprintln(out)
			return nil
		}
	}
}

func moment(i int) time.Time {
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(i) * time.Minute)
}

func number(text string) attr.Value {
	v, err := attr.NewNumber(text)
	check(err)
	return v
}

func key(text string) *keycond.Schema {
	s, err := keycond.ParseSchema(text)
	check(err)
	return s
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
