package sortkey

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr"
	"github.com/sortkey/sortkey/expr/ast"
	"github.com/sortkey/sortkey/internal/lex"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/keys"
)

// A taken value is one of the caller's in its stored form, so that the caller may change it
// before it is used.
type taken struct {
	value attr.Value
	err   error        // why it cannot be stored
	of    reflect.Type // of the caller's value
}

// String returns the value as messages show it.
func (t taken) String() string { return t.value.String() }

// take returns a value that the caller cannot change: v, or its stored form.
func take(v any) any {
	switch v := v.(type) {
	case nil, string, Option, SortRange, keys.Range, *keys.Template:
		return v
	case Key:
		return Key(takeAll(v))
	}
	if kind := reflect.TypeOf(v).Kind(); kind == reflect.String || kind <= reflect.Complex128 {
		return v
	}
	value, err := attr.Marshal(v)
	return taken{value, err, reflect.TypeOf(v)}
}

// takeAll takes each of a list of values.
func takeAll(values []any) []any {
	list := make([]any, len(values))
	for i, v := range values {
		list[i] = take(v)
	}
	return list
}

// asArguments returns options as arguments. They cannot be changed.
func asArguments(opts []Option) []any {
	list := make([]any, len(opts))
	for i, o := range opts {
		list[i] = o
	}
	return list
}

// A call is what the arguments of an operation say. It is a part of states that are pooled, so
// nothing below may keep the names, nor an input or what its pointers lead to, after the
// operation. Strings and the items that the builders make are new, and may be kept.
type call struct {
	operation    *operation
	table, index string // for messages

	key []any // values of key attributes, in their order
	// clauses are the key condition of a query, and operands their values.
	clauses  []keycond.Clause
	operands []attr.Value
	args     []any // values of an update's placeholders
	sort     *SortRange
	names    map[string]string
	// values collects what placeholders stand for.
	values attr.Builder
	count  int // of placeholders
	places []place
	// item builds the key, raw has the bytes of strings and numbers, and text those of an
	// expression. All keep their memory when the call is used again.
	item      attr.Builder
	raw, text []byte
	tokens    []lex.Token
	roles     []lex.Role

	given             optionKind
	joined            optionKind // conditions that were joined from several
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

// A place is a placeholder of a caller's expression, and that of the call.
type place struct{ theirs, ours string }

// parse reads the arguments of an operation.
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
		case SortRange:
			if arg.err == nil && arg.op == "" {
				arg.err = misuse("the SortRange is empty; make one with BeginsWith, Between or Compare")
			}
			if arg.err != nil {
				return arg.err
			}
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
			if arg == nil {
				return misuse("%s: argument %d is a nil template", c.operation.name, i+1)
			}
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

// of makes c a call of an operation on a table or an index.
func (c *call) of(o *operation, table, index string) {
	c.operation, c.table, c.index = o, table, index
}

// addKey adds the values of a key.
func (c *call) addKey(key Key) error {
	for i, v := range key {
		switch v.(type) {
		case nil, Key, Option, SortRange, keys.Range, *keys.Template:
			return misuse("%s: part %d of the Key is %T, not the value of a key attribute", c.operation.name, i+1, v)
		}
		c.key = append(c.key, v)
	}
	return nil
}

// options reads options that stand alone.
func (c *call) options(opts []Option) error {
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

// option reads an option.
func (c *call) option(o Option) error {
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
	place := placeholder(&valuePlaces, ":v", c.count)
	c.count++
	c.values.Add(place, v)
	return place
}

// name returns a placeholder for the name of an attribute.
func (c *call) name(name string) string {
	for _, place := range namePlaces[:min(len(c.names), len(namePlaces))] {
		if c.names[place] == name {
			return place
		}
	}
	if c.names == nil {
		c.names = map[string]string{}
	}
	place := placeholder(&namePlaces, "#n", len(c.names))
	c.names[place] = name
	return place
}

// usedNames returns the names that placeholders stand for, or nil if the call has none.
func (c *call) usedNames() map[string]string {
	if len(c.names) == 0 {
		return nil
	}
	return c.names
}

// The first placeholders, made once.
var (
	namePlaces  = [...]string{"#n1", "#n2", "#n3", "#n4", "#n5", "#n6", "#n7", "#n8"}
	valuePlaces = [...]string{":v1", ":v2", ":v3", ":v4", ":v5", ":v6", ":v7", ":v8"}
)

// placeholder returns the placeholder with a prefix that n others come before.
func placeholder(made *[8]string, prefix string, n int) string {
	if n < len(made) {
		return made[n]
	}
	return prefix + strconv.Itoa(n+1)
}

// boundValues returns the values of the placeholders, or nil if the call has none.
func (c *call) boundValues() attr.Item {
	if c.count == 0 {
		return nil
	}
	return c.values.Item()
}

// expression returns an expression of the caller's with placeholders of the call. Its names and
// values are written out, or are placeholders of values; see [lex.Roles].
func (c *call) expression(source string, values []any, form lex.Form) (*string, error) {
	if !utf8.ValidString(source) {
		return nil, misuse("%q: the expression is not UTF-8", source)
	}
	c.places, c.text = c.places[:0], c.text[:0]
	c.tokens = lex.LexLiterals(c.tokens[:0], source)
	c.roles = lex.Roles(c.roles[:0], source, c.tokens, form)
	end := int32(0)
	for i, tok := range c.tokens {
		word := tok.Text(source)
		c.text = append(c.text, source[end:tok.Start]...)
		end = tok.End

		switch role := c.roles[i]; role {
		case lex.RoleName, lex.RoleQuotedName:
			if role == lex.RoleQuotedName {
				if word = word[1 : len(word)-1]; word == "" {
					return nil, misuse("%s: the name between the backquotes is empty", source)
				}
			}
			if tok.Kind != lex.TokIdent || word[0] == '_' || expr.IsReserved(word) {
				word = c.name(word)
			}
		case lex.RolePlaceholder:
			if word[0] == '#' {
				return nil, misuse("%s: write the name of an attribute itself, in backquotes if it has other characters "+
					"than letters, digits and _: there are no placeholders for names", source)
			}
			at := slices.IndexFunc(c.places, func(p place) bool { return p.theirs == word })
			if at < 0 {
				if len(values) == 0 {
					return nil, misuse("%s: no value for %s", source, word)
				}
				v, err := c.attribute(values[0])
				if err != nil {
					return nil, misuse("%s: %s: %w", source, word, err)
				}
				at, values = len(c.places), values[1:]
				c.places = append(c.places, place{word, c.value(v)})
			}
			word = c.places[at].ours
		case lex.RoleText, lex.RoleNumber, lex.RoleWord, lex.RoleSignedNumber:
			sign := ""
			if role == lex.RoleSignedNumber {
				role, sign, word = lex.RoleNumber, word[:1]+" ", word[1:]
			}
			v, err := lex.Literal(role, word)
			if err != nil {
				return nil, misuse("%s: %w", source, err)
			}
			c.text = append(c.text, sign...)
			word = c.value(v)
		case lex.RoleBad:
			if word[0] == '`' {
				return nil, misuse("%s: a backquote is not closed", source)
			}
			return nil, misuse("%s: unexpected %q: text stands in quotes, and names with other characters than "+
				"letters, digits and _ in backquotes", source, word)
		case lex.RolePlain:
			word = lex.Operator(tok.Kind, word)
		}
		c.text = append(c.text, word...)
	}
	if len(values) > 0 {
		return nil, misuse("%s: %d more values than placeholders", source, len(values))
	}
	text := string(c.text)
	return &text, nil
}

// keyItem appends the whole primary key that the arguments give.
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

// attribute returns the stored form of a value. The bytes of usual values are in the memory of
// the call.
func (c *call) attribute(v any) (attr.Value, error) {
	from := len(c.raw)
	switch v := v.(type) {
	case taken:
		return v.value, v.err
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
	return attr.Marshal(v)
}

// The most that a call keeps for its next use: bytes in each buffer, and entries in each list
// and map.
const (
	keepBytes   = 64 << 10
	keepEntries = 256
)

// release empties a call for its next use.
func (c *call) release() {
	most := max(len(c.names), cap(c.key), cap(c.args), cap(c.places), cap(c.tokens), c.count)
	if cap(c.raw) > keepBytes || cap(c.text) > keepBytes || most > keepEntries {
		*c = call{}
		return
	}

	c.item.Reset()
	c.values.Reset()
	clear(c.key)
	clear(c.args)
	clear(c.places[:cap(c.places)])
	clear(c.names)
	clear(c.clauses)
	clear(c.operands)
	*c = call{
		clauses: c.clauses[:0], operands: c.operands[:0],
		key: c.key[:0], args: c.args[:0], names: c.names, values: c.values, places: c.places[:0], item: c.item,
		raw: c.raw[:0], text: c.text[:0], tokens: c.tokens[:0], roles: c.roles[:0],
	}
}

// keyClauses makes the clauses of a query's key condition.
func (c *call) keyClauses(schema *keycond.Schema) error {
	given := len(c.key)
	ranged := c.sort != nil && c.sort.op != ""
	if ranged {
		given++
	}
	if len(c.key) < len(schema.Partition()) || given > schema.Len() {
		return misuse("%s: a query of the key %s needs a value for each attribute of the partition key (%s), "+
			"then values of the sort key and at most one range",
			placeOf(c.table, c.index), namesOf(slices.Concat(schema.Partition(), schema.Sort())), namesOf(schema.Partition()))
	}

	// The clauses keep parts of operands, which must not move.
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
		c.clauses = append(c.clauses, keycond.Clause{Attribute: a.Name, Op: op, Values: c.operands[from:len(c.operands)]})
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

func namesOf(list []keycond.Attribute) string {
	names := make([]string, len(list))
	for i, a := range list {
		names[i] = a.Name
	}
	return strings.Join(names, " / ")
}
