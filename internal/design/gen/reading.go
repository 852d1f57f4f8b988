package gen

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr/ast"
	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keys"
)

// A reading is how the request of a pattern follows from values. Each language writes it as a
// function.
type reading struct {
	m *model.Model
	p *model.Pattern
	// fixed is a request without parameters, or nil.
	fixed  wire.Request
	values []value // of the entity's keys
	// steps are parameters and computations, in the order in which names are given.
	steps []step
	// key has the members of the key of a GetItem, and conditions those of a Query.
	key        []keyMember
	conditions []keyCondition
	// each are the parameters whose values the pattern lists: it is a request for each.
	each []list
	// over is the range of times that takes a request for each of its periods, or nil.
	over *span
	// rest are the members of the request without its table, index and key conditions.
	rest []member
}

// A list is a parameter with the values for each of which the pattern is one request, such as the
// shards of a partition.
type list struct {
	*parameter
	values []string
}

// A span is a range of times over several periods of the partition key, such as days.
type span struct {
	field, unit string
	// bounds are the ends of the range, or one period that is all of it.
	bounds []spanBound
	args   []string // in the pattern
	// at, from and to are the parameters of the request for one period: a time in it, and the part of the range
	// in it, which are nil if the sort key does not have the time.
	at, from, to *parameter
}

// A spanBound is an end of a range. If the model gives it as a period, unit is that.
type spanBound struct {
	suffix, unit string
	last         bool
}

// A step is a *parameter or a *computation.
type step any

// A parameter is a value that a function takes.
type parameter struct {
	field, suffix string
	typ           string // goText, goNumber or goTime
}

// A computation is a call of a method of a template: Format, Under, Between or BeginsWith.
type computation struct {
	attribute string // with a suffix, for the name of the variable
	t         *model.Template
	method    string
	args      []argument
}

// An argument is a parameter, or no bound if that is nil.
type argument struct {
	*parameter
	// excluding says that the bound does not belong to the range.
	excluding bool
	// unit is the period that the parameter stands for, such as day, and last says that the bound is
	// its last moment.
	unit string
	last bool
}

// An operand is a parameter, the result of a computation, or a constant.
type operand struct {
	kind attr.Kind
	*parameter
	*computation
	constant *attr.Value
}

type keyMember struct {
	attribute string
	operand
}

// A keyCondition is a condition on a key attribute: an operator with operands, or the range that a
// computation returns.
type keyCondition struct {
	attribute string
	op        string
	operands  []operand
	in        *computation
	kind      attr.Kind
}

// newReading returns the reading of a pattern, or why the pattern has no request.
func newReading(m *model.Model, p *model.Pattern) (*reading, error) {
	p, lists, over, err := withoutLists(p)
	if err != nil {
		return nil, err
	}

	in, err := requestOf(m, p)
	if err != nil {
		return nil, err
	}
	if p.Expect.Error != "" {
		return nil, fmt.Errorf("it expects the error %s", p.Expect.Error)
	}

	r := &reading{m: m, p: p, over: over}
	if p.Request != nil || p.Operation == "Scan" {
		r.fixed = in
		return r, nil
	}
	if p.Entity != nil {
		_, r.values = entityKeys(p.Entity)
	}
	if p.Operation == "GetItem" {
		err = r.get()
	} else {
		err = r.query()
	}
	if err != nil {
		return nil, err
	}
	if r.rest, err = r.members(); err != nil {
		return nil, err
	}

	for _, l := range lists {
		i := slices.IndexFunc(r.parameters(), func(p *parameter) bool { return p.field == l.field && p.suffix == "" })
		if i < 0 {
			return nil, fmt.Errorf("it lists values of %s, which its request does not have", l.field)
		}
		l.parameter = r.parameters()[i]
		if l.typ == goTime {
			return nil, errors.New("it lists times")
		}
		r.each = append(r.each, l)
	}
	if over != nil {
		for _, p := range r.parameters() {
			switch {
			case p.field != over.field:
			case p.typ != goTime:
				return nil, errSeveral
			case p.suffix == "":
				over.at = p
			case p.suffix == "From":
				over.from = p
			case p.suffix == "To":
				over.to = p
			}
		}
		if over.at == nil {
			return nil, errSeveral
		}
	}
	return r, nil
}

// withoutLists returns a pattern with the first value of each list in its conditions and the first period of a
// range of times, and the lists and the range.
func withoutLists(p *model.Pattern) (one *model.Pattern, lists []list, over *span, err error) {
	in := func(c model.Condition) bool { return c.Op == model.In }
	if p.Operation != "Query" {
		return p, nil, nil, nil
	}

	parts, err := compile.Split(p)
	if err != nil {
		return nil, nil, nil, err
	}
	if len(parts) == 1 && !slices.ContainsFunc(p.Where, in) {
		return p, nil, nil, nil
	}
	requests := 1
	for i, c := range p.Where {
		if !in(c) {
			var different []string
			for _, part := range parts {
				if begin := strings.Join(part.Where[i].Args, " "); !slices.Contains(different, begin) {
					different = append(different, begin)
				}
			}
			if len(different) == 1 {
				continue
			}
			requests *= len(different)
			if over != nil {
				return nil, nil, nil, errSeveral
			}
			if over = newSpan(p, c); over == nil {
				return nil, nil, nil, errSeveral
			}
			// Its bounds are moments: the code makes them of the periods that the model gives.
			first := &parts[0].Where[i]
			if begin, _, ok := compile.Period(keys.Type{Name: "nanos"}, first.Args[0]); ok {
				first.Args[0] = begin
			}
			continue
		}
		l := list{parameter: &parameter{field: c.Field}}
		for _, part := range parts {
			if v := part.Where[i].Args[0]; !slices.Contains(l.values, v) {
				l.values = append(l.values, v)
			}
		}
		lists = append(lists, l)
		requests *= len(l.values)
	}
	if requests != len(parts) {
		return nil, nil, nil, errSeveral
	}
	return parts[0], lists, over, nil
}

// newSpan returns the range of a condition on a time, or nil if no partition key has the time.
func newSpan(p *model.Pattern, c model.Condition) *span {
	hash := p.Table.Partition
	if p.Index != nil {
		hash = p.Index.Partition
	}
	s := &span{field: c.Field, args: c.Args}
	for _, a := range hash {
		t := p.Entity.Attribute(a.Name)
		if t == nil || t.Template == nil {
			continue
		}
		for _, part := range t.Template.Parts() {
			if unit := map[string]string{"year": "year", "month": "month", "date": "day"}[part.Type.Name]; unit != "" &&
				part.Name == c.Field {
				s.unit = unit
			}
		}
	}

	bound := func(suffix string, arg int, last bool) {
		b := spanBound{suffix, periodUnit(keys.Type{Name: "nanos"}, c.Args[arg]), last}
		s.bounds = append(s.bounds, b)
	}
	switch {
	case s.unit == "":
		return nil
	case c.Op == ast.OpBetween:
		bound("From", 0, false)
		bound("To", 1, true)
	case c.Op == ast.Equal:
		bound("", 0, false)
	default:
		return nil
	}
	return s
}

// moments returns the first and the last moment of the range, of the names of its bounds. Of writes the moment of a
// period.
func (s *span) moments(names map[string]string, of func(name, unit string, last bool) string) string {
	var all []string
	for _, b := range s.bounds {
		for _, last := range []bool{false, true} {
			switch {
			case b.suffix != "" && last != b.last:
			case b.unit == "":
				all = append(all, names[b.suffix])
			default:
				all = append(all, of(names[b.suffix], b.unit, last))
			}
		}
	}
	return strings.Join(all, ", ")
}

// boundName returns the name of a bound of a range over periods: that of the same parameter of the request, whose
// function is another, or else a new one.
func (r *reading) boundName(b spanBound, names map[*parameter]string, add func() string) string {
	p := map[string]*parameter{"": r.over.at, "From": r.over.from, "To": r.over.to}[b.suffix]
	if p == nil {
		return add()
	}
	return names[p]
}

// call returns the arguments of the function of the request in a loop over a range of times, given the names
// of the parameters and of the ends of the part of the range in a period.
func (r *reading) call(names map[*parameter]string, low, high string) (args []string) {
	for _, p := range r.parameters() {
		switch {
		case r.over != nil && (p == r.over.at || p == r.over.from):
			args = append(args, low)
		case r.over != nil && p == r.over.to:
			args = append(args, high)
		default:
			args = append(args, names[p])
		}
	}
	return args
}

// loops reports whether a parameter has listed values, or belongs to a range of times over periods.
func (r *reading) loops(p *parameter) bool {
	if r.over != nil && (p == r.over.at || p == r.over.from || p == r.over.to) {
		return true
	}
	return slices.ContainsFunc(r.each, func(l list) bool { return l.parameter == p })
}

// parameters returns the parameters in order.
func (r *reading) parameters() (all []*parameter) {
	for _, s := range r.steps {
		if p, ok := s.(*parameter); ok {
			all = append(all, p)
		}
	}
	return all
}

// param returns the parameter for a value of a field.
func (r *reading) param(field, typ, suffix string) *parameter {
	for _, p := range r.parameters() {
		if p.field == field && p.suffix == suffix {
			return p
		}
	}
	p := &parameter{field, suffix, typ}
	r.steps = append(r.steps, p)
	return p
}

// arguments returns the parameters for components.
func (r *reading) arguments(parts []keys.Part) (all []argument) {
	for _, part := range parts {
		all = append(all, argument{parameter: r.param(part.Name, fieldType(r.values, part.Name), "")})
	}
	return all
}

func (r *reading) compute(attribute string, t *model.Template, method string, args ...argument) *computation {
	c := &computation{attribute, t, method, args}
	r.steps = append(r.steps, c)
	return c
}

func (r *reading) given(field string) (model.Condition, bool) {
	for _, c := range r.p.Where {
		if c.Field == field {
			return c, true
		}
	}
	return model.Condition{}, false
}

// template returns the template of a key attribute and its components.
func (r *reading) template(a model.Attribute) (*model.Template, []keys.Part) {
	if r.p.Entity == nil {
		return nil, nil
	}
	t := r.p.Entity.Attribute(a.Name)
	if t == nil || t.Template == nil {
		return t, nil
	}
	return t, slices.DeleteFunc(t.Template.Parts(), func(p keys.Part) bool { return p.Name == "" })
}

// direct returns the condition on the attribute itself rather than on a field.
func (r *reading) direct(a model.Attribute) (model.Condition, bool) {
	if r.p.Entity != nil && r.p.Entity.Field(a.Name) != nil {
		return model.Condition{}, false
	}
	return r.given(a.Name)
}

// fixedValue returns the value of an attribute that the pattern fixes.
func (r *reading) fixedValue(a model.Attribute) (operand, error) {
	if _, ok := r.direct(a); ok {
		return operand{kind: a.Kind, parameter: r.param(a.Name, goText, "")}, nil
	}
	t, parts := r.template(a)
	switch {
	case t == nil:
		return operand{}, fmt.Errorf("no value for %s", a.Name)
	case t.Template == nil:
		return operand{kind: a.Kind, constant: &t.Const}, nil
	}
	return operand{kind: a.Kind, computation: r.compute(a.Name, t, "Format", r.arguments(parts)...)}, nil
}

func (r *reading) get() error {
	for _, a := range r.p.Table.Keys() {
		v, err := r.fixedValue(a)
		if err != nil {
			return err
		}
		r.key = append(r.key, keyMember{a.Name, v})
	}
	return nil
}

func (r *reading) query() error {
	hash, sort := r.p.Table.Partition, r.p.Table.Sort
	if r.p.Index != nil {
		hash, sort = r.p.Index.Partition, r.p.Index.Sort
	}
	for _, a := range hash {
		v, err := r.fixedValue(a)
		if err != nil {
			return err
		}
		r.condition(a, "=", v)
	}
	for _, a := range sort {
		if !r.sort(a) {
			break
		}
	}
	return nil
}

func (r *reading) condition(a model.Attribute, op string, operands ...operand) {
	r.conditions = append(r.conditions, keyCondition{attribute: a.Name, op: op, operands: operands})
}

// sort adds the condition on a sort key attribute, and reports whether the next attribute can have
// one, as in [compile.Pattern].
func (r *reading) sort(a model.Attribute) bool {
	if c, ok := r.direct(a); ok {
		r.condition(a, string(c.Op), r.operands(a, c, nil, goText)...)
		return c.Op == ast.Equal
	}
	t, parts := r.template(a)
	if t == nil {
		return false
	}
	if t.Template == nil {
		r.condition(a, "=", operand{kind: a.Kind, constant: &t.Const})
		return true
	}

	n := 0
	for n < len(parts) {
		if c, ok := r.given(parts[n].Name); !ok || c.Op != ast.Equal || ofPeriod(c, parts[n].Type) {
			break
		}
		n++
	}
	if n == len(parts) {
		r.condition(a, "=", operand{kind: t.Kind, computation: r.compute(a.Name, t, "Format", r.arguments(parts)...)})
		return true
	}
	c, ok := r.given(parts[n].Name)
	switch {
	case t.Kind == attr.Number && ok:
		op := string(c.Op)
		if c.Op == ast.Equal {
			op = string(ast.OpBetween) // of a period
		}
		operands := r.operands(a, c, t, fieldType(r.values, parts[n].Name))
		if parts[n].Type.Desc {
			op = map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<="}[op]
			slices.Reverse(operands)
		}
		r.condition(a, op, operands...)
	case t.Kind == attr.Number:
	case ok:
		r.inRange(a, t, r.rangeOf(a, t, parts, n, c))
	default:
		if prefix, err := t.Template.Prefix(); n > 0 || err == nil && prefix != "" {
			args := r.arguments(parts[:n])
			r.inRange(a, t, r.compute(a.Name, t, "Under", args...))
		}
	}
	return false
}

func (r *reading) inRange(a model.Attribute, t *model.Template, in *computation) {
	r.conditions = append(r.conditions, keyCondition{attribute: a.Name, in: in, kind: t.Kind})
}

// rangeOf returns the range of a condition on a component.
func (r *reading) rangeOf(
	a model.Attribute, t *model.Template, parts []keys.Part, n int, c model.Condition,
) *computation {
	outer := r.arguments(parts[:n])
	field := parts[n].Name
	typ := fieldType(r.values, field)
	bound := func(suffix string, arg int, last bool) argument {
		return r.bound(r.param(field, typ, suffix), parts[n].Type, c.Args[arg], last)
	}
	excluding := func(a argument) argument {
		a.excluding = true
		return a
	}

	between := func(low, high argument) *computation {
		return r.compute(a.Name, t, "Between", append([]argument{low, high}, outer...)...)
	}
	none := argument{}
	switch c.Op {
	case ast.OpBeginsWith:
		prefix := argument{parameter: r.param(field, goText, "Prefix")}
		return r.compute(a.Name, t, "BeginsWith", append([]argument{prefix}, outer...)...)
	case ast.OpBetween:
		low := bound("From", 0, false)
		return between(low, bound("To", 1, true))
	case ast.Equal:
		return between(bound("", 0, false), bound("", 0, true))
	case ast.Less:
		return between(none, excluding(bound("Below", 0, false)))
	case ast.LessOrEqual:
		return between(none, bound("To", 0, true))
	case ast.Greater:
		return between(excluding(bound("Above", 0, true)), none)
	}
	return between(bound("From", 0, false), none)
}

// bound returns a parameter as a bound. If the model gives the bound as a period, such as a day, it
// stands for the first or for the last moment of the period.
func (r *reading) bound(p *parameter, t keys.Type, arg string, last bool) argument {
	return argument{parameter: p, unit: periodUnit(t, arg), last: last}
}

// periodUnit returns the unit of the period that a text names, for a type of more precise times, or "".
func periodUnit(t keys.Type, text string) string {
	if _, _, ok := compile.Period(t, text); !ok {
		return ""
	}
	return map[int]string{4: "year", 7: "month", 10: "day", 13: "hour", 16: "minute"}[len(text)]
}

// ofPeriod reports whether a condition on a time has a period in place of a time.
func ofPeriod(c model.Condition, t keys.Type) bool {
	return slices.ContainsFunc(c.Args, func(arg string) bool { return periodUnit(t, arg) != "" }) &&
		c.Op != ast.OpBeginsWith
}

// operands returns the values of a condition on a whole attribute, formatted by its template, if any.
func (r *reading) operands(a model.Attribute, c model.Condition, t *model.Template, typ string) []operand {
	suffixes := map[ast.Op][]string{
		ast.OpBetween: {"From", "To"}, ast.OpBeginsWith: {"Prefix"}, ast.Less: {"Below"}, ast.LessOrEqual: {"To"},
		ast.Greater: {"Above"}, ast.GreaterOrEqual: {"From"}, ast.Equal: {""},
	}[c.Op]
	if t != nil && c.Op == ast.Equal {
		suffixes = []string{"", ""} // from the start of a period to its end
	}
	var all []operand
	for i, suffix := range suffixes {
		o := operand{kind: a.Kind, parameter: r.param(c.Field, typ, suffix)}
		if t != nil {
			last := i > 0 || c.Op == ast.LessOrEqual || c.Op == ast.Greater
			at := slices.IndexFunc(t.Template.Parts(), func(p keys.Part) bool { return p.Name == c.Field })
			bound := r.bound(o.parameter, t.Template.Parts()[at].Type, c.Args[min(i, len(c.Args)-1)], last)
			o = operand{kind: a.Kind, computation: r.compute(a.Name+suffix, t, "Format", bound)}
		}
		all = append(all, o)
	}
	return all
}

// likeKey matches the placeholders of key conditions.
var likeKey = regexp.MustCompile(`^[#:]key[0-9]`)

// members returns the members of the request without its table, index and key conditions, from
// a Scan with the same filter.
func (r *reading) members() (rest []member, err error) {
	p := *r.p
	p.Where, p.Operation, p.Descending = nil, "Scan", false
	scan, err := compile.Pattern(r.m, &p)
	if err != nil {
		return nil, err
	}
	in, err := wire.DecodeRequest(r.p.Operation, []byte("{}"))
	if err != nil {
		return nil, err
	}

	for _, m := range membersOf(scan) {
		if m.name == "TableName" || m.name == "IndexName" {
			continue
		}
		if !hasMember(in, m.name) {
			return nil, fmt.Errorf("%s has no %s", r.p.Operation, m.name)
		}
		names, _ := entries(m.value, func(name string, _ any) string { return name })
		if i := slices.IndexFunc(names, likeKey.MatchString); i >= 0 && r.p.Operation == "Query" {
			return nil, fmt.Errorf("the placeholder %s in its filter or projection is reserved", names[i])
		}
		rest = append(rest, m)
	}
	return rest, nil
}
