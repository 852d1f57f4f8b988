package sortkey

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/keys"
)

// A call holds the parsed arguments and the input of one operation. Calls are pooled, so the code that runs the
// operation must not keep the map of names, an input, or anything that an input points to. It may keep strings and
// built items, which are new for each operation.
type call struct {
	choices
	inputs

	table, index string // for messages

	key []any // values of the key attributes, in the order of the key
	// clauses are the key condition of a query. operands holds the values in the clauses.
	clauses  []keycond.Clause
	operands []attr.Value
	args     []any // values of an update's placeholders
	sort     *sortRange
	oneRange sortRange    // what sort points to
	item     attr.Builder // builds the key
}

// inputs holds the input of the call's operation. The other inputs are empty.
type inputs struct {
	get    wire.GetItemInput
	put    wire.PutItemInput
	delete wire.DeleteItemInput
	update wire.UpdateItemInput
	query  wire.QueryInput
	scan   *wire.ScanInput // nil unless the call is a scan
	// start is the ExclusiveStartKey of the next page of a query or scan, or nil for the first page.
	start attr.Item
	size  int64 // the Limit of the next page
}

var calls = sync.Pool{New: func() any { return new(call) }}

// newCall returns a call of an operation on a table or, if index is not "", on one of the table's indexes.
func newCall(o *operation, table, index string) *call {
	c := calls.Get().(*call)
	c.operation, c.table, c.index = o, table, index
	return c
}

// free empties a call and returns it to the pool.
func (c *call) free() {
	if discard != nil && discard(c) {
		return
	}
	c.release()
	calls.Put(c)
}

// parse sorts the arguments of an operation: it puts the values of the key into c.key, sets the range of the sort
// key, and applies the options.
func (c *call) parse(args []any) error {
	for i, arg := range args {
		switch arg := arg.(type) {
		case nil:
			return misuse("%s: argument %d is nil; give the value of a key, or an option", c.operation.name, i+1)
		case Option:
			if err := c.option(arg); err != nil {
				return err
			}
			continue
		case sortRange:
			if arg.err != nil {
				return arg.err
			}
			if err := c.setSort(arg); err != nil {
				return err
			}
			continue
		case keys.Range, *keys.Template:
			return misuse("%s: argument %d is a %T; give In(r), where r is the range of a template",
				c.operation.name, i+1, arg)
		}

		if c.sort != nil {
			return misuse("the value %v comes after the range of the sort key: put it before, or after an option", arg)
		}
		if key, ok := arg.(Key); ok {
			if err := c.addKey(key); err != nil {
				return err
			}
			continue
		}

		c.key = append(c.key, arg)
	}
	return nil
}

// addKey appends the values of a Key to c.key. It returns an error if one of them cannot be the value of a key
// attribute.
func (c *call) addKey(key Key) error {
	for i, v := range key {
		switch v.(type) {
		case nil, Key, QueryOption, keys.Range, *keys.Template:
			return misuse("%s: part %d of the Key is %T, not the value of a key attribute", c.operation.name, i+1, v)
		}
		c.key = append(c.key, v)
	}
	return nil
}

func (c *call) setSort(r sortRange) error {
	if c.sort != nil {
		return misuse("two ranges of the sort key: a query reads one")
	}
	c.oneRange = r
	c.sort = &c.oneRange
	return nil
}

// keyItem appends the primary key to dst. It returns an error if the arguments do not give exactly one value for each
// key attribute.
func (c *call) keyItem(dst attr.Item, schema *keycond.Schema) (attr.Item, error) {
	if c.sort != nil || len(c.key) != schema.Len() {
		return nil, misuse("%s: the key is %s: give one value for each attribute, not %d",
			placeOf(c.table, c.index), namesOf(schema.Attributes()), len(c.key))
	}
	for i, arg := range c.key {
		a := schema.Attribute(i)
		v, err := c.keyValue(a, arg)
		if err != nil {
			return nil, err
		}
		c.item.Add(a.Name, v)
	}
	return c.item.AppendItem(dst), nil
}

// keyValue returns the stored form of the value of a key attribute.
func (c *call) keyValue(a keycond.Attribute, arg any) (attr.Value, error) {
	v, err := c.attribute(arg)
	switch {
	case err != nil:
		return v, misuse("%s: key attribute %s: %w", placeOf(c.table, c.index), a.Name, err)
	case v.Kind() == a.Kind && !isTime(arg):
		return v, nil
	}

	got := fmt.Sprintf("%T", arg)
	if t, ok := arg.(taken); ok {
		got = t.of.String()
	}
	if isTime(arg) {
		return v, misuse("%s: key attribute %s is %s, got %s, %s",
			placeOf(c.table, c.index), a.Name, kindText(a.Kind), got, timeAdvice)
	}
	return v, misuse("%s: key attribute %s is %s, got %s", placeOf(c.table, c.index), a.Name, kindText(a.Kind), got)
}

// keyClauses makes the clauses of a query's key condition from the values of the key and the range of the sort key.
func (c *call) keyClauses(schema *keycond.Schema) error {
	given := len(c.key)
	ranged := c.sort != nil && c.sort.op != ""
	if ranged {
		given++
	}
	if len(c.key) < len(schema.Partition()) || given > schema.Len() {
		return misuse("%s: a query of the key %s takes the partition first, then options and at most one range; the "+
			"partition is a value, or a sortkey.Key with one for each attribute of the partition key and perhaps "+
			"the first ones of the sort key", placeOf(c.table, c.index), schema)
	}

	// Each clause holds a slice of operands. Grow operands first, as a reallocation would leave the slices with the
	// old memory.
	c.operands = slices.Grow(c.operands[:0], given+1)
	clause := func(a keycond.Attribute, op ast.Op, values ...any) error {
		from := len(c.operands)
		for _, v := range values {
			value, err := c.keyValue(a, v)
			if err != nil {
				return err
			}
			c.operands = append(c.operands, value)
		}
		c.clauses = append(c.clauses, keycond.Clause{
			Attribute: a.Name, Op: op, Values: c.operands[from:len(c.operands)],
		})
		return nil
	}
	for i := range c.key {
		if err := clause(schema.Attribute(i), ast.Equal, c.key[i:i+1]...); err != nil {
			return err
		}
	}
	if !ranged {
		return nil
	}
	return clause(schema.Attribute(len(c.key)), ast.Op(c.sort.op), c.sort.values...)
}

func (c *call) projected() *string {
	if c.projection == nil {
		return nil
	}
	text := strings.Join(c.projection, ", ")
	return &text
}

func (c *call) oldValues() *string {
	if c.old == nil {
		return nil
	}
	return allOld
}

// release drops the memory of a call with a buffer of more than keepBytes bytes, or a list or map of more than
// keepEntries entries, so that the pool keeps no large calls.
const (
	keepBytes   = 64 << 10
	keepEntries = 256
)

// release empties a call for the next operation.
func (c *call) release() {
	most := max(len(c.names), cap(c.key), cap(c.args), cap(c.places), cap(c.tokens), c.count)
	if cap(c.raw) > keepBytes || cap(c.text) > keepBytes || cap(c.get.Key) > keepBytes || most > keepEntries {
		*c = call{}
		return
	}

	key := c.get.Key[:0]
	c.inputs = inputs{}
	c.get.Key = key
	c.placeholders.release()
	c.chosen = chosen{}
	c.sort, c.oneRange = nil, sortRange{}
	c.operation, c.table, c.index = nil, "", ""
	c.item.Reset()
	c.key, c.args = emptied(c.key), emptied(c.args)
	c.clauses, c.operands = emptied(c.clauses), emptied(c.operands)
}

// emptied returns the list with length 0 and the same capacity. It clears the entries, so that the garbage collector
// can free what they point to.
func emptied[E any](list []E) []E {
	clear(list)
	return list[:0]
}

var allOld, allNew = new("ALL_OLD"), new("ALL_NEW")

// discard is nil except in tests. Each finished operation calls it with its call. discard may overwrite the call, as
// the next operation would. If it returns true, the call does not go back to the pool.
var discard func(c *call) bool
