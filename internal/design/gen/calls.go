package gen

import (
	"fmt"

	"github.com/sortkey/sortkey/expr/ast"
	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/keys"
)

// A Call is a call of the function of a pattern with the values of the pattern.
type Call struct {
	Pattern  string
	Function string
	// Args are the arguments in text form.
	Args []Arg
}

// An Arg is an argument: a number, or else a text or a time.
type Arg struct {
	Text   string
	Number bool
}

// Functions are the functions of the keys of an entity.
type Functions struct {
	Entity *model.Entity
	// Type is the class of the values in Python. Attributes and Parse are functions in TypeScript.
	Type, Attributes, Parse string
	// key is the function of the primary key in TypeScript.
	key string
	// Names are the names of the fields, and Numbers those that are numbers.
	Names   map[string]string
	Numbers map[string]bool
}

func functionsOf(e *model.Entity, values []value) Functions {
	f := Functions{Entity: e, Names: map[string]string{}, Numbers: map[string]bool{}}
	for _, v := range values {
		f.Names[v.field], f.Numbers[v.field] = v.goName, v.goType == goNumber
	}
	return f
}

// IsKey reports whether an attribute is in a key of the entity's table or of its indexes.
func (f *Functions) IsKey(name string) bool { return f.Entity.Table.IsKey(name) }

// A WriteCall is a call of the function of a pattern that writes one item.
type WriteCall struct {
	Pattern, Function string
	Write             *model.Write
	// Fields are those of the parameters after the values in the keys and the other attributes.
	Fields []Arg
}

// WriteCalls returns the calls of the functions of patterns that write one item, as [Calls] does.
func WriteCalls(m *model.Model, lang string) ([]WriteCall, error) {
	switch lang {
	case "python":
		f, err := newPythonFile(m)
		if err != nil {
			return nil, err
		}
		return f.writeCalls, nil
	case "typescript":
		f, err := newScriptFile(m)
		if err != nil {
			return nil, err
		}
		return f.writeCalls, nil
	}
	return nil, fmt.Errorf("no calls in %s", lang)
}

// call returns the call of the function of a write, if that is of one item.
func (w *writing) call(function string) (all []WriteCall) {
	if len(w.all) > 1 {
		return nil
	}
	c := WriteCall{Pattern: w.p.Name, Function: function, Write: w.all[0].Write}
	for _, p := range w.all[0].parameters() {
		c.Fields = append(c.Fields, Arg{p.field, p.typ == goNumber})
	}
	return []WriteCall{c}
}

// Calls returns the calls of the functions that [Python] or [TypeScript] generates, by the language of
// --lang, and the functions of the keys. Checks of the generated code call them.
func Calls(m *model.Model, lang string) ([]Call, []Functions, error) {
	switch lang {
	case "python":
		f, err := newPythonFile(m)
		if err != nil {
			return nil, nil, err
		}
		return f.calls, f.keys, nil
	case "typescript":
		f, err := newScriptFile(m)
		if err != nil {
			return nil, nil, err
		}
		return f.calls, f.keys, nil
	}
	return nil, nil, fmt.Errorf("no calls in %s", lang)
}

// callArgs returns the values of the parameters in the pattern, apart from those that it lists.
func (r *reading) callArgs() []Arg {
	all := []Arg{}
	for _, p := range r.parameters() { // the bounds of a range over periods come last
		if r.loops(p) {
			continue
		}
		c, _ := r.given(p.field)
		text := c.Args[0]
		if c.Op == ast.OpBetween && p.suffix == "To" {
			text = c.Args[1]
		}
		if first, _, ok := compile.Period(keys.Type{Name: "nanos"}, text); ok && p.typ == goTime {
			text = first
		}
		all = append(all, Arg{text, p.typ == goNumber})
	}
	if r.over != nil {
		for i := range r.over.bounds {
			all = append(all, Arg{Text: r.over.args[i]})
		}
	}
	return all
}
