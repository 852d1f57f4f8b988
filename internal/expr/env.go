package expr

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/lex"

	"github.com/sortkey/sortkey/attr"
)

// An Env holds the names and values that the expressions of one request share, and records which of them they use. It
// is not safe for concurrent use; the expressions that it returns are.
type Env struct {
	names     []name // sorted by key
	values    attr.Item
	valueUsed []bool

	// Initial memory of names and valueUsed.
	fewNames  [3]name
	fewValues [8]bool
}

// A name is an entry of ExpressionAttributeNames.
type name struct {
	key, attribute string
	used           bool
}

// NewEnv returns the Env of a request. The values must not change afterwards. The error is an [*Error].
func NewEnv(p Params) (*Env, error) {
	e := new(Env)
	if err := e.Reset(p); err != nil {
		return nil, err
	}
	return e, nil
}

// Reset makes e the Env of another request, like [NewEnv]. After an error, e has no names and values. Do not copy an
// Env after Reset, because its names may be in memory of the Env itself.
func (e *Env) Reset(p Params) error {
	err := e.fill(p)
	if err != nil {
		*e = Env{}
	}
	return err
}

// fill is Reset, except that after an error e has some of the names and values.
func (e *Env) fill(p Params) error {
	values := p.Values
	*e = Env{values: values}
	if err := e.addNames(p.Names); err != nil {
		return err
	}
	if values == nil {
		return nil
	}
	if err := e.checkValues(); err != nil {
		return err
	}

	if n := values.Len(); n <= len(e.fewValues) {
		e.valueUsed = e.fewValues[:n]
	} else {
		e.valueUsed = make([]bool, n)
	}
	size := values.Size()
	for _, n := range e.names {
		size += len(n.key) + len(n.attribute)
	}
	if size > MaxSubstitutionBytes {
		return refuse(
			ExpressionAttributeValues,
			"The size of all expression attribute names and values has exceeded the maximum allowed size; size: %d",
			size,
		)
	}
	return nil
}

func (e *Env) addNames(names map[string]string) error {
	if names == nil {
		return nil
	}
	const p = ExpressionAttributeNames
	if len(names) == 0 {
		return refuse(p, "ExpressionAttributeNames must not be empty")
	}
	if e.names = e.fewNames[:0]; len(names) > len(e.fewNames) {
		e.names = make([]name, 0, len(names))
	}
	for key, attribute := range names {
		e.names = append(e.names, name{key: key, attribute: attribute})
	}
	slices.SortFunc(e.names, func(a, b name) int { return cmp.Compare(a.key, b.key) })
	size := 0
	for _, n := range e.names {
		if len(n.key) > MaxTokenBytes {
			return refuse(
				p,
				"ExpressionAttributeNames contains invalid key: The expression attribute map contains a key that is "+
					"too long; size of key: %d",
				len(n.key),
			)
		}

		if n.key == "" || n.key[0] != '#' || !lex.IsWord(n.key[1:]) {
			return refuse(p, "ExpressionAttributeNames contains invalid key: Syntax error; key: %s", quote(n.key))
		}
		switch {
		case n.attribute == "":
			return refuse(p, "ExpressionAttributeNames contains invalid value: Empty attribute name for key %s", n.key)
		case len(n.attribute) > attr.MaxNameBytes:
			return refuse(
				p, "ExpressionAttributeNames contains invalid value: Attribute name is too long for key %s", n.key,
			)
		}

		size += len(n.key) + len(n.attribute)
	}

	if size > MaxSubstitutionBytes {
		return refuse(
			p, "The size of all expression attribute names and values has exceeded the maximum allowed size; size: %d",
			size,
		)
	}
	return nil
}

func (e *Env) checkValues() error {
	const p = ExpressionAttributeValues
	if e.values.Len() == 0 {
		return refuse(p, "ExpressionAttributeValues must not be empty")
	}
	for i := range e.values.Len() {
		key, _ := e.values.At(i)
		if len(key) > MaxTokenBytes {
			return refuse(
				p,
				"ExpressionAttributeValues contains invalid key: "+
					"The expression attribute map contains a key that is too long;",
			)
		}
		if len(key) == 0 || key[0] != ':' || !lex.IsWord(key[1:]) {
			return refuse(
				p, "ExpressionAttributeValues contains invalid key: Syntax error; key: %s", quote(string(key)),
			)
		}
	}

	return nil
}

// Unused returns an [*Error] if there is a name or a value that no expression has used, otherwise nil. Call it after
// parsing all expressions.
func (e *Env) Unused() error {
	var keys []string
	for _, n := range e.names {
		if !n.used {
			keys = append(keys, n.key)
		}
	}
	if keys != nil {
		return refuse(
			ExpressionAttributeNames, "Value provided in ExpressionAttributeNames unused in expressions: keys: {%s}",
			strings.Join(keys, ", "),
		)
	}

	for i, used := range e.valueUsed {
		if !used {
			key, _ := e.values.At(i)
			keys = append(keys, string(key))
		}
	}

	if keys != nil {
		return refuse(
			ExpressionAttributeValues, "Value provided in ExpressionAttributeValues unused in expressions: keys: {%s}",
			strings.Join(keys, ", "),
		)
	}
	return nil
}

// name returns the attribute name for key.
func (e *Env) name(key string) (string, bool) {
	i, ok := slices.BinarySearchFunc(e.names, key, func(n name, key string) int { return cmp.Compare(n.key, key) })
	if !ok {
		return "", false
	}
	e.names[i].used = true
	return e.names[i].attribute, true
}

// value returns the value for key, or the zero Value.
func (e *Env) value(key string) attr.Value {
	lo, hi := 0, e.values.Len()
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		name, v := e.values.At(mid)
		switch {
		case string(name) == key:
			e.valueUsed[mid] = true
			return v
		case string(name) < key:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return attr.Value{}
}
