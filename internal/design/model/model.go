package model

import (
	"fmt"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/keys"
)

// A Pos is a place in a model file. Models made by a program have zero places.
type Pos struct {
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"` // Line and Col count from 1
	Col  int    `json:"column,omitempty"`
}

// String returns the place as file:line:column.
func (p Pos) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.File == "":
		return fmt.Sprintf("%d:%d", p.Line, p.Col)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
}

// A Model is a design: the stored items, their keys, and the access patterns.
// All lists are in the order of the file.
type Model struct {
	Pos   Pos
	Name  string // lower-case words joined by hyphens
	About string
	// Seed determines the generated values. Equal seeds give equal data.
	Seed     uint64
	Tables   []*Table
	Fields   []*Field // fields that several entities share
	Entities []*Entity
	// Items are items that do not belong to an entity.
	Items    []*RawItem
	Patterns []*Pattern
	// Allow lists the findings that the author accepts.
	Allow []*Allowance
}

// A Table is a table with its indexes.
type Table struct {
	Pos       Pos
	Name      string
	Partition []Attribute // one attribute
	Sort      []Attribute // at most one attribute
	Indexes   []*Index
	// TTL is the attribute with the time at which an item expires, or "".
	TTL string
}

// MarshalText returns the name of the table, which is the table's JSON form.
func (t *Table) MarshalText() ([]byte, error) { return []byte(t.Name), nil }

// An Attribute is a key attribute and its type.
type Attribute = keycond.Attribute

// An Index is a secondary index of a table.
type Index struct {
	Pos       Pos
	Name      string
	Local     bool
	Partition []Attribute // at most four attributes; in a local index, the table's partition key
	Sort      []Attribute // at most four attributes
	// Projection is ALL, KEYS_ONLY or INCLUDE. Include lists the non-key
	// attributes for INCLUDE.
	Projection string
	Include    []string
}

// MarshalText returns the name of the index, which is the index's JSON form.
func (x *Index) MarshalText() ([]byte, error) { return []byte(x.Name), nil }

// An Entity is a type of item: the templates of its attributes, and the number of its items.
type Entity struct {
	Pos   Pos
	Name  string
	About string
	// Origin is the name that the entity had in an older version of the model, or "". The dataset then generates the
	// same values as for the old name.
	Origin string
	Table  *Table
	// Fields are the fields in the entity's templates: the entity's own, and those of the model that the templates
	// name.
	Fields []*Field
	// Attributes are the templates of the entity's attributes, including the keys of its table and indexes.
	Attributes []*Template
	// Parents are the entities that this entity belongs to, at most two.
	Parents []Parent
	// Mutable names the fields that change during the life of an item.
	Mutable []string
	// Unique names fields. No two items of the entity have the same value in any of these fields.
	Unique []string
	// Samples are items listed in the file. Count is the number of items to
	// generate in addition.
	Samples []*Sample
	Count   int
	// Reads and Writes are requests per second for all items of the entity
	// together; 0 means not declared.
	Reads, Writes float64
}

// MarshalText returns the name of the entity, which is the entity's JSON form.
func (e *Entity) MarshalText() ([]byte, error) { return []byte(e.Name), nil }

// A Template describes an attribute of an entity and its value.
type Template struct {
	Pos  Pos
	Name string
	Kind attr.Kind
	// Template builds the value from fields. If it is nil, the value is Const.
	Template *keys.Template
	Const    attr.Value
	// When limits the attribute to items in which these fields have one of these values. An index on the attribute
	// then holds only these items. If When is empty, it limits nothing.
	When map[string][]string
	// Ranges limits the attribute to items whose fields lie in all of these ranges.
	Ranges []FieldRange
}

// A FieldRange is a range of the values of a field.
type FieldRange struct {
	Field string
	Type  keys.Type // type that compares the values
	Op    ast.Op    // <, <=, >, >= or BETWEEN
	Args  []string  // two for BETWEEN, one for other operators
}

// A Field is a named value from which templates build attributes.
type Field struct {
	Pos    Pos
	Name   string
	Origin string // see Entity.Origin
	// Type encodes the field in templates that do not give a type.
	Type keys.Type
	// Values lists all possible values. If it is empty, the dataset generates Distinct different values of Type; if
	// Distinct is 0, it generates one for each item.
	Values   []string
	Distinct int
	// Distribution says how often the items take each value.
	Distribution Distribution
	// MinSize and MaxSize limit the bytes of generated text.
	MinSize, MaxSize int
	// From and To limit generated numbers and times, in the text form of Type;
	// "" means the default of the type.
	From, To string
}

// MarshalText returns the name of the field, which is the field's JSON form.
func (f *Field) MarshalText() ([]byte, error) { return []byte(f.Name), nil }

// A Distribution says how often a field takes each of its values.
type Distribution struct {
	// Name is uniform, zipf or sequence. A sequence takes the values in turn.
	Name string
	// Skew is the exponent of a zipf distribution, above 0 and at most 8.
	Skew float64
}

// A Sample is an item in the file: the values of its fields, and other
// attributes.
type Sample struct {
	Pos        Pos
	Values     map[string]string
	Attributes attr.Item
}

// A RawItem is an item that does not belong to an entity.
type RawItem struct {
	Pos   Pos
	Table *Table
	Item  attr.Item
}

// A Pattern is an access pattern: a request, which package compile makes from
// conditions on fields, and its expected result.
type Pattern struct {
	Pos   Pos
	Name  string
	About string

	// Operation is Query, GetItem or Scan, or the operation of a write.
	Operation string
	Table     *Table
	Index     *Index // nil for the table itself
	Entity    *Entity
	Where     []Condition
	// Filter is a FilterExpression with field names, attribute names and quoted values instead of placeholders. It
	// can also name parameters, as :name. Parameters has their values, with which a check runs the pattern.
	Filter     string
	Parameters attr.Item
	Project    []string
	// Ordered is true if the pattern declares the order in which it reads the sort key. Descending is true if this
	// order is descending.
	Ordered    bool
	Descending bool
	Limit      int // 0 means no limit
	Consistent bool
	// Writes are the writes of the pattern: none if the pattern reads, several in a transaction. Table and Entity are
	// those of the first write.
	Writes []Write
	// Then is the entity whose items a follow-up BatchGetItem reads, or nil. Each returned row has the values for the
	// key of one of these items.
	Then *Entity

	// Rate is the number of requests per second; 0 means not declared.
	Rate float64
	// Asked says how requests are distributed over the values of the key conditions. It is one of the constants
	// below; "" means [AskedEqually]. Skew is the exponent of [AskedZipf].
	Asked  string
	Skew   float64
	Expect Expect
}

// The values of Asked: how often requests ask for each value of the key conditions.
const (
	AskedEqually = "equally" // each value equally often
	AskedByRows  = "by_rows" // each value in proportion to its rows
	AskedZipf    = "zipf"    // by cost: the value with the kth highest cost has the weight 1/k^Skew
)

// A Condition compares a field with its Args.
type Condition struct {
	Pos   Pos
	Field string
	Op    ast.Op
	Args  []string // in the text form of the field: two for BETWEEN, any number for In, one for other operators
}

// In is the operator of a condition that lists values. The pattern makes one request for each value. If the condition
// has no Args, it lists all values of the field.
const In ast.Op = "in"

// The values of Budget: the partitions to which a pattern's budgets apply.
const (
	BudgetSample = "sample" // the partition in the pattern's conditions
	BudgetP95    = "p95"    // 95 % of the partitions
	BudgetWorst  = "worst"  // all partitions
)

// Expect is the expected result of a pattern over all pages. A nil or empty field expects nothing. MaxRows, Units,
// Pages and Waste are budgets: they apply to the partitions that Budget names. The other fields apply to the values
// in the pattern's conditions.
type Expect struct {
	Pos      Pos
	Rows     *int     // number of rows returned
	MaxRows  *int     // largest number of rows returned
	Entities []string // the only entities allowed among the returned rows
	Units    *float64 // largest number of read units
	Pages    *int     // largest number of pages
	// Waste is the largest share of the bytes read that the request may discard: 0.1 is a tenth.
	Waste *float64
	// Budget is one of the constants above; "" is [BudgetWorst].
	Budget string
	// Keys are the keys of the rows in order. An empty list that is not nil expects no rows. Ties allows rows with
	// the same index key in any order.
	Keys []Key
	Ties bool
	// Item is the item that a GetItem returns. NoItem expects no item.
	Item   attr.Item
	NoItem bool
	// Error is the name of the expected exception.
	Error string
}

// A Key is the primary key of an item: the partition key and, in a table that
// has one, the sort key.
type Key []attr.Value

// Text returns the key as text.
func (k Key) Text() string {
	parts := make([]string, len(k))
	for i, v := range k {
		parts[i] = text.Literal(v)
	}
	return strings.Join(parts, ", ")
}
