package explain

import (
	"fmt"
	"strings"

	"github.com/sortkey/sortkey/internal/text"

	"github.com/sortkey/sortkey/attr"
)

// refuse tells which rule a refused request breaks and what would work. Every
// request it gives has been tried, with a Limit of 1.
func (e *explainer) refuse(s *ServiceError) error {
	r := e.report
	r.Refused = &Refusal{Code: s.Code, Message: s.Message}
	info, err := describe(e.ctx, e.target, r.Table)
	if _, ok := refusalOf(err); ok {
		return e.refuseTable()
	}
	if err != nil {
		return err
	}
	e.info, r.Table, r.Schema = info, info.name, info.schema(r.Index)
	if e.index = info.index(r.Index); e.index != nil {
		r.Projection = e.index.projection
	}
	if r.Operation == opGetItem {
		return e.refuseGet()
	}
	fixed := e.m
	var first *rule
	for _, repair := range repairs {
		var broken *rule
		broken, fixed = repair(e, fixed)
		first = first.and(broken)
	}
	e.m = fixed
	q, err := fixed.question()
	e.q = q
	if err != nil {
		if first == nil {
			first = ruleOf(plainRule, pageSyntax, "an expression cannot be read: %v", err)
		}
		e.broke(first)
		return nil
	}
	schema := info.schema(fixed.text("IndexName"))
	var broken *rule
	if r.Operation == opQuery {
		broken = e.broken(schema)
	}
	first = first.and(broken)
	if first == nil && fixed.has("ExclusiveStartKey") {
		first = ruleOf(plainRule, pagePaging, "an ExclusiveStartKey is the LastEvaluatedKey of the page before, and this one does not lie in what is asked for")
		e.m = fixed.without("ExclusiveStartKey")
	}
	e.broke(first)
	if first == nil {
		return nil // nothing that is known here
	}
	if broken != nil {
		return e.otherWays(broken, schema)
	}
	advice := mended
	if first.fix != "" {
		advice = first.fix
	}
	e.offer(advice, r.Operation, e.m)
	return nil
}

func (e *explainer) broke(r *rule) {
	if r != nil {
		e.report.Refused.Rule, e.report.Refused.Source = r.text, r.source
	}
}

// offer adds a request to the advice, if the endpoint takes it and it is not
// there yet. It reports whether it was added.
func (e *explainer) offer(words, op string, m members) bool {
	list := &e.report.Advice
	if e.report.Refused != nil {
		list = &e.report.Refused.Advice
	}
	request := m.encode()
	for _, a := range *list {
		if a.Operation == op && string(a.Request) == string(request) {
			return false
		}
	}
	trial := m.without()
	if op != opGetItem && op != opBatchGet {
		trial.set("Limit", 1)
	}
	if _, err := ask(e, op, trial); err != nil {
		return false
	}
	*list = append(*list, Advice{Text: words, Operation: op, Request: request})
	return true
}

// tell adds advice that is no request.
func (e *explainer) tell(format string, args ...any) {
	r := e.report.Refused
	r.Advice = append(r.Advice, Advice{Text: fmt.Sprintf(format, args...)})
}

// mended is the advice to send a request without its fault.
const mended = "send the request mended, like this"

const opBatchGet = "BatchGetItem"

// refuseTable is about a table that is not there.
func (e *explainer) refuseTable() error {
	name := e.m.text("TableName")
	if name == "" {
		e.broke(ruleOf(plainRule, pageQuery, "a request names its table in TableName"))
	} else {
		e.broke(ruleOf(plainRule, pageComponents, "there is no table %s", name))
	}
	names := tableNames(e.ctx, e.target)
	if len(names) == 0 {
		return nil
	}
	if near, ok := text.Nearest(name, names); ok {
		m := e.m.without()
		m.set("TableName", near)
		if e.offer("ask table "+near, e.report.Operation, m) {
			return nil
		}
	}
	e.tell("the tables are: %s", strings.Join(names, ", "))
	return nil
}

// refuseGet is about a GetItem whose key is none.
func (e *explainer) refuseGet() error {
	s := e.info.key
	names := make([]string, 0, 2)
	for _, a := range s.Attributes() {
		names = append(names, text.Name(a.Name))
	}
	key := e.m.item("Key")
	e.q, _ = e.m.question()
	var exact attr.Builder
	var g group
	all, wrong := true, key.Len() != len(names)
	for _, a := range s.Attributes() {
		v := key.Get(a.Name)
		to, ok := convert(v, a.Kind)
		if v.IsZero() || !ok || a.Kind != attr.Number && len(to.Raw()) == 0 {
			all = false
			continue
		}
		wrong = wrong || to.Kind() != v.Kind()
		exact.Add(a.Name, to)
	}
	if !wrong && all {
		fixed, first := e.m, (*rule)(nil)
		for _, repair := range []func(*explainer, members) (*rule, members){repairReserved, repairUnused} {
			var broken *rule
			broken, fixed = repair(e, fixed)
			first = first.and(broken)
		}
		if e.broke(first); first != nil {
			e.offer(mended, opGetItem, fixed)
		}
		return nil
	}
	e.broke(ruleOf(plainRule, pageGet, "GetItem takes the whole primary key, which is %s, with values of its types and nothing else", strings.Join(names, " and ")))
	if all {
		m := e.m.without()
		m.set("Key", exact.Item())
		e.offer("give the key as the table has it", opGetItem, m)
		return nil
	}
	for i := range key.Len() {
		name, v := key.At(i)
		equal := equalTo(string(name), v)
		if e.info.kindOf(string(name)) == 0 {
			g.rest = append(g.rest, equal.node)
			continue
		}
		g.atoms = append(g.atoms, equal)
	}
	for _, p := range e.plans(g) {
		if e.offer(p.words(), opQuery, e.request(p)) && len(p.remarks) == 0 {
			return nil
		}
	}
	e.offerScan([]group{g}, nil)
	return nil
}
