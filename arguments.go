package sortkey

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/keycond"
	"github.com/sortkey/sortkey/keys"
)

// An Option changes one operation on a table. Options stand after the values of the key. An
// operation refuses those that mean nothing to it.
type Option interface {
	set(*call) error
	kind() optionKind
}

// An optionKind is a set of kinds of options.
type optionKind uint16

const (
	kindIf optionKind = 1 << iota
	kindWhere
	kindOnly
	kindLimit
	kindAfter
	kindSegment
	kindOld
	kindConsistent
	kindDescending
	kindUntilNow
)

// optionNames are the names of the kinds, in their order.
var optionNames = []string{
	"If", "Where", "Only", "Limit", "After", "Segment", "Old", "Consistent", "Descending", "UntilNow",
}

func (k optionKind) String() string {
	var names []string
	for i, name := range optionNames {
		if k&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// An operation is a method that takes options.
type operation struct {
	name  string
	takes optionKind
}

const kindsOfReads = kindWhere | kindOnly | kindLimit | kindAfter | kindConsistent

var (
	opGet     = operation{"Get", kindOnly | kindConsistent}
	opPut     = operation{"Put", kindIf | kindOld}
	opUpdate  = operation{"Update", kindIf}
	opDelete  = operation{"Delete", kindIf | kindOld}
	opQuery   = operation{"Query", kindsOfReads | kindDescending}
	opScan    = operation{"Scan", kindsOfReads | kindSegment}
	opChanges = operation{"Changes", kindUntilNow}
)

// A Mode is an [Option] that is on or off.
type Mode uint8

// The modes.
const (
	// Consistent makes a read see all writes that were answered before it, which matters
	// where [Simulation].StaleReads are on.
	Consistent Mode = iota + 1
	// Descending reads a range from its end.
	Descending
	// UntilNow ends [TableOf.Changes] after the changes so far.
	UntilNow
)

func (m Mode) set(c *call) error {
	switch m {
	case Consistent:
		c.consistent = true
	case Descending:
		c.descending = true
	case UntilNow:
		c.untilNow = true
	}
	return nil
}

func (m Mode) kind() optionKind {
	switch m {
	case Consistent:
		return kindConsistent
	case Descending:
		return kindDescending
	case UntilNow:
		return kindUntilNow
	}
	return 0
}

// A setting is an [Option] with a value.
type setting struct {
	of    optionKind
	apply func(*call) error
}

func (s *setting) set(c *call) error { return s.apply(c) }
func (s *setting) kind() optionKind  { return s.of }

// If makes a write depend on a condition expression. Placeholders such as :n take the values
// in the order in which they first appear. Reserved words need no placeholders.
func If(condition string, values ...any) Option {
	return &setting{kindIf, func(c *call) (err error) {
		c.condition, err = c.expression(condition, values)
		return err
	}}
}

// Where filters what a query or scan has read with a filter expression, written as in [If].
// What is dropped has been read all the same.
func Where(filter string, values ...any) Option {
	return &setting{kindWhere, func(c *call) (err error) {
		c.filter, err = c.expression(filter, values)
		return err
	}}
}

// Only reads only these attributes, or paths into documents.
func Only(paths ...string) Option {
	return &setting{kindOnly, func(c *call) error {
		c.projection = nil
		for _, path := range paths {
			text, err := c.expression(path, nil)
			if err != nil {
				return err
			}
			c.projection = append(c.projection, *text)
		}
		return nil
	}}
}

// Limit ends a loop after n items. For a page it is the service's Limit: the page ends after
// n items have been read, before the filter.
func Limit(n int) Option {
	return &setting{kindLimit, func(c *call) error {
		if n < 1 {
			return misuse("Limit(%d): want at least 1", n)
		}
		c.limit = int64(n)
		return nil
	}}
}

// After continues where the page with this [Page].Cursor ended. An empty cursor means from
// the beginning.
func After(cursor string) Option {
	return &setting{kindAfter, func(c *call) error {
		c.after = cursor
		return nil
	}}
}

// Segment reads part n, from 0, of a scan in total parts, which can be read at the same time.
func Segment(n, total int) Option {
	return &setting{kindSegment, func(c *call) error {
		c.segmented, c.segment, c.segments = true, int64(n), int64(total)
		return nil
	}}
}

// Old stores the item as it was before a write in dst, a pointer to a struct, map or
// [attr.Item]. Dst is not changed if there was no item.
func Old(dst any) Option {
	return &setting{kindOld, func(c *call) error {
		c.old = dst
		return nil
	}}
}

// A SortRange is the range of a sort key that a query reads; see [BeginsWith], [Between] and
// [Compare]. A [keys.Range] is one too.
type SortRange struct {
	op     string
	values []any
}

// BeginsWith is the range of the sort keys with a prefix, a string or a []byte.
func BeginsWith(prefix any) SortRange { return SortRange{"begins_with", []any{prefix}} }

// Between is the range of the sort keys from low to high, both included.
func Between(low, high any) SortRange { return SortRange{"BETWEEN", []any{low, high}} }

// Compare is the range of the sort keys on one side of a value. The operator is <, <=, > or >=.
func Compare(operator string, value any) SortRange { return SortRange{operator, []any{value}} }

// A call is what the arguments of an operation say.
type call struct {
	operation *operation

	key   []any // values of key attributes, in their order
	sort  *SortRange
	names map[string]string
	// values collects what placeholders stand for.
	values attr.Builder
	count  int // of placeholders
	// item builds the key, and raw has the bytes of strings and numbers. Both keep their
	// memory when the call is used again.
	item attr.Builder
	raw  []byte

	condition, filter *string
	projection        []string
	consistent        bool
	descending        bool
	untilNow          bool
	limit             int64
	after             string
	segmented         bool
	segment, segments int64
	old               any
}

// parse reads the arguments of an operation.
func (c *call) parse(args []any) error {
	for _, arg := range args {
		switch arg := arg.(type) {
		case Option:
			if err := c.option(arg); err != nil {
				return err
			}
			continue
		case SortRange:
			if err := c.setSort(&arg); err != nil {
				return err
			}
			continue
		case keys.Range:
			if err := c.setSort(rangeOf(arg)); err != nil {
				return err
			}
			continue
		case *keys.Template:
			r, err := arg.Under()
			if err != nil {
				return err
			}
			if err := c.setSort(rangeOf(r)); err != nil {
				return err
			}
			continue
		}
		if c.sort != nil {
			return misuse("the value %v comes after the range of the sort key: put it before, or after an option", arg)
		}
		c.key = append(c.key, arg)
	}
	return nil
}

// options reads options that stand alone.
func (c *call) options(opts []Option) error {
	for _, o := range opts {
		if err := c.option(o); err != nil {
			return err
		}
	}
	return nil
}

// option reads an option.
func (c *call) option(o Option) error {
	if kind := o.kind(); c.operation.takes&kind == 0 {
		return misuse("%s takes no option %s, only %s", c.operation.name, kind, c.operation.takes)
	}
	return o.set(c)
}

func (c *call) setSort(r *SortRange) error {
	if c.sort != nil {
		return misuse("two ranges of the sort key: a query reads one")
	}
	c.sort = r
	return nil
}

// rangeOf returns a range of package keys.
func rangeOf(r keys.Range) *SortRange {
	op, operands := r.Condition()
	s := &SortRange{op: op}
	for _, operand := range operands {
		s.values = append(s.values, operand)
	}
	return s
}

// value adds a value and returns its placeholder.
func (c *call) value(v attr.Value) string {
	c.count++
	place := ":v" + strconv.Itoa(c.count)
	c.values.Add(place, v)
	return place
}

// name returns a placeholder for the name of an attribute.
func (c *call) name(name string) string {
	if c.names == nil {
		c.names = map[string]string{}
	}
	place := "#n" + strconv.Itoa(len(c.names)+1)
	c.names[place] = name
	return place
}

// boundValues returns the values of the placeholders, or nil if the call has none.
func (c *call) boundValues() attr.Item {
	if c.count == 0 {
		return nil
	}
	return c.values.Item()
}

// expression returns an expression of the caller's with placeholders of the call.
func (c *call) expression(source string, values []any) (*string, error) {
	places := map[string]string{}
	var b strings.Builder
	for i := 0; i < len(source); {
		start := i
		switch ch := source[i]; {
		case ch == ':':
			for i++; i < len(source) && isWordByte(source[i]); {
				i++
			}
			name := source[start:i]
			if places[name] == "" {
				if len(values) == 0 {
					return nil, misuse("%s: no value for %s", source, name)
				}
				v, err := attributeOf(values[0])
				if err != nil {
					return nil, misuse("%s: %s: %w", source, name, err)
				}
				places[name], values = c.value(v), values[1:]
			}
			b.WriteString(places[name])
		case ch == '#':
			return nil, misuse("%s: write the name of an attribute itself, in backquotes if it has other characters "+
				"than letters, digits and _: there are no placeholders for names", source)
		case ch == '`':
			end := strings.IndexByte(source[i+1:], '`')
			if end < 0 {
				return nil, misuse("%s: a backquote is not closed", source)
			}
			b.WriteString(c.name(source[i+1 : i+1+end]))
			i += end + 2
		case isWordByte(ch):
			for i < len(source) && isWordByte(source[i]) {
				i++
			}
			word := source[start:i]
			if isName(word, source[i:]) {
				word = c.name(word)
			}
			b.WriteString(word)
		default:
			b.WriteByte(ch)
			i++
		}
	}
	if len(values) > 0 {
		return nil, misuse("%s: %d more values than placeholders", source, len(values))
	}
	text := b.String()
	return &text, nil
}

func isWordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// isName reports whether a word is the name of an attribute that an expression must not
// spell: a reserved word that is neither an operator nor a function.
func isName(word, rest string) bool {
	switch strings.ToUpper(word) {
	case "AND", "OR", "NOT", "IN", "BETWEEN", "SET", "REMOVE", "ADD", "DELETE":
		return false
	}
	return expr.IsReserved(word) && !strings.HasPrefix(strings.TrimLeft(rest, " \t\r\n"), "(")
}

// keyItem appends the whole primary key that the arguments give.
func (c *call) keyItem(dst attr.Item, schema *keycond.Schema) (attr.Item, error) {
	if c.sort != nil || len(c.key) != schema.Len() {
		return nil, misuse("the key is %s: give one value for each attribute, not %d",
			namesOf(schema.Attributes()), len(c.key))
	}
	for i, arg := range c.key {
		a := schema.Attribute(i)
		v, err := c.attribute(arg)
		if err != nil {
			return nil, misuse("key attribute %s: %w", a.Name, err)
		}
		c.item.Add(a.Name, v)
	}
	return c.item.AppendItem(dst), nil
}

// attribute is attributeOf with the bytes of usual values in the memory of the call.
func (c *call) attribute(v any) (attr.Value, error) {
	from := len(c.raw)
	switch v := v.(type) {
	case string:
		if !utf8.ValidString(v) {
			break
		}
		c.raw = append(c.raw, v...)
		return attr.MakeValue(attr.String, c.raw[from:len(c.raw):len(c.raw)]), nil
	case int:
		var err error
		c.raw, err = attr.AppendNumber(c.raw, strconv.Itoa(v))
		return attr.MakeValue(attr.Number, c.raw[from:len(c.raw):len(c.raw)]), err
	}
	return attributeOf(v)
}

// release empties a call for its next use.
func (c *call) release() {
	c.item.Reset()
	c.values.Reset()
	clear(c.key)
	*c = call{key: c.key[:0], values: c.values, item: c.item, raw: c.raw[:0]}
}

// keyCondition returns the key condition of a query.
func (c *call) keyCondition(schema *keycond.Schema) (string, error) {
	attributes := append(append([]keycond.Attribute{}, schema.Hash...), schema.Range...)
	given := len(c.key)
	if c.sort != nil && c.sort.op != "" {
		given++
	}
	if len(c.key) < len(schema.Hash) || given > len(attributes) {
		return "", misuse("a query of the key %s needs a value for each attribute of the partition key (%s), "+
			"then values of the sort key and at most one range", namesOf(attributes), namesOf(schema.Hash))
	}

	var b strings.Builder
	for i, arg := range c.key {
		v, err := attributeOf(arg)
		if err != nil {
			return "", misuse("key attribute %s: %w", attributes[i].Name, err)
		}
		if i > 0 {
			b.WriteString(" AND ")
		}
		b.WriteString(c.name(attributes[i].Name) + " = " + c.value(v))
	}
	if c.sort == nil || c.sort.op == "" {
		return b.String(), nil
	}

	a := attributes[len(c.key)]
	places := make([]string, len(c.sort.values))
	for i, arg := range c.sort.values {
		v, err := attributeOf(arg)
		if err != nil {
			return "", misuse("key attribute %s: %w", a.Name, err)
		}
		places[i] = c.value(v)
	}
	b.WriteString(" AND ")
	switch name := c.name(a.Name); c.sort.op {
	case "begins_with":
		b.WriteString("begins_with(" + name + ", " + places[0] + ")")
	case "BETWEEN":
		b.WriteString(name + " BETWEEN " + places[0] + " AND " + places[1])
	case "=", "<", "<=", ">", ">=":
		b.WriteString(name + " " + c.sort.op + " " + places[0])
	default:
		return "", misuse("Compare(%q, …): want <, <=, > or >=", c.sort.op)
	}
	return b.String(), nil
}

func namesOf(list []keycond.Attribute) string {
	names := make([]string, len(list))
	for i, a := range list {
		names[i] = a.Name
	}
	return strings.Join(names, " / ")
}
