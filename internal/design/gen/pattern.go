package gen

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/wire"
)

// pattern generates the function of an access pattern, if it has one.
func (f *file) pattern(p *model.Pattern) {
	if p.IsWrite() {
		if w, err := newWriting(p); err == nil {
			f.writes(w)
		}
		return
	}
	r, err := newReading(f.m, p)
	if err != nil {
		return
	}
	if r.fixed != nil {
		f.fixed(p, r.fixed)
		return
	}
	w := &patternWriter{
		file: f, reading: r, scope: newScope(f.names), params: map[*parameter]string{},
		computed: map[*computation]string{},
	}
	w.write()
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
func (f *file) fixed(p *model.Pattern, in wire.Request) {
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
		"func %s(ctx context.Context, client dynamodb.%sAPIClient%s) "+
			"iter.Seq2[map[string]types.AttributeValue, error] {\n",
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
	*reading
	scope *scope
	// list has the names of the parameters, types their types, and code the statements that use them.
	list, types []string
	params      map[*parameter]string
	computed    map[*computation]string
	code        bytes.Buffer
}

// write generates the function of the request, and that of the items.
func (w *patternWriter) write() {
	for _, s := range w.steps {
		switch s := s.(type) {
		case *parameter:
			w.useType(s.typ)
			w.params[s] = w.scope.add(unexported(s.field, "field")+s.suffix, "Value")
			w.list, w.types = append(w.list, w.params[s]), append(w.types, s.typ)
		case *computation:
			w.compute(s)
		}
	}
	op := w.p.Operation
	var entries, conditions []string
	for _, k := range w.key {
		entries = append(entries, fmt.Sprintf("\t\t\t%s: %s,\n", w.attribute(k.attribute), w.value(k.operand)))
	}
	for _, c := range w.conditions {
		conditions = append(conditions, w.condition(c))
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
	if op == "GetItem" {
		w.printf("\t\tKey: map[string]types.AttributeValue{\n%s\t\t},\n", strings.Join(entries, ""))
	}
	w.file.members(w.rest)
	if op == "Query" && w.p.Descending {
		w.printf("\t\tScanIndexForward: aws.Bool(false),\n")
	}
	if op == "Query" {
		w.printf("\t}\n\taddConditions(in, %s)\n\treturn in, nil\n}\n", strings.Join(conditions, ", "))
		if len(w.each) > 0 || w.over != nil {
			w.itemsOfEach(name)
		} else {
			w.itemsOf(op, name, w.list, w.types, true)
		}
	} else {
		w.printf("\t}, nil\n}\n")
	}
}

// compute adds a statement that assigns the result of a computation to a new variable, or returns its
// error.
func (w *patternWriter) compute(c *computation) {
	var args []string
	for _, a := range c.args {
		args = append(args, w.argument(a))
	}
	name := w.scope.add(unexported(c.attribute, "attribute"), "Key")
	w.computed[c] = name
	fmt.Fprintf(
		&w.code, "\t%s, err := %s.%s(%s)\n\tif err != nil {\n\t\treturn nil, err\n\t}\n", name, w.templates[c.t],
		c.method, strings.Join(args, ", "),
	)
}

func (w *patternWriter) argument(a argument) string {
	if a.parameter == nil {
		return "nil"
	}
	text := w.params[a.parameter]
	if a.unit != "" {
		text = w.moment(text, a)
	}
	if a.excluding {
		w.use("keys")
		text = "keys.Excluding(" + text + ")"
	}
	return text
}

// moment returns the first or the last moment of the period of a parameter.
func (w *patternWriter) moment(name string, a argument) string {
	helper := "startOf"
	if a.last {
		helper = "endOf"
	}
	helper += strings.ToUpper(a.unit[:1]) + a.unit[1:]
	if a.typ == goText {
		if !a.last && a.unit == "day" {
			return name // the text of a day is its first moment
		}
		helper += "Text"
	}
	w.use(helper)
	return helper + "(" + name + ")"
}

// value returns the AttributeValue of an operand.
func (w *patternWriter) value(o operand) string {
	switch {
	case o.constant != nil:
		return w.constValue(*o.constant)
	case o.computation != nil:
		return w.member(o.kind, w.computed[o.computation])
	}
	return w.member(o.kind, w.params[o.parameter])
}

func (w *patternWriter) condition(c keyCondition) string {
	w.use("addConditions")
	if c.in != nil {
		w.use("inRange", "attribute"+c.kind.String())
		return fmt.Sprintf("inRange(%s, %s, attribute%s)", w.attribute(c.attribute), w.computed[c.in], c.kind)
	}
	var operands []string
	for _, o := range c.operands {
		operands = append(operands, w.value(o))
	}
	return fmt.Sprintf(
		"keyCondition{%s, %q, []types.AttributeValue{%s}}", w.attribute(c.attribute), c.op,
		strings.Join(operands, ", "),
	)
}

// itemsOfEach generates the function that returns the items of a pattern that is a request for each of
// some values.
func (w *patternWriter) itemsOfEach(call string) {
	w.use("context", "iter", "types", "QueryItems")
	name := w.names.add(call+"Items", "OfAllPages")
	var fields, names, types []string
	for _, l := range w.each {
		fields = append(fields, l.field)
	}
	if w.over != nil {
		fields = append(fields, w.over.unit)
	}

	for i, p := range w.parameters() {
		if !w.loops(p) {
			names, types = append(names, w.list[i]), append(types, w.types[i])
		}
	}

	given := map[string]string{} // the bounds of a range over periods, by suffix
	if w.over != nil {
		for _, b := range w.over.bounds {
			given[b.suffix] = w.boundName(b, w.params, func() string {
				return w.scope.add(unexported(w.over.field, "field")+b.suffix, "Value")
			})
			names, types = append(names, given[b.suffix]), append(types, goTime)
		}
	}

	w.doc("%s returns the items of [%s] for each %s, page by page.", name, call, strings.Join(fields, " and "))
	list := parameters(names, types)
	if list != "" {
		list = ", " + list
	}

	w.printf(
		"func %s(ctx context.Context, client dynamodb.QueryAPIClient%s) "+
			"iter.Seq2[map[string]types.AttributeValue, error] {\n",
		name, list,
	)

	w.printf("\treturn func(yield func(map[string]types.AttributeValue, error) bool) {\n")
	for _, l := range w.each {
		values := goStrings(l.values)
		if l.typ == goNumber {
			values = l.values
		}
		w.printf("\t\tfor _, %s := range %s {\n", w.params[l.parameter], goList(l.typ, values))
	}

	loops, low, high := len(w.each), "", ""
	if w.over != nil {
		period := w.scope.add(w.over.unit, "Part")
		bounds := w.over.moments(given, func(name, unit string, last bool) string {
			return w.moment(name, argument{parameter: &parameter{typ: goTime}, unit: unit, last: last})
		})
		all := fmt.Sprintf("each%s(%s)", exported(w.over.unit, ""), bounds)
		w.use("each" + exported(w.over.unit, ""))
		if w.p.Descending {
			w.use("slices")
			all = "slices.Backward(" + all + ")"
		}
		w.printf("\t\tfor _, %s := range %s {\n", period, all)
		loops, low, high = loops+1, period+"[0]", period+"[1]"
	}

	w.printf("\t\t\tin, err := %s(%s)\n", call, strings.Join(w.call(w.params, low, high), ", "))
	w.printf("\t\t\tfor item, err := range queryItems(ctx, client, in, err) {\n")
	w.printf("\t\t\t\tif !yield(item, err) || err != nil {\n\t\t\t\t\treturn\n\t\t\t\t}\n\t\t\t}\n")
	w.printf("\t\t%s\n\t}\n}\n", strings.Repeat("}", loops))
}
