package gen

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/ast"
	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keys"
)

// pattern generates the function of an access pattern, or returns why it has no
// request.
func (f *file) pattern(p *model.Pattern) error {
	in, err := requestOf(f.m, p)
	if err != nil {
		return err
	}
	if p.Expect.Error != "" {
		return fmt.Errorf("it expects the error %s", p.Expect.Error)
	}
	if p.Request != nil || p.Operation == "Scan" {
		return f.fixed(p, in)
	}
	w := &patternWriter{file: f, p: p, scope: newScope(f.names), params: map[string]string{}}
	w.index()
	if p.Operation == "GetItem" {
		return w.get()
	}
	return w.query()
}

func (f *file) patternDoc(name string, p *model.Pattern, more string) {
	about := ""
	if p.About != "" {
		about = " " + p.About
	}
	f.doc("%s returns the request for: %s.%s%s", name, strings.TrimSuffix(p.Name, "."), about, more)
}

func (f *file) patternName(p *model.Pattern) string {
	return f.names.add(exported(p.Name, "Pattern"), "Pattern")
}

// fixed generates the function of a request without parameters.
func (f *file) fixed(p *model.Pattern, in wire.Request) error {
	name, op := f.patternName(p), p.Operation
	more := ""
	if p.Request != nil {
		more = " The request is the raw request of the design."
	}
	f.patternDoc(name, p, more)
	f.use("dynamodb")
	f.printf("func %s() *dynamodb.%sInput {\n\treturn &dynamodb.%sInput{\n", name, op, op)
	f.members(membersOf(in))
	f.printf("\t}\n}\n")
	if op != "GetItem" {
		f.itemsOf(op, name, nil, nil, false)
	}
	return nil
}

// itemsOf generates the function that returns the items of a pattern from all
// pages. Call is the function of its request.
func (f *file) itemsOf(op, call string, names, types []string, fails bool) {
	f.use("context", "iter", "types", op+"Items")
	name := f.names.add(call+"Items", "OfAllPages")
	f.doc("%s returns the items of [%s], page by page.", name, call)
	in, given := "in, err := ", ", err"
	if !fails {
		in, given = "in := ", ", nil"
	}
	list := parameters(names, types)
	if list != "" {
		list = ", " + list
	}
	f.printf(
		"func %s(ctx context.Context, client dynamodb.%sAPIClient%s) iter.Seq2[map[string]types.AttributeValue, error] {\n",
		name, op, list,
	)
	f.printf(
		"\t%s%s(%s)\n\treturn %sItems(ctx, client, in%s)\n}\n", in, call, strings.Join(names, ", "),
		strings.ToLower(op), given,
	)
}

// members generates the members of a request as fields of an input struct.
func (f *file) members(all []member) {
	for _, m := range all {
		switch m.value.(type) {
		case string, bool, int64:
			f.use("aws")
		case enum, attr.Item, map[string]wire.Condition:
			f.use("types")
		}
		f.printf("\t\t%s: %s,\n", m.name, goMember(m, "\t\t"))
	}
}

// A patternWriter generates the function of a pattern with conditions on
// fields.
type patternWriter struct {
	*file
	p      *model.Pattern
	values []value
	scope  *scope
	// list has the parameters, types their types, params their names by field,
	// and code the statements that use them.
	list, types []string
	params      map[string]string
	code        bytes.Buffer
	// conditions are key conditions, and entries the members of a key.
	conditions, entries []string
}

func (w *patternWriter) index() {
	if w.p.Entity != nil {
		_, w.values = entityKeys(w.p.Entity)
	}
}

// param returns the parameter for a value of a field.
func (w *patternWriter) param(field, typ, suffix string) string {
	id := field + " " + suffix
	if name, ok := w.params[id]; ok {
		return name
	}
	w.useType(typ)
	name := w.scope.add(unexported(field, "field")+suffix, "Value")
	w.params[id] = name
	w.list, w.types = append(w.list, name), append(w.types, typ)
	return name
}

// args returns the parameters for components as arguments.
func (w *patternWriter) args(parts []keys.Part) string {
	var all []string
	for _, part := range parts {
		all = append(all, w.param(part.Name, fieldType(w.values, part.Name), ""))
	}
	return strings.Join(all, ", ")
}

// compute adds a statement that assigns an expression to a new variable, or
// returns its error.
func (w *patternWriter) compute(attribute, expression string) string {
	name := w.scope.add(unexported(attribute, "attribute"), "Key")
	fmt.Fprintf(&w.code, "\t%s, err := %s\n\tif err != nil {\n\t\treturn nil, err\n\t}\n", name, expression)
	return name
}

func (w *patternWriter) given(field string) (model.Condition, bool) {
	for _, c := range w.p.Where {
		if c.Field == field {
			return c, true
		}
	}
	return model.Condition{}, false
}

// template returns the template of a key attribute and its components.
func (w *patternWriter) template(a model.Attribute) (*model.Template, []keys.Part) {
	if w.p.Entity == nil {
		return nil, nil
	}
	t := w.p.Entity.Attribute(a.Name)
	if t == nil || t.Template == nil {
		return t, nil
	}
	return t, slices.DeleteFunc(t.Template.Parts(), func(p keys.Part) bool { return p.Name == "" })
}

// direct returns the condition on the attribute itself rather than on a field.
func (w *patternWriter) direct(a model.Attribute) (model.Condition, bool) {
	if w.p.Entity != nil && w.p.Entity.Field(a.Name) != nil {
		return model.Condition{}, false
	}
	return w.given(a.Name)
}

// fixedValue returns the Go expression of the value of a fixed attribute.
func (w *patternWriter) fixedValue(a model.Attribute) (string, error) {
	if _, ok := w.direct(a); ok {
		return w.member(a.Kind, w.param(a.Name, goText, "")), nil
	}
	t, parts := w.template(a)
	switch {
	case t == nil:
		return "", fmt.Errorf("no value for %s", a.Name)
	case t.Template == nil:
		return w.constValue(t.Const), nil
	}
	return w.member(a.Kind, w.compute(a.Name, w.templates[t]+".Format("+w.args(parts)+")")), nil
}

// get generates the function of a GetItem.
func (w *patternWriter) get() error {
	for _, a := range w.p.Table.Keys() {
		v, err := w.fixedValue(a)
		if err != nil {
			return err
		}
		w.entries = append(w.entries, fmt.Sprintf("\t\t\t%s: %s,\n", w.attribute(a.Name), v))
	}
	return w.finish("GetItem", func() {
		w.printf("\t\tKey: map[string]types.AttributeValue{\n%s\t\t},\n", strings.Join(w.entries, ""))
	})
}

// query generates the function of a Query.
func (w *patternWriter) query() error {
	hash, sort := w.p.Table.Partition, w.p.Table.Sort
	if w.p.Index != nil {
		hash, sort = w.p.Index.Partition, w.p.Index.Sort
	}
	for _, a := range hash {
		v, err := w.fixedValue(a)
		if err != nil {
			return err
		}
		w.condition(a, "=", v)
	}
	for _, a := range sort {
		if !w.sort(a) {
			break
		}
	}
	return w.finish("Query", func() {})
}

func (w *patternWriter) condition(a model.Attribute, op string, operands ...string) {
	w.use("addConditions")
	w.conditions = append(
		w.conditions,
		fmt.Sprintf("keyCondition{%s, %q, []types.AttributeValue{%s}}", w.attribute(a.Name), op, strings.Join(operands, ", ")),
	)
}

// sort generates the condition on a sort key attribute, and reports whether the
// next attribute can have one, as in [compile.Pattern].
func (w *patternWriter) sort(a model.Attribute) bool {
	if c, ok := w.direct(a); ok {
		w.condition(a, string(c.Op), w.operands(a, c, nil, goText)...)
		return c.Op == ast.Equal
	}
	t, parts := w.template(a)
	if t == nil {
		return false
	}
	if t.Template == nil {
		w.condition(a, "=", w.constValue(t.Const))
		return true
	}
	n := 0
	for n < len(parts) {
		if c, ok := w.given(parts[n].Name); !ok || c.Op != ast.Equal || ofDay(c, parts[n].Type) {
			break
		}
		n++
	}
	if n == len(parts) {
		w.condition(a, "=", w.member(t.Kind, w.compute(a.Name, w.templates[t]+".Format("+w.args(parts)+")")))
		return true
	}
	c, ok := w.given(parts[n].Name)
	switch {
	case t.Kind == attr.Number && ok:
		op := string(c.Op)
		if c.Op == ast.Equal {
			op = string(ast.OpBetween) // of a day
		}
		operands := w.operands(a, c, t, fieldType(w.values, parts[n].Name))
		if parts[n].Type.Desc {
			op = map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<="}[op]
			slices.Reverse(operands)
		}
		w.condition(a, op, operands...)
	case t.Kind == attr.Number:
	case ok:
		w.inRange(a, t, w.rangeOf(t, parts, n, c))
	default:
		if prefix, err := t.Template.Prefix(); n > 0 || err == nil && prefix != "" {
			w.inRange(a, t, "Under("+w.args(parts[:n])+")")
		}
	}
	return false
}

func (w *patternWriter) inRange(a model.Attribute, t *model.Template, call string) {
	w.use("addConditions", "inRange", "attribute"+t.Kind.String())
	name := w.compute(a.Name, w.templates[t]+"."+call)
	w.conditions = append(w.conditions, fmt.Sprintf("inRange(%s, %s, attribute%s)", w.attribute(a.Name), name, t.Kind))
}

// rangeOf returns the call for the range of a condition on a component.
func (w *patternWriter) rangeOf(t *model.Template, parts []keys.Part, n int, c model.Condition) string {
	outer := w.args(parts[:n])
	if outer != "" {
		outer = ", " + outer
	}
	field := parts[n].Name
	typ := fieldType(w.values, field)
	low := func(suffix string, arg int) string {
		return w.moment(w.param(field, typ, suffix), typ, parts[n].Type, c.Args[arg], false)
	}
	high := func(suffix string, arg int) string {
		return w.moment(w.param(field, typ, suffix), typ, parts[n].Type, c.Args[arg], true)
	}
	switch c.Op {
	case ast.OpBeginsWith:
		return "BeginsWith(" + w.param(field, goText, "Prefix") + outer + ")"
	case ast.OpBetween:
		return "Between(" + low("From", 0) + ", " + high("To", 1) + outer + ")"
	case ast.Equal:
		return "Between(" + low("", 0) + ", " + high("", 0) + outer + ")"
	case ast.Less:
		return "Between(nil, keys.Excluding(" + low("Below", 0) + ")" + outer + ")"
	case ast.LessOrEqual:
		return "Between(nil, " + high("To", 0) + outer + ")"
	case ast.Greater:
		return "Between(keys.Excluding(" + high("Above", 0) + "), nil" + outer + ")"
	}
	return "Between(" + low("From", 0) + ", nil" + outer + ")"
}

// moment returns a parameter as a bound. If the model gives the bound as a day,
// it stands for the first or for the last moment of the day.
func (w *patternWriter) moment(name, typ string, t keys.Type, arg string, last bool) string {
	if !compile.IsDay(t, arg) {
		return name
	}
	helper := "startOfDay"
	if last {
		helper = "endOfDay"
	}
	if typ == goText {
		if !last {
			return name // the text of a day is its first moment
		}
		helper += "Text"
	}
	w.use(helper)
	return helper + "(" + name + ")"
}

// ofDay reports whether a condition on a time has a day in place of a time.
func ofDay(c model.Condition, t keys.Type) bool {
	return slices.ContainsFunc(c.Args, func(arg string) bool { return compile.IsDay(t, arg) }) &&
		c.Op != ast.OpBeginsWith
}

// operands returns the values of a condition on a whole attribute, formatted by
// its template, if any.
func (w *patternWriter) operands(a model.Attribute, c model.Condition, t *model.Template, typ string) []string {
	suffixes := map[ast.Op][]string{
		ast.OpBetween: {"From", "To"}, ast.OpBeginsWith: {"Prefix"}, ast.Less: {"Below"}, ast.LessOrEqual: {"To"},
		ast.Greater: {"Above"}, ast.GreaterOrEqual: {"From"}, ast.Equal: {""},
	}[c.Op]
	if t != nil && c.Op == ast.Equal {
		suffixes = []string{"", ""} // from the start of a day to its end
	}
	var all []string
	for i, suffix := range suffixes {
		text := w.param(c.Field, typ, suffix)
		if t != nil {
			last := i > 0 || c.Op == ast.LessOrEqual || c.Op == ast.Greater
			at := slices.IndexFunc(t.Template.Parts(), func(p keys.Part) bool { return p.Name == c.Field })
			text = w.moment(text, typ, t.Template.Parts()[at].Type, c.Args[min(i, len(c.Args)-1)], last)
			text = w.compute(a.Name+suffix, w.templates[t]+".Format("+text+")")
		}
		all = append(all, w.member(a.Kind, text))
	}
	return all
}

// finish generates the function around the collected code.
func (w *patternWriter) finish(op string, more func()) error {
	rest, err := w.rest(op)
	if err != nil {
		return err
	}
	name := w.patternName(w.p)
	w.patternDoc(name, w.p, "")
	w.use("dynamodb", "aws", "types")
	w.printf("func %s(%s) (*dynamodb.%sInput, error) {\n%s", name, parameters(w.list, w.types), op, w.code.String())
	if op == "Query" {
		w.printf("\tin := &dynamodb.%sInput{\n", op)
	} else {
		w.printf("\treturn &dynamodb.%sInput{\n", op)
	}
	w.printf("\t\tTableName: aws.String(%s),\n", w.constants["table "+w.p.Table.Name])
	if w.p.Index != nil {
		w.printf("\t\tIndexName: aws.String(%s),\n", w.constants["index "+w.p.Table.Name+" "+w.p.Index.Name])
	}
	more()
	w.members(rest)
	if op == "Query" && w.p.Descending {
		w.printf("\t\tScanIndexForward: aws.Bool(false),\n")
	}
	if op == "Query" {
		w.printf("\t}\n\taddConditions(in, %s)\n\treturn in, nil\n}\n", strings.Join(w.conditions, ", "))
		w.itemsOf(op, name, w.list, w.types, true)
	} else {
		w.printf("\t}, nil\n}\n")
	}
	return nil
}

// likeKey matches the placeholders of addConditions.
var likeKey = regexp.MustCompile(`^[#:]key[0-9]`)

// rest returns the members of the request without its table, index and key conditions, from
// a Scan with the same filter.
func (w *patternWriter) rest(op string) ([]member, error) {
	p := *w.p
	p.Where, p.Operation, p.Descending = nil, "Scan", false
	scan, err := compile.Pattern(w.m, &p)
	if err != nil {
		return nil, err
	}
	in, err := wire.DecodeRequest(op, []byte("{}"))
	if err != nil {
		return nil, err
	}

	var rest []member
	for _, m := range membersOf(scan) {
		if m.name == "TableName" || m.name == "IndexName" {
			continue
		}
		if !hasMember(in, m.name) {
			return nil, fmt.Errorf("%s has no %s", op, m.name)
		}
		names, _ := entries(m.value, func(name string, _ any) string { return name })
		if i := slices.IndexFunc(names, likeKey.MatchString); i >= 0 && op == "Query" {
			return nil, fmt.Errorf("the placeholder %s in its filter or projection is reserved", names[i])
		}
		rest = append(rest, m)
	}
	return rest, nil
}
