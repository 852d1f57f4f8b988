package design

import (
	"encoding/json"
	"fmt"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/ast"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/keys"
)

// A Pos is a place in a model file. The zero Pos is nowhere: what was made by
// a program has no place.
type Pos struct {
	File      string
	Line, Col int // from 1
}

// String returns the place as compilers write it: file:line:column.
func (p Pos) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.File == "":
		return fmt.Sprintf("%d:%d", p.Line, p.Col)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
}

// A Model is a design: what is stored, under which keys, and what is asked.
// Everything in it is in the order of the file.
type Model struct {
	Pos   Pos
	Name  string // lower-case words joined by hyphens
	About string
	// Seed is where generated values start from. Equal seeds give equal data.
	Seed     uint64
	Tables   []*Table
	Fields   []*Field // values that several entities share
	Entities []*Entity
	// Items are items that no entity describes, as they are.
	Items    []*RawItem
	Patterns []*Pattern
	// Allow are the findings of lints that the author accepts.
	Allow []*Allowance
}

// A Table is a table with its indexes.
type Table struct {
	Pos       Pos
	Name      string
	Partition []Attribute // one
	Sort      []Attribute // at most one
	Indexes   []*Index
}

// An Attribute is a key attribute and its type.
type Attribute = keycond.Attribute

// An Index is a secondary index of a table.
type Index struct {
	Pos       Pos
	Name      string
	Local     bool
	Partition []Attribute // up to four; those of the table for a local index
	Sort      []Attribute // up to four
	// Projection is ALL, KEYS_ONLY or INCLUDE, and Include the attributes
	// beside the keys of the last.
	Projection string
	Include    []string
}

// An Entity is a kind of item: what its attributes are made of, and how many
// there are.
type Entity struct {
	Pos   Pos
	Name  string
	About string
	Table *Table
	// Fields are the values its templates are made of: its own, and those of
	// the model that its templates name.
	Fields []*Field
	// Attributes are its attributes, keys of tables and indexes among them.
	Attributes []*Template
	// Mutable names the fields that change during the life of an item.
	Mutable []string
	// Samples are items written out in the file, Count how many more to
	// generate.
	Samples []*Sample
	Count   int
	// Reads and Writes are requests a second for all items of the entity
	// together, for the skew of partitions; 0 is not declared.
	Reads, Writes float64
}

// A Template is an attribute of an entity and what its value is made of.
type Template struct {
	Pos  Pos
	Name string
	Kind attr.Kind
	// Template makes the value of a string, number or binary attribute from
	// fields; nil for the other kinds, whose value is Const.
	Template *keys.Template
	Const    attr.Value
	// When limits the attribute to items in which these fields have one of
	// these values, which is what makes an index sparse. Empty is always.
	When map[string][]string
}

// A Field is a value that templates are made of.
type Field struct {
	Pos  Pos
	Name string
	// Type is the component that encodes it when a template names it without
	// a type of its own.
	Type keys.Type
	// Values are all it can be. When there are none, Distinct values are made
	// of Type; 0 is a value for each item.
	Values   []string
	Distinct int
	// Distribution says how often each value occurs.
	Distribution Distribution
	// MinSize and MaxSize bound the bytes of generated text.
	MinSize, MaxSize int
	// From and To bound generated numbers and times, in the text form of Type;
	// "" is the type's own bound.
	From, To string
}

// A Distribution says how often each of some values occurs.
type Distribution struct {
	// Name is uniform, zipf or sequence. A sequence takes the values in turn.
	Name string
	// Skew is the exponent of a zipf distribution, above 1.
	Skew float64
}

// A Sample is an item written out: the values of fields, and attributes that
// stand for themselves.
type Sample struct {
	Pos        Pos
	Values     map[string]string
	Attributes attr.Item
}

// A RawItem is an item of a table as it is.
type RawItem struct {
	Pos   Pos
	Table *Table
	Item  attr.Item
}

// A Pattern is an access pattern: a question and what is expected of its
// answer. The question is a raw request, or conditions on the fields of an
// entity, from which [Pattern.Compile] makes the request.
type Pattern struct {
	Pos   Pos
	Name  string
	About string

	// Operation is Query, GetItem or Scan.
	Operation string
	// Request is the request as the service takes it; nil when the pattern is
	// written by field.
	Request json.RawMessage

	Table  *Table
	Index  *Index // nil for the table itself
	Entity *Entity
	Where  []Condition
	// Filter is a FilterExpression in which field and attribute names and
	// quoted values stand for themselves.
	Filter  string
	Project []string
	// Ordered says that the pattern names an order; Descending that it is from
	// the last row back.
	Ordered    bool
	Descending bool
	Limit      int // 0 is none
	Consistent bool

	// Rate is how often a second it is asked; 0 is not declared.
	Rate   float64
	Expect Expect
}

// A Condition is a condition on one field.
type Condition struct {
	Pos   Pos
	Field string
	Op    ast.Op
	Args  []string // two for BETWEEN, one for the others, in the text form of the field
}

// Expect is what is expected of the answer of a pattern, all pages together.
// A nil or empty member expects nothing.
type Expect struct {
	Pos      Pos
	Rows     *int     // rows returned
	MaxRows  *int     // rows returned, at most
	Entities []string // the only entities among the rows returned
	Units    *float64 // read units consumed, at most
	Pages    *int     // pages, at most
	// Waste is the share of the bytes read that were not returned, at most:
	// 0.1 is a tenth.
	Waste *float64
	// Keys are the keys of the rows in order; an empty list that is not nil
	// expects no rows. Ties lets rows whose index keys are equal come in any
	// order.
	Keys []Key
	Ties bool
	// Item is the item a GetItem returns; NoItem expects that there is none.
	Item   attr.Item
	NoItem bool
	// Error is the name of the exception expected.
	Error string
}

// A Key is the primary key of an item: the partition key and, in a table that
// has one, the sort key.
type Key []attr.Value
