package lint

import (
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/expr/ast"
)

var noValue = Rule{
	ID: "no-value", Title: "A placeholder in place of a value", Severity: model.Warning,
	Help: "USER#undefined is a key as good as any, and all items without an id share it. A time to live must " +
		"be a number of seconds since 1970: milliseconds and text are ignored, as is an attribute that " +
		"nobody writes, and no item is ever deleted. A filter on an attribute that nobody writes drops all rows.",

	Component: checkPlaceholder, Whole: checkTTL, Query: checkConditions,
}

// noValues are texts that programs write by mistake if a value is missing. They are in lower case.
var noValues = []string{"undefined", "null", "nil", "none", "nan", "[object object]", "<nil>", "(null)"}

// checkPlaceholder reports a component for which people wrote a text such as "null" in place of a missing value.
func checkPlaceholder(p *Pass, c Component) {
	f := c.Entity.Field(c.Name)
	for _, w := range c.Written() {
		if !slices.Contains(noValues, strings.ToLower(w.Text)) || f != nil && slices.Contains(f.Values, w.Text) {
			continue
		}
		f := c.Finding("%s in %s is %s: all items without a value of %s share that key", c, c.Slot, w, c)
		f.Keys = c.KeyWith(w)
		f.Advise("refuse an item without %s in the program, before it builds the key", c)
		p.Report(f)
		return
	}
}

// checkTTL reports a time-to-live attribute whose value is not a number of seconds, or that no item has.
func checkTTL(p *Pass) {
	for _, t := range p.Model.Tables {
		if t.TTL == "" {
			continue
		}
		v, written := p.TableView(t), false
		for _, r := range v.Rows {
			value := r.Item.Attributes.Get(t.TTL)
			if value.Kind() == 0 {
				continue
			}
			written = true
			shown := model.TextOf(value)
			wrong := "text"
			if value.Kind() == attr.Number {
				if wrong = "in milliseconds"; len(shown) <= 11 {
					continue
				}
			}

			f := v.Finding("%s is %s, such as %s, and a time to live must be a number of seconds: "+
				"these items are never deleted", t.TTL, wrong, quoted(shown))
			f.Keys = v.Shown(r.Item)
			f.Advise("store a number of seconds since 1970: %s: {template: \"{%s:epoch}\", type: N}", t.TTL, t.TTL)
			if e := r.Item.Entity; e != nil {
				f.Entity, f.Pos = e.Name, e.Attribute(t.TTL).Pos
			}
			p.Report(f)
			break
		}

		if !written && len(v.Rows) > 0 {
			f := v.Finding("no item has %s, the time to live of %s: none is ever deleted", t.TTL, v)
			f.Keys = v.Shown(v.Rows[0].Item)
			f.Advise("write %s on the items that expire, or declare no ttl", t.TTL)
			p.Report(f)
		}
	}
}

// checkConditions reports a filter on an attribute that no item has.
func checkConditions(p *Pass, q *Query) {
	if q.Operation == "GetItem" || q.Failed != nil || q.View == nil || q.Expect.Error != "" {
		return
	}
	_, filters := explain.Clauses(q.Compiled)
	for _, c := range filters {
		rows := p.TableView(q.View.Table).Rows
		if c.Op != ast.Equal || len(rows) == 0 {
			continue
		}
		written := false
		for _, r := range rows {
			written = written || r.Item.Attributes.Get(c.Attribute).Kind() != 0
		}
		if !written {
			f := q.Finding("%q filters by %s, which no item of %s has: it returns nothing", q.Name, c.Attribute, q.View)
			f.Advise("write %s on the items, or correct the name", c.Attribute)
			f.Keys = q.View.Shown(rows[0].Item)
			p.Report(f)
		}
	}
}
