package keys

import "strconv"

// A Range is the keys from Low to High, both included. [Template.Under], [Template.Between] and [Template.BeginsWith]
// return one. The zero Range contains every key.
type Range struct {
	// Low is the smallest key that may be in the range, and High the largest. "" means no bound.
	Low, High string
	// Prefix is set if the range is exactly the keys that begin with Prefix. Otherwise it is "".
	Prefix string
}

// Contains reports whether the range contains a key. Tests and fake stores can filter keys with it.
func (r Range) Contains(key string) bool {
	return r.Low <= key && (r.High == "" || key <= r.High)
}

// Condition returns the operator and the operands of the key condition that selects the range. The operator is =,
// begins_with, BETWEEN, >= or <=; it is "" when the range has no bounds and so needs no condition. Use Condition with
// a client that has no function for ranges: for the AWS SDK use package keyexpr, and for package sortkey its function
// In.
//
// If the range is all keys with one prefix, the operator is begins_with. BETWEEN would also read High, which is the
// first key after them.
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

// String returns the condition with quoted operands, for messages and logs.
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

// Under returns the range of the keys with these first components, such as all orders of one customer. With values
// for all components, the range is a single key. Arguments are as for [Template.Format]. The error is an [*Error].
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

// BeginsWith returns the range of the keys that begin with the components outer and
// whose next component begins with partial: with 2026-01, the dates of a month. Only
// types whose parts begin like their text forms have such ranges; see
// [Type.EncodePrefix]. The error is an [*Error].
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

// exclusive is what Excluding returns: a bound of [Template.Between] that does not belong to the range.
type exclusive struct{ value any }

// Excluding returns a bound for [Template.Between] that does not belong to the range: Between compares with < or > in
// place of <= or >=.
func Excluding(value any) any { return exclusive{value} }

// Between returns the range of the keys that begin with the components outer and whose next component is between from
// and to. Both bounds belong to the range unless they are [Excluding]; nil means no bound. From is the smaller value,
// also for reversed types. Between refuses types that are not [Type.Ordered], because their values do not form one
// range of keys. The error is an [*Error].
//
// If a delimiter follows a component of variable length, Between compares the component together with the delimiter:
// with the delimiter #, "a!" is less than "a".
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
			Template: t.src, Component: p.Name, Type: p.Type.String(),
			Msg: "keys of " + p.Type.String() +
				" do not sort by value, so the keys between two values are not one range",
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
		return Range{}, &Error{
			Template: t.src, Component: p.Name, Type: p.Type.String(), Msg: "no value is between the bounds",
			Advice: "pass the smaller value first",
		}
	}
	return r, nil
}

// level returns the index in t.parts of the component that follows outer, and base, the text that all keys with the
// values outer begin with.
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
	return 0, "", &Error{
		Template: t.src, Msg: "the template has no component after these values", Advice: "pass fewer outer values",
	}
}

// bound returns one end of a range of keys that begin with base and then have value in the component t.parts[i]. It
// returns the low end if low is set, else the high end.
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
		return "", &Error{
			Template: t.src, Component: t.parts[i].Name, Msg: "the bound is empty", Advice: "pass nil for no bound",
		}
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
		return key, nil // every key has text after this component, so no key equals this prefix
	case !low && excluded:
		return below(key), nil
	case low && last:
		return key + "\x00", nil // the smallest string above key
	}

	next, ok := Successor(key) // greater than all keys whose component equals the bound
	if low && !ok {
		return "", &Error{
			Template: t.src, Component: t.parts[i-1].Name, Msg: "no key is greater than the bound",
			Advice: "pass a smaller bound",
		}
	}
	return next, nil
}
