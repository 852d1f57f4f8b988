package explain

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr"
	"github.com/sortkey/sortkey/internal/design/terminal"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

// refuse finds the rule that a refused request breaks, and requests that work.
// It has tried every request that it returns, with a Limit of 1.
func (e *explainer) refuse(s *ServiceError) error {
	r := e.report
	r.Refused = &Refusal{Code: s.Code, Message: s.Message}
	e.setRule(e.broken)
	info, err := Describe(e.ctx, e.target, r.Table)
	if _, ok := refusalOf(err); ok {
		if e.opts.Brief || e.partial {
			return nil
		}
		return e.refuseTable()
	}
	if err != nil {
		return err
	}

	e.info, r.Table, r.Schema = info, info.Name, info.Schema(r.Index)
	if e.index = info.Index(r.Index); e.index != nil {
		r.Projection = e.index.Projection
	}
	if e.opts.Brief || e.partial || len(e.asked.Faults) > 0 {
		return nil // with Faults, the request lacks the values that are wrong
	}
	if r.Operation == opGetItem {
		return e.refuseGet()
	}

	fixed := e.asked
	if _, err := fixed.parse(); err != nil {
		if wrong, ok := errors.AsType[*expr.Error](err); ok {
			if src := fixed.expression(wrong.Param); src != nil {
				r.Refused.Where = terminal.Caret(*src, wrong.Offset)
			}
		}
	}

	first := e.broken
	for _, repair := range repairs {
		var broken *rule
		broken, fixed = repair(e, fixed)
		first = first.and(broken)
	}

	e.asked = fixed
	q, err := fixed.parse()
	e.q = q
	if err != nil {
		if first == nil {
			first = ruleOf(plainRule, pageSyntax, "cannot parse an expression: %v", err)
		}
		e.setRule(first)
		return nil
	}

	schema := info.Schema(value(fixed.IndexName))
	var broken *rule
	if r.Operation == opQuery {
		broken = e.brokenRule(schema)
	}

	first = first.and(broken)
	if first == nil && fixed.ExclusiveStartKey != nil {
		first = ruleOf(
			plainRule, pagePaging,
			"an ExclusiveStartKey is the LastEvaluatedKey of the previous page, but this one is outside the range",
		)
		e.asked.ExclusiveStartKey = nil
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
	e.offer(advice, e.asked)
	return nil
}

func (e *explainer) setRule(r *rule) {
	if r != nil {
		e.report.Refused.Rule, e.report.Refused.Source = r.text, r.source
	}
}

// offer adds a request to the advice if it is new and the endpoint accepts it.
// It reports whether it added the request.
func (e *explainer) offer(words string, r request) bool {
	trial := r
	if r.op != wire.OpGetItem {
		trial.Limit = new(int64(1))
	}
	return e.offerInput(words, r.input(), trial.input())
}

// offerInput is offer for any input. Trial is the request to try instead.
func (e *explainer) offerInput(words string, in, trial wire.Request) bool {
	list := &e.report.Advice
	if e.report.Refused != nil {
		list = &e.report.Refused.Advice
	}
	body := in.AppendJSON(nil)
	for _, a := range *list {
		if a.Request != nil && a.Request.Op() == in.Op() && bytes.Equal(a.Request.AppendJSON(nil), body) {
			return false
		}
	}
	if _, _, err := e.target.Do(e.ctx, trial); err != nil {
		return false
	}
	*list = append(*list, Advice{Text: words, Request: in})
	return true
}

// advise adds advice without a request.
func (e *explainer) advise(format string, args ...any) {
	r := e.report.Refused
	r.Advice = append(r.Advice, Advice{Text: fmt.Sprintf(format, args...)})
}

// sendFixed is the advice to send the request without its fault.
const sendFixed = "send the corrected request"

// refuseTable explains a request for a table that does not exist.
func (e *explainer) refuseTable() error {
	name := value(e.asked.TableName)
	if name == "" {
		e.setRule(e.broken.and(ruleOf(plainRule, pageQuery, "a request must name its table in TableName")))
	} else {
		e.setRule(e.broken.and(ruleOf(plainRule, pageComponents, "table %s does not exist", name)))
	}
	names := tableNames(e.ctx, e.target)
	if len(names) == 0 {
		return nil
	}
	if near, ok := text.Nearest(name, names); ok {
		r := e.asked
		r.TableName = &near
		if e.offer("use table "+near, r) {
			return nil
		}
	}
	e.advise("the tables are %s", strings.Join(names, ", "))
	return nil
}

// refuseGet explains a GetItem with a wrong key.
func (e *explainer) refuseGet() error {
	s := e.info.Key
	names := make([]string, 0, 2)
	for _, a := range s.Attributes() {
		names = append(names, text.Name(a.Name))
	}

	key := e.asked.Key
	e.q, _ = e.asked.parse()
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
		fixed, first := e.asked, e.broken
		for _, repair := range []repair{repairReserved, repairUnused} {
			var broken *rule
			broken, fixed = repair(e, fixed)
			first = first.and(broken)
		}
		if e.setRule(first); first != nil {
			e.offer(sendFixed, fixed)
		}
		return nil
	}

	e.setRule(e.broken.and(ruleOf(
		plainRule, pageGet,
		"GetItem needs the whole primary key, which is %s, with values of the right types and nothing else",
		strings.Join(names, " and "),
	)))

	if all {
		r := e.asked
		r.Key = exact.Item()
		e.offer("give the key with the types of the table", r)
		return nil
	}

	for i := range key.Len() {
		name, v := key.At(i)
		equal := equalTo(string(name), v)
		if !e.info.IsKey(string(name)) {
			g.rest = append(g.rest, equal.node)
			continue
		}
		g.atoms = append(g.atoms, equal)
	}

	for _, p := range e.plans(g) {
		if e.offer(p.words(), e.request(p)) && len(p.remarks) == 0 {
			return nil
		}
	}

	e.offerScan([]group{g}, nil)
	return nil
}
