package gen

import (
	"fmt"

	"github.com/sortkey/sortkey/internal/ast"
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

// Calls returns the calls of the functions that [Python] or [TypeScript] generates, by the language of
// --lang. Checks of the generated code make them.
func Calls(m *model.Model, lang string) ([]Call, error) {
	switch lang {
	case "python":
		f, err := newPythonFile(m)
		if err != nil {
			return nil, err
		}
		return f.calls, nil
	case "typescript":
		f, err := newScriptFile(m)
		if err != nil {
			return nil, err
		}
		return f.calls, nil
	}
	return nil, fmt.Errorf("no calls in %s", lang)
}

// callArgs returns the values of the parameters in the pattern, apart from those that it lists.
func (r *reading) callArgs() []Arg {
	all := []Arg{}
	for _, p := range r.parameters() {
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
	return all
}
