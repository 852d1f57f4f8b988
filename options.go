package sortkey

import (
	"reflect"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/lex"
	"github.com/sortkey/sortkey/keys"
)

// An Option changes one operation on a table. Options come after the values of the key. An operation refuses an
// option that does not apply to it, and an option that is given twice. Only [If] and [Where] may be given several
// times, and then all of their conditions must hold.
type Option interface {
	QueryOption
	set(*choices) error
}

// A QueryOption changes a query. It is an [Option], or a range of sort keys to read, which [BeginsWith], [Between],
// [Compare] and [In] return. Without a range, a query reads its whole partition.
type QueryOption interface{ kind() optionKind }

// An optionKind is a set of bits, one for each kind of option.
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

// optionNames are the names of the kinds, in the order of their bits.
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
	opUpdate  = operation{"Update", kindIf | kindOld}
	opDelete  = operation{"Delete", kindIf | kindOld}
	opQuery   = operation{"Query", kindsOfReads | kindDescending}
	opCount   = operation{"Count", kindWhere | kindConsistent}
	opMany    = operation{"GetMany", 0}
	opScan    = operation{"Scan", kindsOfReads | kindSegment}
	opChanges = operation{"Changes", kindUntilNow}
)

// choices holds what the options of a call have set, and the placeholders of their expressions.
type choices struct {
	placeholders
	operation *operation
	chosen
}

// chosen holds the settings of a call's options. It is a struct of its own so that release can reset it at once.
type chosen struct {
	given             optionKind
	joined            optionKind // kindIf and kindWhere, each if it was given more than once
	condition, filter *string
	projection        []string
	consistent        bool
	limit             int64
	after             string
	segmented         bool
	segment, segments int64
	old               any
}

// options applies the options of an operation whose arguments are only options, not values of a key.
func (c *choices) options(opts []Option) error {
	for i, o := range opts {
		if o == nil {
			return misuse("%s: option %d is nil", c.operation.name, i+1)
		}
		if err := c.option(o); err != nil {
			return err
		}
	}
	return nil
}

// option applies an option. It returns an error if the option does not apply to the operation or is given twice.
func (c *choices) option(o Option) error {
	kind := o.kind()
	switch {
	case kind == 0:
		return misuse("%s: unknown option %v", c.operation.name, o)
	case c.operation.takes&kind == 0:
		return misuse("%s takes no option %s, only %s", c.operation.name, kind, c.operation.takes)
	case c.given&kind&^(kindIf|kindWhere) != 0:
		return misuse("%s: %s is given twice; give it once", c.operation.name, kind)
	}
	c.given |= kind
	return o.set(c)
}

// A Mode is an [Option] that is on or off.
type Mode uint8

// The modes.
const (
	// Consistent makes a read see all writes that were answered before the read. It only makes a difference with
	// [Simulation].StaleReads.
	Consistent Mode = iota + 1
	// Descending reads a range from its end to its beginning.
	Descending
	// UntilNow ends [TableOf.Changes] after the changes so far.
	UntilNow
)

// modeKinds has the kind of each mode.
var modeKinds = map[Mode]optionKind{
	Consistent: kindConsistent, Descending: kindDescending, UntilNow: kindUntilNow,
}

func (m Mode) kind() optionKind { return modeKinds[m] }

func (m Mode) set(c *choices) error {
	c.consistent = c.consistent || m == Consistent
	return nil
}

// A setting is an [Option] with a value.
type setting struct {
	of    optionKind
	apply func(*choices) error
}

func (s *setting) set(c *choices) error { return s.apply(c) }
func (s *setting) kind() optionKind     { return s.of }

// A conditional is the [Option] that [If] or [Where] returns.
type conditional struct {
	of     optionKind // kindIf or kindWhere
	source string
	values []any
}

func (o *conditional) kind() optionKind { return o.of }

func (o *conditional) set(c *choices) (err error) {
	dst := &c.condition
	if o.of == kindWhere {
		dst = &c.filter
	}
	text, err := c.expression(o.source, o.values, lex.ConditionForm)
	if err != nil || *dst == nil {
		*dst = text
		return err
	}

	first := **dst
	if c.joined&o.of == 0 {
		if first, err = grouped(first); err != nil {
			return err
		}
	}
	second, err := grouped(*text)
	if err != nil {
		return err
	}
	c.joined |= o.of
	*dst = new(first + " AND " + second)
	return nil
}

// grouped puts an expression in parentheses, unless parentheses already enclose the whole expression. DynamoDB
// refuses redundant parentheses.
func grouped(text string) (string, error) {
	text = strings.TrimSpace(text)
	depth, isGroup := 0, strings.HasPrefix(text, "(")
	for i := range len(text) {
		switch text[i] {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth < 0 {
			break
		}
		isGroup = isGroup && (depth > 0 || i == len(text)-1)
	}

	switch {
	case depth != 0:
		return "", misuse("%s: its parentheses do not match, so it cannot be joined with another expression", text)
	case isGroup:
		return text, nil
	}
	return "(" + text + ")", nil
}

// If makes a write depend on a condition expression, such as status = 'NEW' AND total > 10. Write names and values
// directly: names need no placeholders, even if they are reserved words. Put a name with other characters than
// letters, digits and _ between backquotes, and text between single or double quotes. Placeholders such as :n take
// the values in the order in which they first appear. With several conditions, all must hold.
func If(condition string, values ...any) Option {
	return &conditional{kindIf, condition, takeAll(values)}
}

// Where filters the items that a query or scan reads. The filter is an expression, written as in [If]. The items that
// the filter drops count as read and cost the same. With several filters, all must hold.
func Where(filter string, values ...any) Option {
	return &conditional{kindWhere, filter, takeAll(values)}
}

// Only makes a read return only these attributes, or paths into documents, so that it has less to decode. The read
// costs the same units.
func Only(paths ...string) Option {
	paths = slices.Clone(paths)
	return &setting{kindOnly, func(c *choices) error {
		for _, path := range paths {
			text, err := c.expression(path, nil, lex.ProjectionForm)
			if err != nil {
				return err
			}
			c.projection = append(c.projection, *text)
		}
		return nil
	}}
}

// Limit ends a loop after n items. The loop reads no row after the last of them. For [TableOf.QueryPage] and
// [TableOf.ScanPage], n is the Limit of DynamoDB: the page ends after n items have been read, before the filter.
func Limit(n int) Option {
	return &setting{kindLimit, func(c *choices) error {
		if n < 1 {
			return misuse("Limit(%d): want at least 1", n)
		}
		c.limit = int64(n)
		return nil
	}}
}

// After continues a query or scan after the page that returned this [Page].Cursor. The cursor may come from another
// request or another program. With an empty cursor the read starts at the beginning.
func After(cursor string) Option {
	return &setting{kindAfter, func(c *choices) error {
		c.after = cursor
		return nil
	}}
}

// Segment divides a scan into total parts and reads part n, counted from 0. To scan a table in parallel, give each
// goroutine one of the parts.
func Segment(n, total int) Option {
	return &setting{kindSegment, func(c *choices) error {
		c.segmented, c.segment, c.segments = true, int64(n), int64(total)
		return nil
	}}
}

// Old stores the item as it was before a write in dst, which is a pointer to a struct, a map or an [attr.Item]. It
// overwrites all of dst, with the zero value if there was no item. A write that fails does not change dst. If the
// item does not fit dst, the error is a [*DecodeError], but the write has been applied.
func Old(dst any) Option {
	return &setting{kindOld, func(c *choices) error {
		if err := checkDestination(dst); err != nil {
			return err
		}
		c.old = dst
		return nil
	}}
}

// checkDestination returns an error if no item can be decoded into dst. The operation calls it before it writes, so
// that it then fails without writing anything.
func checkDestination(dst any) error {
	v := reflect.ValueOf(dst)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return misuse("Old(%T): want a pointer to a struct, a map or an attr.Item, as in Old(&item)", dst)
	}
	v, ok := destination(v)
	if !ok {
		return misuse("Old(%T): the pointer leads to itself; give a pointer to a struct, a map or an attr.Item", dst)
	}
	target := reflect.New(v.Type()).Interface()
	if _, ok := target.(attr.Unmarshaler); ok {
		return nil // an Unmarshaler may accept or refuse any item
	}
	if err := attr.UnmarshalItem(nil, target); err != nil {
		return misuse("Old(%T): %w", dst, err)
	}
	return nil
}

// destination follows pointers and interfaces from v to the variable into which an item is decoded. It returns false
// if a pointer leads back to itself.
func destination(v reflect.Value) (reflect.Value, bool) {
	for range attr.MaxNesting {
		at := v
		if v.Kind() == reflect.Interface {
			at = v.Elem()
		}
		if at.Kind() != reflect.Pointer || at.IsNil() {
			return v, true
		}
		v = at.Elem()
	}
	return v, false
}

// A sortRange is the range of a sort key that a query reads.
type sortRange struct {
	op     string // "" for all of a partition
	values []any
	err    error // error of the function that returned this range
}

func (sortRange) kind() optionKind { return 0 }

// In is the range of the sort keys that r describes. Templates of package keys make such ranges, for example with
// [keys.Template.Under].
func In(r keys.Range) QueryOption {
	op, operands := r.Condition()
	s := sortRange{op: op}
	for _, operand := range operands {
		s.values = append(s.values, operand)
	}
	return s
}

// BeginsWith is the range of the sort keys that begin with prefix, which is a string or a []byte.
func BeginsWith(prefix any) QueryOption {
	return sortRange{op: "begins_with", values: []any{take(prefix)}}
}

// Between is the range of the sort keys from low to high, both included.
func Between(low, high any) QueryOption {
	return sortRange{op: "BETWEEN", values: []any{take(low), take(high)}}
}

// Compare is the range of the sort keys for which "sort key, operator, value" holds. The operator is =, <, <=, > or
// >=.
func Compare(operator string, value any) QueryOption {
	switch operator {
	case "=", "<", "<=", ">", ">=":
		return sortRange{op: operator, values: []any{take(value)}}
	}
	return sortRange{
		err: misuse("Compare(%q, …): want =, <, <=, > or >=", operator),
	}
}

// take returns v itself if the caller cannot change it later. Otherwise it returns a copy of v in its stored form.
func take(v any) any {
	switch v := v.(type) {
	case nil, string, QueryOption, keys.Range, *keys.Template:
		return v
	case Key:
		parts := slices.Clone(v)
		for i, part := range parts {
			if _, ok := part.(Key); !ok { // leave a nested Key as it is, as it may contain itself; addKey refuses it
				parts[i] = take(part)
			}
		}
		return parts
	}
	if kind := reflect.TypeOf(v).Kind(); kind == reflect.String || kind <= reflect.Complex128 {
		return v
	}
	value, err := attr.Marshal(v)
	return taken{value, err, reflect.TypeOf(v)}
}

// takeAll returns a list of the values, each as [take] returns it.
func takeAll(values []any) []any {
	list := make([]any, len(values))
	for i, v := range values {
		list[i] = take(v)
	}
	return list
}

// appendArguments appends options to the arguments of an operation.
func appendArguments[O QueryOption](args []any, opts []O) []any {
	args = slices.Grow(args, len(opts))
	for _, o := range opts {
		args = append(args, o)
	}
	return args
}
