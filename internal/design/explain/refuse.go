package explain

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sortkey/sortkey/internal/design/literal"
	"github.com/sortkey/sortkey/internal/design/terminal"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/text"
)

// refuse reports which rule a refused request breaks, and adds hints about what to send instead.
func (e *explainer) refuse(s *ServiceError) error {
	r := e.report
	r.Refused = &Refusal{Code: s.Code, Message: e.spell(s.Message)}
	info, err := Describe(e.ctx, e.target, r.Table)
	if _, ok := refusalOf(err); ok {
		if !e.opts.Brief {
			e.refuseTable()
		}
		return nil
	}
	if err != nil {
		return err
	}

	e.info, r.Table, r.Schema = info, info.Name, info.Schema(r.Index)
	if e.index = info.Index(r.Index); e.index != nil {
		r.Projection = e.index.Projection
	}
	if e.opts.Brief || len(e.asked.Faults) > 0 {
		return nil // the caller does not want the rule, or the service's message already states it
	}
	if r.Operation == opGetItem {
		e.refuseGet()
		return nil
	}

	if e.q, err = e.asked.parse(); err != nil {
		if wrong, ok := errors.AsType[*expr.Error](err); ok {
			if src := e.asked.expression(wrong.Param); src != nil {
				r.Refused.Where = terminal.Caret(e.spell(*src), len(e.spell((*src)[:wrong.Offset])))
			}
		}
	}

	broken := e.fault(s.Message)
	if broken == nil && err == nil && r.Operation == opQuery {
		var value bool
		if broken, value = e.brokenRule(r.Schema); broken != nil && !value {
			e.instead()
		}
	}
	e.setRule(broken)
	return nil
}

// spell returns an expression or message with the names and values that the person wrote.
func (e *explainer) spell(s string) string {
	if !e.spelled {
		return s
	}
	return literal.Write(s, e.asked.ExpressionAttributeNames, e.asked.ExpressionAttributeValues)
}

func (e *explainer) setRule(r *rule) {
	if r != nil {
		e.report.Refused.Rule, e.report.Refused.Source = r.text, r.source
	}
}

// hint adds a hint to the report.
func (e *explainer) hint(format string, args ...any) {
	e.report.Hints = append(e.report.Hints, fmt.Sprintf(format, args...))
}

// refuseTable explains a request for a table that does not exist.
func (e *explainer) refuseTable() {
	name := value(e.asked.TableName)
	if name == "" {
		e.setRule(ruleOf(pageQuery, "a request must name its table in TableName"))
	} else {
		e.setRule(ruleOf(pageComponents, "table %s does not exist", name))
	}

	names := tableNames(e.ctx, e.target)
	if len(names) == 0 {
		return
	}
	if near, ok := text.Nearest(name, names); ok {
		e.hint("use table %s", near)
		return
	}
	e.hint("the tables are %s", strings.Join(names, ", "))
}

// refuseGet explains a refused GetItem.
func (e *explainer) refuseGet() {
	if r := e.fault(e.report.Refused.Message); r != nil {
		e.setRule(r)
		return
	}
	var names, lacking []string
	for _, a := range e.info.Key.Attributes() {
		names = append(names, text.Name(a.Name)+" ("+a.Kind.String()+")")
		if e.asked.Key.Get(a.Name).IsZero() {
			lacking = append(lacking, text.Name(a.Name))
		}
	}
	if partition := e.info.Key.Attributes()[0]; len(lacking) == 1 && e.asked.Key.Len() == 1 {
		if v := e.asked.Key.Get(partition.Name); v.Kind() == partition.Kind {
			e.hint("add %s, or query %s with %s = %s, which reads all items of the partition", lacking[0], e.info.Name,
				text.Name(partition.Name), text.Literal(v))
		}
	}
	e.setRule(ruleOf(
		pageGet, "GetItem needs the whole primary key, which is %s, with values of these types and nothing else",
		strings.Join(names, " and "),
	))
}
