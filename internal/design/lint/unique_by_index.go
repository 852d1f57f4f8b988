package lint

import (
	"maps"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr/ast"
	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keys"
)

var uniqueByIndex = rule.Rule{
	ID: "unique-by-index", Title: "A check of uniqueness by an index", Severity: model.Warning,
	Help: "A program that queries an index for an email address, finds none and puts a user lets two users " +
		"have the address: another program may put one between the query and the put, and a global index follows " +
		"its table only after a while. No condition can look at an index. The rule goes by the name of the " +
		"pattern and its about (is the email taken, email already used, whether it is unique), unless a " +
		"transaction of the model puts the item together with another one that has a condition.",
	Example: []string{
		`"EMAIL#ann@example.com": not in the index yet`, `"USER#u1", "USER#u2": both with ann@example.com`,
	},
	Cure: "Put a second item whose key is the value, such as EMAIL#{email}, in the same transaction, on " +
		"condition that it does not exist. When the value changes, delete it and put the new one, in a " +
		"transaction too.",
	Source: "https://aws.amazon.com/blogs/database/simulating-amazon-dynamodb-unique-constraints-using-transactions/",

	Query: checkUniqueByIndex,
}

// aboutUnique matches what patterns that check for uniqueness say of themselves.
var aboutUnique = text.Pattern(`(?i)\buniqueness\b|\balready (exists?|in use|taken)\b|` +
	`(^|[.;:] *)(is|are)\b[^.]*\b(unique|taken|free|available|in use)\b|` +
	`\b(whether|checks?|checked|ensures?)\b[^.]*\b(unique|taken|in use|no\b[^.]*\bexists?)\b|` +
	`\b(e-?mail|address|name|username|handle|slug|domain) (is )?(taken|free|available|in use|exists)\b|` +
	`\bbefore (it |one |they )?(put(s|ting)?|creat(es?|ing)|sign(s|ing)? up|register(s|ing)?|registration)\b`)

func checkUniqueByIndex(p *rule.Pass, q *rule.Query) {
	if q.Operation != "Query" || q.Failed != nil || q.Entity == nil || q.View == nil || q.View.Index == nil ||
		q.View.Index.Local || !aboutUnique().MatchString(q.Name+". "+q.About) || guarded(p.Model, q.Entity) {
		return
	}
	var fields []string
	for _, c := range q.Where {
		if c.Op != ast.Equal {
			return // a range is a list
		}
		if q.Entity.Field(c.Field) != nil {
			fields = append(fields, c.Field)
		}
	}
	if len(fields) == 0 {
		return
	}

	f := q.Finding("%q looks in %s for another item with the same %s: two programs that look at once both find none",
		q.Name, q.View, fields)
	f.Keys = q.View.Example(q.Entity)
	f.Advise("put a second item with %s as its key in the same transaction, on condition that it does not exist",
		fields)
	if template, edit := guard(q.Entity, fields); edit != nil {
		key := q.Entity.Table.Partition[0].Name
		f.Propose("put a second item in the same transaction, with "+key+": "+text.Quote(template)+
			" and the condition attribute_not_exists("+text.Name(key)+")", edit)
	}
	p.Report(f)
}

// guarded reports whether a transaction puts items of an entity together with another item that has a
// condition.
func guarded(m *model.Model, e *model.Entity) bool {
	return slices.ContainsFunc(m.Patterns, func(p *model.Pattern) bool {
		puts := func(w model.Write) bool { return w.Entity == e && w.Operation == model.Put }
		other := func(w model.Write) bool { return w.Entity != e && w.If != "" }
		return slices.ContainsFunc(p.Writes, puts) && slices.ContainsFunc(p.Writes, other)
	})
}

// guard returns the edit that puts an item whose key is some fields of an entity with each of its
// items, and the template of the key. The edit is nil if the table has keys of other types than text.
func guard(e *model.Entity, fields []string) (template string, edit rule.Edit) {
	if slices.ContainsFunc(e.Table.Keys(), func(a model.Attribute) bool { return a.Kind != attr.String }) {
		return "", nil
	}
	var parts []string
	for _, name := range fields {
		parts = append(parts, strings.ToUpper(name)+"#{"+name+"}")
	}
	template = strings.Join(parts, "#")
	parsed, err := keys.Parse(template)
	if err != nil {
		return "", nil
	}

	return template, func(m *model.Model) bool {
		of := m.Entity(e.Name)
		item := &model.Entity{Name: "Unique" + e.Name, Table: of.Table}
		for _, a := range of.Table.Keys() {
			item.Attributes = append(item.Attributes, &model.Template{Name: a.Name, Kind: a.Kind, Template: parsed})
		}
		for _, f := range of.Fields {
			if slices.Contains(fields, f.Name) {
				item.Fields = append(item.Fields, f)
			}
		}
		for _, s := range of.Samples {
			values := map[string]string{}
			for _, name := range fields {
				values[name] = s.Values[name]
			}
			if !slices.Contains(slices.Collect(maps.Values(values)), "") {
				item.Samples = append(item.Samples, &model.Sample{Values: values})
			}
		}

		put := model.Write{Operation: model.Put, Entity: item}
		put.If = "attribute_not_exists(" + text.Name(of.Table.Partition[0].Name) + ")"
		changed := false
		for _, p := range m.Patterns {
			if len(p.Writes) == 1 && p.Writes[0].Entity == of && p.Writes[0].Operation == model.Put {
				p.Operation, p.Writes, p.Expect = model.Transaction, append(p.Writes, put), model.Expect{}
				changed = true
			}
		}
		m.Entities = append(m.Entities, item)
		return changed
	}
}
