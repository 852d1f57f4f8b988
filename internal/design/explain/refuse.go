package explain

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr"
	"github.com/sortkey/sortkey/internal/text"
)

// refuse finds the rule that a refused request breaks, and requests that work.
// It has tried every request that it returns, with a Limit of 1.
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
	if _, err := e.m.expressions(); err != nil {
		if wrong, ok := errors.AsType[*expr.Error](err); ok && e.m.has(string(wrong.Param)) {
			r.Refused.Where = text.Caret(e.m.text(string(wrong.Param)), wrong.Pos)
		}
	}
	var first *rule
	for _, repair := range repairs {
		var broken *rule
		broken, fixed = repair(e, fixed)
		first = first.and(broken)
	}
	e.m = fixed
	q, err := fixed.expressions()
	e.q = q
	if err != nil {
		if first == nil {
			first = ruleOf(plainRule, pageSyntax, "cannot parse an expression: %v", err)
		}
		e.setRule(first)
		return nil
	}
	schema := info.schema(fixed.text("IndexName"))
	var broken *rule
	if r.Operation == opQuery {
		broken = e.brokenRule(schema)
	}
	first = first.and(broken)
	if first == nil && fixed.has("ExclusiveStartKey") {
		first = ruleOf(plainRule, pagePaging, "an ExclusiveStartKey is the LastEvaluatedKey of the previous page, but this one is outside the range")
		e.m = fixed.without("ExclusiveStartKey")
	}
	e.setRule(first)
	if first == nil {
		return nil // the rule is not known here
	}
	if broken != nil {
		return e.otherWays(broken, schema)
	}
	advice := sendFixed
	if first.fix != "" {
		advice = first.fix
	}
	e.offer(advice, r.Operation, e.m)
	return nil
}

func (e *explainer) setRule(r *rule) {
	if r != nil {
		e.report.Refused.Rule, e.report.Refused.Source = r.text, r.source
	}
}

// offer adds a request to the advice if it is new and the endpoint accepts it.
// It reports whether it added the request.
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

// advise adds advice without a request.
func (e *explainer) advise(format string, args ...any) {
	r := e.report.Refused
	r.Advice = append(r.Advice, Advice{Text: fmt.Sprintf(format, args...)})
}

// sendFixed is the advice to send the request without its fault.
const sendFixed = "send the corrected request"

const opBatchGet = "BatchGetItem"

// refuseTable explains a request for a table that does not exist.
func (e *explainer) refuseTable() error {
	name := e.m.text("TableName")
	if name == "" {
		e.setRule(ruleOf(plainRule, pageQuery, "a request must name its table in TableName"))
	} else {
		e.setRule(ruleOf(plainRule, pageComponents, "table %s does not exist", name))
	}
	names := tableNames(e.ctx, e.target)
	if len(names) == 0 {
		return nil
	}
	if near, ok := text.Nearest(name, names); ok {
		m := e.m.without()
		m.set("TableName", near)
		if e.offer("use table "+near, e.report.Operation, m) {
			return nil
		}
	}
	e.advise("the tables are %s", strings.Join(names, ", "))
	return nil
}

// refuseGet explains a GetItem with a wrong key.
func (e *explainer) refuseGet() error {
	s := e.info.key
	names := make([]string, 0, 2)
	for _, a := range s.Attributes() {
		names = append(names, text.Name(a.Name))
	}
	key := e.m.item("Key")
	e.q, _ = e.m.expressions()
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
		if e.setRule(first); first != nil {
			e.offer(sendFixed, opGetItem, fixed)
		}
		return nil
	}
	e.setRule(ruleOf(plainRule, pageGet, "GetItem needs the whole primary key, which is %s, with values of the right types and nothing else", strings.Join(names, " and ")))
	if all {
		m := e.m.without()
		m.set("Key", exact.Item())
		e.offer("give the key with the types of the table", opGetItem, m)
		return nil
	}
	for i := range key.Len() {
		name, v := key.At(i)
		equal := equalTo(string(name), v)
		if !e.info.isKey(string(name)) {
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
