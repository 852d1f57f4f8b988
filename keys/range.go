package keys

import "strconv"

// A Range is a contiguous run of keys: those that one key condition reads.
//
// Both bounds are part of it, as those of BETWEEN are. That is why High is
// often a [Successor], which is above all keys wanted and not one of them: the
// keys of customer 7 begin with C#7#, and High is C#7$. A row whose key is
// exactly that would be read too, but no template makes it: a key goes on
// after a closed component, and the successor of a literal is not the literal.
// Only a key that was written by other means can be there.
type Range struct {
	// Low is the smallest key there can be, and High the largest; "" is no
	// bound.
	Low, High string
	// Prefix is what all keys of the range begin with, when the range is all
	// keys that begin with it.
	Prefix string
}

// Contains reports whether a row with this key is read.
func (r Range) Contains(key string) bool {
	return r.Low <= key && (r.High == "" || key <= r.High)
}

// Condition returns the range as a key condition: the operator =, begins_with,
// BETWEEN, >= or <= with its operands, or "" when the range has no bounds and
// needs no condition.
//
// A range of all keys with one prefix is a begins_with rather than a BETWEEN,
// because it reads nothing else, not even the successor itself.
func (r Range) Condition() (op string, operands []string) {
	switch {
	case r.Prefix != "":
		return "begins_with", []string{r.Prefix}
	case r.Low == "" && r.High == "":
		return "", nil
	case r.High == "":
		return ">=", []string{r.Low}
	case r.Low == "":
		return "<=", []string{r.High}
	case r.Low == r.High:
		return "=", []string{r.Low}
	}
	return "BETWEEN", []string{r.Low, r.High}
}

// String returns the condition for people, with the operands quoted.
func (r Range) String() string {
	op, operands := r.Condition()
	if op == "" {
		return "all keys"
	}
	s := op + " " + strconv.Quote(operands[0])
	if len(operands) > 1 {
		s += " AND " + strconv.Quote(operands[1])
	}
	return s
}

// within returns the range of all keys that begin with prefix.
func within(prefix string) Range {
	high, _ := Successor(prefix)
	return Range{Low: prefix, High: high, Prefix: prefix}
}

// Under returns the range of the keys with these first components, which is
// one key when they are all. Arguments are as for [Template.Format]. Its errors
// are an [*Error].
func (t *Template) Under(args ...any) (Range, error) {
	prefix, err := t.Prefix(args...)
	if err != nil {
		return Range{}, err
	}
	if len(args) == len(t.names) {
		return Range{Low: prefix, High: prefix}, nil
	}
	return within(prefix), nil
}

// BeginsWith returns the range of the keys whose component after those of
// outer begins with partial: with 2026-01, the dates of a month. Only types
// whose parts begin as their text form does have such ranges; see
// [Type.EncodePrefix]. Its errors are an [*Error].
func (t *Template) BeginsWith(partial string, outer ...any) (Range, error) {
	i, base, err := t.level(outer)
	if err != nil {
		return Range{}, err
	}
	p := t.parts[i]
	part, err := p.Type.EncodePrefix(partial)
	if err != nil {
		return Range{}, in(err, t.src, p.Name)
	}
	return within(base + part), nil
}

// exclusive is a bound that is not part of its range.
type exclusive struct{ value any }

// Excluding makes a bound of [Template.Between] that is not part of the range.
func Excluding(value any) any { return exclusive{value} }

// Between returns the range of the keys whose component after those of outer
// lies between from and to, both included unless they are [Excluding]; nil is
// no bound. From and to are in the order of values, for reversed types too.
// It refuses types that are not [Type.Ordered], whose values are in no one
// range of keys.
//
// Where a component of differing length is followed by a delimiter, the order
// is that of the component with its delimiter. Its errors are an [*Error].
func (t *Template) Between(from, to any, outer ...any) (Range, error) {
	i, base, err := t.level(outer)
	if err != nil {
		return Range{}, err
	}
	p := t.parts[i]
	if from == nil && to == nil {
		return within(base), nil
	}
	if !p.Type.Ordered() {
		return Range{}, &Error{
			Template: t.src, Component: p.Name, Type: p.Type.String(), Msg: "keys of " + p.Type.String() + " are not in the order of its values, so what lies between two is not one range",
			Advice: "use a type that sorts by value, as int(8), signed(8) or decimal(8,2)",
		}
	}
	low, high := from, to
	if p.Type.Desc {
		low, high = to, from
	}
	r := within(base)
	if low != nil {
		r.Prefix = ""
		if r.Low, err = t.bound(i, base, low, true); err != nil {
			return Range{}, err
		}
	}
	if high != nil {
		r.Prefix = ""
		if r.High, err = t.bound(i, base, high, false); err != nil {
			return Range{}, err
		}
	}
	if r.High != "" && r.Low > r.High {
		return Range{}, &Error{Template: t.src, Component: p.Name, Type: p.Type.String(), Msg: "no value lies between the bounds", Advice: "give the smaller one first"}
	}
	return r, nil
}

// level returns the part of the component after those of outer, and what keys
// with them begin with.
func (t *Template) level(outer []any) (part int, base string, err error) {
	if base, err = t.Prefix(outer...); err != nil {
		return 0, "", err
	}
	n := len(outer)
	for i, p := range t.parts {
		if p.Name == "" {
			continue
		}
		if n == 0 {
			return i, base, nil
		}
		n--
	}
	return 0, "", &Error{Template: t.src, Msg: "there is no component after those given", Advice: "leave one out of the outer ones"}
}

// bound returns an end of the range of a component that stands after base.
func (t *Template) bound(i int, base string, value any, low bool) (string, error) {
	ex, excluded := value.(exclusive)
	if excluded {
		value = ex.value
	}
	text, err := textOf(value)
	if err != nil {
		return "", in(err, t.src, t.parts[i].Name)
	}
	part, err := t.part(i, text)
	if err != nil {
		return "", err
	}
	if part == "" {
		return "", &Error{Template: t.src, Component: t.parts[i].Name, Msg: "the bound is empty", Advice: "give nil for no bound"}
	}
	key, last := base+part, true
	if i++; i < len(t.parts) {
		key += t.parts[i].Literal
		last = t.parts[i].Name == "" && i+1 == len(t.parts)
	}
	switch {
	case low && !excluded, !low && !excluded && last:
		return key, nil
	case !low && excluded && !last:
		return key, nil // nothing is the closed component alone
	case !low && excluded:
		return below(key), nil
	case low && last:
		return key + "\x00", nil // the smallest string above key
	}
	next, ok := Successor(key) // above all that begin with the closed component
	if low && !ok {
		return "", &Error{Template: t.src, Component: t.parts[i-1].Name, Msg: "no key is above the bound", Advice: "give a smaller one"}
	}
	return next, nil
}
