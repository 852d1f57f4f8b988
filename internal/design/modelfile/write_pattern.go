package modelfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sortkey/sortkey/internal/design/model"

	"github.com/sortkey/sortkey/internal/ast"
)

func (p *writer) pattern(q *model.Pattern) {
	p.line(1, "- name: %s", plainText(q.Name))
	p.text(2, "about", q.About)
	if q.Request != nil {
		p.request(q)
	} else {
		verb := map[string]string{"Query": "query", "GetItem": "get", "Scan": "scan"}[q.Operation]
		p.line(2, "%s:", verb)
		p.question(q)
	}
	if q.Rate > 0 {
		p.line(2, "rate: %v", q.Rate)
	}
	p.expect(q)
}

func (p *writer) question(q *model.Pattern) {
	if q.Entity != nil {
		p.text(3, "entity", q.Entity.Name)
	}
	if q.Table != nil && (q.Entity == nil || q.Entity.Table != q.Table) {
		p.text(3, "table", q.Table.Name)
	}
	if q.Index != nil {
		p.text(3, "index", q.Index.Name)
	}
	if len(q.Where) > 0 {
		var parts []string
		for _, c := range q.Where {
			text := ""
			switch c.Op {
			case ast.Equal:
				text = flowText(c.Args[0])
			case ast.OpBetween:
				text = "{between: " + flowTexts(c.Args) + "}"
			case ast.OpBeginsWith:
				text = "{begins_with: " + flowText(c.Args[0]) + "}"
			default:
				text = "{" + quote(string(c.Op)) + ": " + flowText(c.Args[0]) + "}"
			}
			parts = append(parts, name(c.Field)+": "+text)
		}
		p.line(3, "where: {%s}", strings.Join(parts, ", "))
	} else if q.Operation != "Scan" {
		p.line(3, "where: {}")
	}
	if q.Filter != "" {
		p.line(3, "filter: %s", quote(q.Filter))
	}
	if len(q.Project) > 0 {
		p.line(3, "project: %s", flowTexts(q.Project))
	}
	switch {
	case q.Descending:
		p.line(3, "order: desc")
	case q.Ordered:
		p.line(3, "order: asc")
	}
	if q.Limit > 0 {
		p.line(3, "limit: %d", q.Limit)
	}
	if q.Consistent {
		p.line(3, "consistent: true")
	}
}

func (p *writer) request(q *model.Pattern) {
	p.line(2, "request:")
	p.line(3, "operation: %s", q.Operation)
	dec := json.NewDecoder(bytes.NewReader(q.Request))
	dec.UseNumber()
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		p.err = fmt.Errorf("pattern %s: its request is not a JSON object", q.Name)
		return
	}
	for dec.More() {
		member, err := dec.Token()
		if err != nil {
			p.err = fmt.Errorf("pattern %s: its request: %w", q.Name, err)
			return
		}
		text, err := jsonText(dec)
		if err != nil {
			p.err = fmt.Errorf("pattern %s: its request: %w", q.Name, err)
			return
		}
		p.line(3, "%s: %s", name(fmt.Sprint(member)), text)
	}
}

// jsonText returns the next JSON value in YAML flow style.
func jsonText(dec *json.Decoder) (string, error) {
	tok, err := dec.Token()
	if err != nil {
		return "", err
	}
	switch v := tok.(type) {
	case json.Delim:
		var parts []string
		for dec.More() {
			prefix := ""
			if v == '{' {
				member, err := dec.Token()
				if err != nil {
					return "", err
				}
				prefix = name(fmt.Sprint(member)) + ": "
			}
			text, err := jsonText(dec)
			if err != nil {
				return "", err
			}
			parts = append(parts, prefix+text)
		}
		if _, err := dec.Token(); err != nil {
			return "", err
		}
		if v == '{' {
			return "{" + strings.Join(parts, ", ") + "}", nil
		}
		return "[" + strings.Join(parts, ", ") + "]", nil
	case string:
		return quote(v), nil
	case nil:
		return "null", nil
	}
	return fmt.Sprint(tok), nil
}

func (p *writer) expect(q *model.Pattern) {
	x := q.Expect
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if x.Rows != nil {
		add("rows: %d", *x.Rows)
	}
	if x.MaxRows != nil {
		add("max_rows: %d", *x.MaxRows)
	}
	if len(x.Entities) > 0 {
		add("entities: %s", flowTexts(x.Entities))
	}
	if x.Units != nil {
		add("units: %v", *x.Units)
	}
	if x.Pages != nil {
		add("pages: %d", *x.Pages)
	}
	if x.Waste != nil {
		add("waste: %v", *x.Waste)
	}
	if x.Budget != "" {
		add("budget: %s", x.Budget)
	}
	if x.Ties {
		add("ties: true")
	}
	if x.Error != "" {
		add("error: %s", flowText(x.Error))
	}
	if x.NoItem {
		add("item: none")
	}
	if x.Item != nil {
		add("item: %s", itemText(x.Item))
	}
	if x.Keys != nil && len(x.Keys) == 0 {
		add("keys: []")
	}
	if len(lines) == 0 && len(x.Keys) == 0 {
		return
	}
	if len(x.Keys) == 0 {
		if short := "expect: {" + strings.Join(lines, ", ") + "}"; len(short) <= 100 {
			p.line(2, "%s", short)
			return
		}
	}
	p.line(2, "expect:")
	for _, l := range lines {
		p.line(3, "%s", l)
	}
	if len(x.Keys) == 0 {
		return
	}
	p.line(3, "keys:")
	for _, k := range x.Keys {
		parts := make([]string, len(k))
		for i, v := range k {
			parts[i] = valueText(v)
		}
		p.line(4, "- [%s]", strings.Join(parts, ", "))
	}
}
