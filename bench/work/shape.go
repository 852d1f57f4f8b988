package work

import (
	"fmt"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/table"
)

// TableName is the table that all workloads use.
const TableName = "sortkey-bench"

// Indexes says which indexes a table has.
type Indexes string

// The sets of indexes.
const (
	NoIndex    Indexes = ""
	PlainIndex Indexes = "plain" // ByNumber (g, n) and ByState (g, st), whose rows are nearly all ties
	MultiIndex Indexes = "multi" // ByMany ([g, rg], [st, n])
)

// A Shape is a table full of items. Item i is the i%Collection-th of partition
// i/Collection.
type Shape struct {
	Items      int     `json:"items"`
	Collection int     `json:"collection"` // items of one partition
	Size       int     `json:"size"`       // documented bytes of an item, about
	Indexes    Indexes `json:"indexes,omitempty"`
}

// GroupItems is how many items share a value of g, the partition of indexes.
const GroupItems = 1000

// keepEvery is the distance of items whose flag is "keep".
const keepEvery = 1000

// Partition returns the partition key of item i.
func (s Shape) Partition(i int) string { return fmt.Sprintf("CUSTOMER#%07d", i/s.Collection) }

// Sort returns the sort key of item i: its place in its collection, padded.
func (s Shape) Sort(i int) string { return fmt.Sprintf("%08d", i%s.Collection) }

// Collections returns the number of full collections.
func (s Shape) Collections() int { return max(s.Items/s.Collection, 1) }

// Groups returns the number of full groups.
func (s Shape) Groups() int { return max(s.Items/GroupItems, 1) }

func group(i int) string  { return fmt.Sprintf("G#%05d", i/GroupItems) }
func region(i int) string { return fmt.Sprintf("R#%d", i/(GroupItems/2)%2) }

// state is what an item is in; every put of another version changes it.
func state(version int) string { return [...]string{"NEW", "PAID"}[version%2] }

// A Bind is an attribute, or a value of an expression.
type Bind struct {
	Name, Kind, Text string // PK or :p; S or N; the text
}

// Binds returns the attributes of item i, those of its key first.
func (s Shape) Binds(i, version int) []Bind {
	flag := "drop"
	if i%keepEvery == 0 {
		flag = "keep"
	}
	fs := []Bind{{"PK", "S", s.Partition(i)}, {"SK", "S", s.Sort(i)}, {"n", "N", fmt.Sprint(i)}, {"flag", "S", flag}}
	if s.Indexes != NoIndex {
		fs = append(fs, Bind{"g", "S", group(i)}, Bind{"st", "S", state(version)})
	}
	if s.Indexes == MultiIndex {
		fs = append(fs, Bind{"rg", "S", region(i)})
	}
	used := len("note")
	for _, f := range fs {
		used += len(f.Name) + len(f.Text)
	}
	note := strings.Repeat(string(rune('a'+version%26)), max(s.Size-used, 1))
	return append(fs, Bind{"note", "S", note})
}

// KeyBinds returns the key of item i.
func (s Shape) KeyBinds(i int) []Bind { return s.Binds(i, 0)[:2] }

// Item returns item i. Versions of it differ in what is no key of the table.
func (s Shape) Item(i, version int) attr.Item {
	var b attr.Builder
	for _, f := range s.Binds(i, version) {
		b.Add(f.Name, f.Value())
	}
	return b.Item()
}

// Key returns the key of item i.
func (s Shape) Key(i int) attr.Item {
	var b attr.Builder
	for _, f := range s.KeyBinds(i) {
		b.Add(f.Name, f.Value())
	}
	return b.Item()
}

// Value returns the value.
func (b Bind) Value() attr.Value {
	if b.Kind == "N" {
		v, err := attr.NewNumber(b.Text)
		if err != nil {
			panic(err) // the numbers of this package are numbers
		}
		return v
	}
	return attr.NewString(b.Text)
}

func (b Bind) appendJSON(dst []byte) []byte {
	return fmt.Appendf(dst, "%q:{%q:%q}", b.Name, b.Kind, b.Text)
}

func appendFields(dst []byte, fs []Bind) []byte {
	dst = append(dst, '{')
	for i, f := range fs {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = f.appendJSON(dst)
	}
	return append(dst, '}')
}

// ItemJSON appends item i in DynamoDB JSON.
func (s Shape) ItemJSON(dst []byte, i, version int) []byte {
	return appendFields(dst, s.Binds(i, version))
}

// CreateBody returns the request that makes the table.
func (s Shape) CreateBody() []byte {
	attrs := []Bind{{"PK", "S", ""}, {"SK", "S", ""}}
	type index struct {
		name        string
		hash, sorts []string
	}
	var indexes []index
	switch s.Indexes {
	case PlainIndex:
		attrs = append(attrs, Bind{"g", "S", ""}, Bind{"n", "N", ""}, Bind{"st", "S", ""})
		indexes = []index{{"ByNumber", []string{"g"}, []string{"n"}}, {"ByState", []string{"g"}, []string{"st"}}}
	case MultiIndex:
		attrs = append(attrs, Bind{"g", "S", ""}, Bind{"rg", "S", ""}, Bind{"st", "S", ""}, Bind{"n", "N", ""})
		indexes = []index{{"ByMany", []string{"g", "rg"}, []string{"st", "n"}}}
	}
	key := func(hash, sorts []string) string {
		var parts []string
		for _, name := range hash {
			parts = append(parts, fmt.Sprintf(`{"AttributeName":%q,"KeyType":"HASH"}`, name))
		}
		for _, name := range sorts {
			parts = append(parts, fmt.Sprintf(`{"AttributeName":%q,"KeyType":"RANGE"}`, name))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	var defs, gsis []string
	for _, a := range attrs {
		defs = append(defs, fmt.Sprintf(`{"AttributeName":%q,"AttributeType":%q}`, a.Name, a.Kind))
	}
	for _, ix := range indexes {
		gsis = append(gsis, fmt.Sprintf(`{"IndexName":%q,"KeySchema":%s,"Projection":{"ProjectionType":"ALL"}}`, ix.name, key(ix.hash, ix.sorts)))
	}
	body := fmt.Sprintf(`{"TableName":%q,"BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[%s],"KeySchema":%s`,
		TableName, strings.Join(defs, ","), key([]string{"PK"}, []string{"SK"}))
	if gsis != nil {
		body += fmt.Sprintf(`,"GlobalSecondaryIndexes":[%s]`, strings.Join(gsis, ","))
	}
	return []byte(body + "}")
}

// pageRows returns how many items, from item first on and in steps of step, a
// page of 1 MB holds of count, and whether it ends because of its size.
func (s Shape) pageRows(first, step, count int) (rows int, full bool) {
	bytes := 0
	for rows < count {
		bytes += s.Item(first+rows*step, 0).Size()
		rows++
		if bytes >= table.PageBytes {
			return rows, true
		}
	}
	return rows, false
}

// fits returns how many of rows items a page holds, from item first on: all,
// unless they are very large.
func (s Shape) fits(first, rows int) int {
	if rows*s.Size < table.PageBytes/2 {
		return rows
	}
	rows, _ = s.pageRows(first, 1, rows)
	return rows
}

// pageItems returns about how many items a page of 1 MB holds.
func pageItems(size int) int { return table.PageBytes/max(size, 1) + 1 }
