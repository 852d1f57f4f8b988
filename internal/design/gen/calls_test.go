package gen

import (
	"fmt"

	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/keys"
)

// A Call is a call of a pattern's generated function.
type Call struct {
	Pattern  *model.Pattern
	Function string
	params   []*parameter
}

// An Arg is an argument as text. Number says that it is a number; otherwise it is a text or a time.
type Arg struct {
	Text   string
	Number bool
}

// Args returns the arguments for one part of the pattern. [compile.Split] returns the parts, one for each request.
func (c *Call) Args(part *model.Pattern) []Arg {
	all := []Arg{}
	for _, p := range c.params {
		if p.filter {
			all = append(all, Arg{Text: model.TextOf(part.Parameters.Get(p.Field))})
			continue
		}
		for _, where := range part.Where {
			if where.Field != p.Field {
				continue
			}
			text := where.Args[0]
			if where.Op == ast.OpBetween && p.Suffix == "To" {
				text = where.Args[1]
			}
			if first, _, ok := compile.Period(keys.Type{Name: "nanos"}, text); ok && p.kind == timeKind {
				text = first
			}
			all = append(all, Arg{text, p.kind == numberKind})
		}
	}
	return all
}

// A Keys says how generated code builds the keys of an entity: by a class with methods, or by a function.
type Keys struct {
	Entity           *model.Entity
	Type, Attributes string
	// Names maps fields to their generated names. Numbers has the fields that are numbers.
	Names   map[string]string
	Numbers map[string]bool
}

// Calls returns the calls of the functions that [Python] or [TypeScript] generates, and how their code builds keys.
// lang is a value of --lang. Checks of the generated code make these calls.
func Calls(m *model.Model, lang string) (calls []Call, all []Keys, err error) {
	l := map[string]*language{"python": pythonCode, "typescript": scriptCode}[lang]
	if l == nil {
		return nil, nil, fmt.Errorf("no calls in %s", lang)
	}
	t, err := newTree(m, l)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range t.Requests {
		calls = append(calls, Call{m.Pattern(r.Pattern.Name), r.Name, r.Parameters()})
	}
	for _, e := range t.Entities {
		k := Keys{e.Entity, e.Type, e.Attributes, map[string]string{}, map[string]bool{}}
		for _, v := range e.Values {
			k.Names[v.field], k.Numbers[v.field] = v.Name, v.kind == numberKind
		}
		all = append(all, k)
	}
	return calls, all, nil
}
