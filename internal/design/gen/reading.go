package gen

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keys"
)

// A reading describes a function that builds a pattern's request from values. The template of each language writes
// the function.
type reading struct {
	*model.Pattern
	// Name is the name of the generated function.
	Name string
	// Steps are the parameters and computations, in the order in which the generator chooses their names.
	Steps []step
	// Key has the key attributes of a GetItem, and Conditions the key conditions of a Query.
	Key        []keyMember
	Conditions []keyCondition
	// Each has the parameters for which the pattern lists values. The caller sends one request for each value.
	Each []list
	// Members are the members of the request, except its table, index and key conditions. If Fixed is true, the
	// request is the same for all values, and Members has all of its members.
	Members []member
	Fixed   bool

	values []*value // of the entity's keys
	tree   *tree
}

// Table and Index return the names of the constants for the table and the index that the request reads. Index returns
// "" for the table itself.
func (r *reading) Table() string { return r.tree.constant("table " + r.Pattern.Table.Name) }

func (r *reading) Index() string {
	if r.Pattern.Index == nil {
		return ""
	}
	return r.tree.constant("index " + r.Pattern.Table.Name + " " + r.Pattern.Index.Name)
}

// A list is a parameter for which the pattern lists values, such as the shards of a partition. The caller sends one
// request for each of Choices.
type list struct {
	*parameter
	Choices []string
}

// About returns the text of the generated function's doc comment.
func (r *reading) About() string {
	about := "the request for: " + strings.TrimSuffix(r.Pattern.Name, ".") + ". " + r.Pattern.About
	for _, l := range r.Each {
		about += fmt.Sprintf(" The pattern is one request for each %s: %s.", l.Field, strings.Join(l.Choices, ", "))
	}
	return about
}

// A step is either a *parameter or a *computation.
type step any

// A parameter is a parameter of the generated function.
type parameter struct {
	Field, Suffix string
	kind          kind
	Name, Type    string
	filter        bool // it belongs to the filter
}

// A computation is a call in the generated function, of the method Format, Under, Between or BeginsWith of a
// template. The function assigns the result to a variable.
type computation struct {
	attribute string // name of the key attribute, with a suffix; the name of the variable comes from it
	t         *model.Template
	Method    string
	Args      []argument
	// Name is the name of the variable. Template is the name of the template's constant.
	Name, Template string
}

// An argument is an argument of a computation. A nil Parameter means that the range has no bound at this end.
type argument struct {
	Parameter *parameter
	// Excluding is true if the range excludes the bound.
	Excluding bool
	// Unit is "" unless the parameter is a period. It is then the unit of the period, such as "day". The bound is the
	// last moment of the period if Last is true, and else the first.
	Unit string
	Last bool
}

// An operand is a parameter, the result of a computation, or a constant. Only one of these fields is set.
type operand struct {
	Kind        attr.Kind
	Parameter   *parameter
	Computation *computation
	Constant    *attr.Value
}

// Name returns the name of the parameter or of the computation's variable.
func (o operand) Name() string {
	if o.Computation != nil {
		return o.Computation.Name
	}
	return o.Parameter.Name
}

// Value returns the constant.
func (o operand) Value() attr.Value { return *o.Constant }

// A keyMember is a key attribute of a GetItem, with its value.
type keyMember struct {
	Attribute string // name of the attribute; newTree replaces it by the name of the attribute's constant
	Operand   operand
}

// A keyCondition is a condition on a key attribute. It has either an operator with operands, or the computation In,
// which returns the range of the attribute.
type keyCondition struct {
	Attribute string // name of the attribute; newTree replaces it by the name of the attribute's constant
	Op        string
	Operands  []operand
	In        *computation
	Kind      attr.Kind
}

// newReading returns the reading of a pattern. If the pattern gets no function, the error says why.
func newReading(p *model.Pattern) (*reading, error) {
	p, lists, err := withoutLists(p)
	if err != nil {
		return nil, err
	}

	in, err := compile.Pattern(p)
	if err != nil {
		return nil, err
	}
	if p.Expect.Error != "" {
		return nil, fmt.Errorf("it expects the error %s", p.Expect.Error)
	}

	r := &reading{Pattern: p}
	if p.Operation == "Scan" && p.Parameters.Len() == 0 {
		r.Members, r.Fixed = membersOf(in), true
		return r, nil
	}
	if p.Entity != nil {
		r.values = valuesOf(p.Entity)
	}
	switch p.Operation {
	case "GetItem":
		err = r.get()
	case "Query":
		err = r.query()
	}
	if err != nil {
		return nil, err
	}
	if r.Members, err = r.members(); err != nil {
		return nil, err
	}

	for _, l := range lists {
		i := slices.IndexFunc(r.Parameters(), func(p *parameter) bool { return p.Field == l.Field && p.Suffix == "" })
		if i < 0 {
			return nil, fmt.Errorf("it lists values of %s, which its request does not have", l.Field)
		}
		r.Each = append(r.Each, list{r.Parameters()[i], l.Choices})
	}
	return r, nil
}

// withoutLists returns a copy of a pattern in which the first value of each list replaces the list. It also returns
// the lists.
func withoutLists(p *model.Pattern) (one *model.Pattern, lists []list, err error) {
	if p.Operation != "Query" {
		return p, nil, nil
	}
	parts, err := compile.Split(p)
	if err != nil {
		return nil, nil, err
	}
	for i, c := range p.Where {
		var different []string
		for _, part := range parts {
			if args := strings.Join(part.Where[i].Args, " "); !slices.Contains(different, args) {
				different = append(different, args)
			}
		}
		switch {
		case c.Op == model.In:
			lists = append(lists, list{&parameter{Field: c.Field}, different})
		case len(different) > 1:
			return nil, nil, errors.New("it is a request for each period of a range of times: write a pattern for one")
		}
	}
	return parts[0], lists, nil
}

// Parameters returns the parameters of the function in order.
func (r *reading) Parameters() (all []*parameter) {
	for _, s := range r.Steps {
		if p, ok := s.(*parameter); ok {
			all = append(all, p)
		}
	}
	return all
}

// Computations returns the computations in order.
func (r *reading) Computations() (all []*computation) {
	for _, s := range r.Steps {
		if c, ok := s.(*computation); ok {
			all = append(all, c)
		}
	}
	return all
}

// param returns the parameter for a field and a suffix. If the reading has none, param adds it.
func (r *reading) param(field string, kind kind, suffix string) *parameter {
	for _, p := range r.Parameters() {
		if p.Field == field && p.Suffix == suffix {
			return p
		}
	}
	p := &parameter{Field: field, Suffix: suffix, kind: kind}
	r.Steps = append(r.Steps, p)
	return p
}

// kindOf returns the kind of the field's values in the entity's keys. For a field in no key, it returns textKind.
func (r *reading) kindOf(field string) kind {
	if v := valueOf(r.values, field); v != nil {
		return v.kind
	}
	return textKind
}

// arguments returns an argument for each component, with the parameter for its field.
func (r *reading) arguments(parts []keys.Part) (all []argument) {
	for _, part := range parts {
		all = append(all, argument{Parameter: r.param(part.Name, r.kindOf(part.Name), "")})
	}
	return all
}

func (r *reading) compute(attribute string, t *model.Template, method string, args ...argument) *computation {
	c := &computation{attribute: attribute, t: t, Method: method, Args: args}
	r.Steps = append(r.Steps, c)
	return c
}

func (r *reading) given(field string) (model.Condition, bool) {
	for _, c := range r.Where {
		if c.Field == field {
			return c, true
		}
	}
	return model.Condition{}, false
}

// template returns the template of a key attribute, and its components.
func (r *reading) template(a model.Attribute) (*model.Template, []keys.Part) {
	if r.Entity == nil {
		return nil, nil
	}
	t := r.Entity.Attribute(a.Name)
	if t == nil || t.Template == nil {
		return t, nil
	}
	return t, slices.DeleteFunc(t.Template.Parts(), func(p keys.Part) bool { return p.Name == "" })
}

// direct returns the pattern's condition on the attribute itself, as opposed to its fields. It returns false if the
// entity has a field of the attribute's name, because the condition is then on the field.
func (r *reading) direct(a model.Attribute) (model.Condition, bool) {
	if r.Entity != nil && r.Entity.Field(a.Name) != nil {
		return model.Condition{}, false
	}
	return r.given(a.Name)
}

// fixedValue returns the operand that the request compares with a key attribute by =.
func (r *reading) fixedValue(a model.Attribute) (operand, error) {
	if _, ok := r.direct(a); ok {
		return operand{Kind: a.Kind, Parameter: r.param(a.Name, textKind, "")}, nil
	}
	t, parts := r.template(a)
	switch {
	case t == nil:
		return operand{}, fmt.Errorf("no value for %s", a.Name)
	case t.Template == nil:
		return operand{Kind: a.Kind, Constant: &t.Const}, nil
	}
	return operand{Kind: a.Kind, Computation: r.compute(a.Name, t, "Format", r.arguments(parts)...)}, nil
}

func (r *reading) get() error {
	for _, a := range r.Pattern.Table.Keys() {
		v, err := r.fixedValue(a)
		if err != nil {
			return err
		}
		r.Key = append(r.Key, keyMember{a.Name, v})
	}
	return nil
}

func (r *reading) query() error {
	hash, sort := r.Pattern.Keys()
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
	r.Conditions = append(r.Conditions, keyCondition{Attribute: a.Name, Op: op, Operands: operands})
}

// sort adds the condition on a sort key attribute. It returns true if the next attribute may have a condition too, by
// the rules of [compile.Pattern].
func (r *reading) sort(a model.Attribute) bool {
	if c, ok := r.direct(a); ok {
		r.condition(a, string(c.Op), r.operands(a, c, nil, textKind)...)
		return c.Op == ast.Equal
	}
	t, parts := r.template(a)
	if t == nil {
		return false
	}
	if t.Template == nil {
		r.condition(a, "=", operand{Kind: a.Kind, Constant: &t.Const})
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
		r.condition(a, "=", operand{Kind: t.Kind, Computation: r.compute(a.Name, t, "Format", r.arguments(parts)...)})
		return true
	}
	c, ok := r.given(parts[n].Name)
	switch {
	case t.Kind == attr.Number && ok:
		op := string(c.Op)
		if c.Op == ast.Equal {
			op = string(ast.OpBetween) // the value of c is a period
		}
		operands := r.operands(a, c, t, r.kindOf(parts[n].Name))
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
	r.Conditions = append(r.Conditions, keyCondition{Attribute: a.Name, In: in, Kind: t.Kind})
}

// An end describes one end of the range that a condition selects, and the parameter for it.
type end struct {
	suffix    string
	upper     bool // it is the upper end
	excluding bool // the range excludes the bound
	last      bool // if the bound is a period, use its last moment
}

// ends lists, for each operator, the ends of the range that it selects. The operator = has two ends, because its
// value can be a period.
var ends = map[ast.Op][]end{
	ast.Equal:          {{}, {upper: true, last: true}},
	ast.OpBetween:      {{suffix: "From"}, {suffix: "To", upper: true, last: true}},
	ast.OpBeginsWith:   {{suffix: "Prefix"}},
	ast.Less:           {{suffix: "Below", upper: true, excluding: true}},
	ast.LessOrEqual:    {{suffix: "To", upper: true, last: true}},
	ast.Greater:        {{suffix: "Above", excluding: true, last: true}},
	ast.GreaterOrEqual: {{suffix: "From"}},
}

// rangeOf adds a computation that returns the range of condition c on component n of a template.
func (r *reading) rangeOf(
	a model.Attribute, t *model.Template, parts []keys.Part, n int, c model.Condition,
) *computation {
	outer := r.arguments(parts[:n])
	field := parts[n].Name
	if c.Op == ast.OpBeginsWith {
		prefix := argument{Parameter: r.param(field, textKind, ends[c.Op][0].suffix)}
		return r.compute(a.Name, t, "BeginsWith", append([]argument{prefix}, outer...)...)
	}
	var low, high argument
	for i, e := range ends[c.Op] {
		arg := bound(r.param(field, r.kindOf(field), e.suffix), parts[n].Type, c, i, e)
		if e.upper {
			high = arg
		} else {
			low = arg
		}
	}
	return r.compute(a.Name, t, "Between", append([]argument{low, high}, outer...)...)
}

// bound returns the argument for the i-th end of a condition. If the model writes the bound as a period, such as a
// day, the argument is the first or the last moment of the period.
func bound(p *parameter, t keys.Type, c model.Condition, i int, e end) argument {
	return argument{
		Parameter: p, Excluding: e.excluding, Unit: periodUnit(t, c.Args[min(i, len(c.Args)-1)]), Last: e.last,
	}
}

// periodUnit returns the unit of a period. For 2026-01, it is "month". It returns "" unless text is a period that is
// longer than a value of type t.
func periodUnit(t keys.Type, text string) string {
	if _, _, ok := compile.Period(t, text); !ok {
		return ""
	}
	return map[int]string{4: "year", 7: "month", 10: "day", 13: "hour", 16: "minute"}[len(text)]
}

// ofPeriod reports whether a bound of a condition on a time is a period, such as a day.
func ofPeriod(c model.Condition, t keys.Type) bool {
	return slices.ContainsFunc(c.Args, func(arg string) bool { return periodUnit(t, arg) != "" }) &&
		c.Op != ast.OpBeginsWith
}

// operands returns the operands of a condition on a whole attribute. If t is not nil, generated code formats each
// operand with the template.
func (r *reading) operands(a model.Attribute, c model.Condition, t *model.Template, kind kind) []operand {
	of := ends[c.Op]
	if t == nil && c.Op == ast.Equal {
		of = of[:1]
	}
	var all []operand
	for i, e := range of {
		o := operand{Kind: a.Kind, Parameter: r.param(c.Field, kind, e.suffix)}
		if t != nil {
			at := slices.IndexFunc(t.Template.Parts(), func(p keys.Part) bool { return p.Name == c.Field })
			arg := bound(o.Parameter, t.Template.Parts()[at].Type, c, i, e)
			arg.Excluding = false // the request keeps the operator, which excludes the bound already
			o = operand{Kind: a.Kind, Computation: r.compute(a.Name+e.suffix, t, "Format", arg)}
		}
		all = append(all, o)
	}
	return all
}

// filterParameters adds a parameter for each placeholder in the filter. It returns the operand for each placeholder.
func (r *reading) filterParameters() map[string]operand {
	all := map[string]operand{}
	for name, v := range r.Pattern.Parameters.All() {
		p := &parameter{Field: string(name), filter: true}
		if _, ok := r.given(p.Field); ok {
			p.Suffix = "Filter"
		}
		r.Steps = append(r.Steps, p)
		all[":"+p.Field] = operand{Kind: v.Kind(), Parameter: p}
	}
	return all
}

// likeKey matches placeholders that look like those of key conditions, such as :key0.
var likeKey = regexp.MustCompile(`^[#:]key[0-9]`)

// members returns the members of the request, except its table, index and key conditions. To get them, it compiles
// the pattern as a Scan with the same filter.
func (r *reading) members() (rest []member, err error) {
	p := *r.Pattern
	p.Where, p.Operation, p.Descending = nil, "Scan", false
	scan, err := compile.Pattern(&p)
	if err != nil {
		return nil, err
	}
	in, err := wire.DecodeRequest(r.Operation, []byte("{}"))
	if err != nil {
		return nil, err
	}

	for _, m := range membersOf(scan) {
		if m.Name == "TableName" || m.Name == "IndexName" {
			continue
		}
		if !hasMember(in, m.Name) {
			return nil, fmt.Errorf("%s has no %s", r.Operation, m.Name)
		}
		names, _ := entries(m.value, func(name string, _ any) string { return name })
		if i := slices.IndexFunc(names, likeKey.MatchString); i >= 0 && r.Operation == "Query" {
			return nil, fmt.Errorf("the placeholder %s in its filter or projection is reserved", names[i])
		}
		if values, ok := m.value.(attr.Item); ok && r.Pattern.Parameters.Len() > 0 {
			m.value = placedValues{values, r.filterParameters()}
		}
		rest = append(rest, m)
	}
	if r.Operation == "Query" && r.Descending {
		rest = append(rest, member{"ScanIndexForward", false})
	}
	return rest, nil
}
