package work

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/keycond"
)

// TableName is the table that all workloads use.
const TableName = "sortkey-bench"

// Indexes names the indexes of a table.
type Indexes string

// The sets of indexes.
const (
	NoIndex    Indexes = ""
	PlainIndex Indexes = "plain" // ByNumber (g, n) and ByState (g, st), in which many items have equal keys
	MultiIndex Indexes = "multi" // ByMany ([g, rg], [st, n])
)

// A Shape describes a table and its items. Item i is number i%Collection of
// partition i/Collection.
type Shape struct {
	Items      int
	Collection int // items of one partition
	Size       int // approximate documented bytes of an item
	Indexes    Indexes
}

// groupItems is the number of items that have the same value of g, the partition key of the indexes.
const groupItems = 1000

// One item in keepEvery has the flag "keep", and the others have "drop".
const keepEvery = 1000

// partition returns the partition key of item i.
func (s Shape) partition(i int) string { return fmt.Sprintf("CUSTOMER#%07d", i/s.Collection) }

// sortKey returns the sort key of item i: its place in its collection, padded.
func (s Shape) sortKey(i int) string { return fmt.Sprintf("%08d", i%s.Collection) }

// collections returns the number of full collections.
func (s Shape) collections() int { return max(s.Items/s.Collection, 1) }

// groups returns the number of full groups.
func (s Shape) groups() int { return max(s.Items/groupItems, 1) }

func group(i int) string  { return fmt.Sprintf("G#%05d", i/groupItems) }
func region(i int) string { return fmt.Sprintf("R#%d", i/(groupItems/2)%2) }

// state returns the state of an item. It changes with every version.
func state(version int) string { return [...]string{"NEW", "PAID"}[version%2] }

// A Bind is the name and the value of an attribute, or of a placeholder in an expression.
type Bind struct {
	Name, Kind, Text string // PK or :p; S or N; the text
}

// Binds returns the attributes of item i, beginning with its key. The last one, note, is as long as the item's size
// requires.
func (s Shape) Binds(i, version int) []Bind {
	flag := "drop"
	if i%keepEvery == 0 {
		flag = "keep"
	}
	bs := []Bind{{"PK", "S", s.partition(i)}, {"SK", "S", s.sortKey(i)}, {"n", "N", fmt.Sprint(i)}, {"flag", "S", flag}}
	if s.Indexes != NoIndex {
		bs = append(bs, Bind{"g", "S", group(i)}, Bind{"st", "S", state(version)})
	}
	if s.Indexes == MultiIndex {
		bs = append(bs, Bind{"rg", "S", region(i)})
	}
	used := len("note")
	for _, f := range bs {
		used += len(f.Name) + len(f.Text)
	}
	note := strings.Repeat(string(rune('a'+version%26)), max(s.Size-used, 1))
	return append(bs, Bind{"note", "S", note})
}

// KeyBinds returns the key of item i.
func (s Shape) KeyBinds(i int) []Bind { return s.Binds(i, 0)[:2] }

// Item returns item i. Versions of an item differ in attributes that are not
// part of the table's key.
func (s Shape) Item(i, version int) attr.Item { return ItemOf(s.Binds(i, version)) }

// Key returns the key of item i.
func (s Shape) Key(i int) attr.Item { return ItemOf(s.KeyBinds(i)) }

// ItemOf returns the item with these attributes, or nil if there are none.
func ItemOf(bs []Bind) attr.Item {
	if len(bs) == 0 {
		return nil
	}
	var b attr.Builder
	for _, x := range bs {
		value := attr.NewString(x.Text)
		if x.Kind == "N" {
			var err error
			if value, err = attr.NewNumber(x.Text); err != nil {
				panic(err) // this package writes valid numbers
			}
		}
		b.Add(x.Name, value)
	}
	return b.Item()
}

// ItemJSON appends item i in DynamoDB JSON.
func (s Shape) ItemJSON(dst []byte, i, version int) []byte {
	return appendJSON(dst, s.Binds(i, version))
}

func appendJSON(dst []byte, bs []Bind) []byte {
	dst = append(dst, '{')
	for i, b := range bs {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = fmt.Appendf(dst, "%q:{%q:%q}", b.Name, b.Kind, b.Text)
	}
	return append(dst, '}')
}

// CreateBody returns the request that creates the table.
func (s Shape) CreateBody() []byte {
	type member = map[string]any
	var attributes []member
	defined := map[string]bool{}
	key := func(keyType string, binds ...Bind) (schema []member) {
		for _, b := range binds {
			schema = append(schema, member{"AttributeName": b.Name, "KeyType": keyType})
			if !defined[b.Name] {
				defined[b.Name] = true
				attributes = append(attributes, member{"AttributeName": b.Name, "AttributeType": b.Kind})
			}
		}
		return schema
	}

	pk, sk := Bind{Name: "PK", Kind: "S"}, Bind{Name: "SK", Kind: "S"}
	g, rg, st, n := Bind{Name: "g", Kind: "S"}, Bind{Name: "rg", Kind: "S"}, Bind{Name: "st", Kind: "S"}, Bind{
		Name: "n", Kind: "N",
	}
	body := member{
		"TableName": TableName, "BillingMode": "PAY_PER_REQUEST",
		"KeySchema": append(key("HASH", pk), key("RANGE", sk)...),
	}

	index := func(name string, schema []member) member {
		return member{"IndexName": name, "KeySchema": schema, "Projection": member{"ProjectionType": "ALL"}}
	}
	switch s.Indexes {
	case PlainIndex:
		body["GlobalSecondaryIndexes"] = []member{
			index("ByNumber", append(key("HASH", g), key("RANGE", n)...)),
			index("ByState", append(key("HASH", g), key("RANGE", st)...)),
		}
	case MultiIndex:
		body["GlobalSecondaryIndexes"] = []member{index("ByMany", append(key("HASH", g, rg), key("RANGE", st, n)...))}
	}

	body["AttributeDefinitions"] = attributes
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // the body is maps and strings
	}
	return text
}

// pageRows returns how many of the items first, first+step, … fit a page of 1 MB, but at most count. It also returns
// whether the page ends because of its size.
func (s Shape) pageRows(first, step, count int) (rows int, full bool) {
	bytes := 0
	for rows < count {
		bytes += s.Item(first+rows*step, 0).Size()
		rows++
		if bytes >= keycond.PageBytes {
			return rows, true
		}
	}
	return rows, false
}

// fits returns how many of the items from first on fit a page of 1 MB, but at most rows. Usually it returns rows;
// only very large items do not fit.
func (s Shape) fits(first, rows int) int {
	if rows*s.Size < keycond.PageBytes/2 {
		return rows
	}
	rows, _ = s.pageRows(first, 1, rows)
	return rows
}

// pageItems returns about how many items of the given size a page of 1 MB has.
func pageItems(size int) int { return keycond.PageBytes/max(size, 1) + 1 }
