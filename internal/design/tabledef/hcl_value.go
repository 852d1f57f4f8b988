package tabledef

import (
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/sortkey/sortkey/internal/design/files"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
)

// This file evaluates expressions of Terraform files. A mark says that a value is a stand-in for one that only a
// deployment knows, or that it is unknown. The HCL library passes marks on to the values that it computes; where a
// function drops them, scope.value restores them.

// A mark says that a value depends on a parameter that is not given, or on an expression that cannot be evaluated.
type mark struct {
	part
	legal bool   // the stand-in is a value that the parameter could have
	why   string // why the expression cannot be evaluated; "" for a parameter
}

func (m mark) value(v cty.Value) cty.Value { return v.Mark(m) }

// without returns an unknown value with a mark. why says why the value is unknown; it may be "".
func without(name, why string) cty.Value {
	return mark{part: part{name: name}, why: why}.value(cty.DynamicVal)
}

// A scope has the values to which the expressions of a module can refer.
type scope struct {
	*input
	dir       string // of the module
	variables map[string]cty.Value
	locals    map[string]hclsyntax.Expression
	known     map[string]cty.Value // cached values of locals and of the arguments of resources
	resources map[string]*hclsyntax.Block
	functions map[string]function.Function
	own       map[string]cty.Value // each, count and the iterators of dynamic blocks
}

// with returns a copy of the scope in which name has the value v.
func (s *scope) with(name string, v cty.Value) *scope {
	inner := *s
	if inner.own = maps.Clone(s.own); inner.own == nil {
		inner.own = map[string]cty.Value{}
	}
	inner.own[name] = v
	return &inner
}

// value evaluates an expression. If that fails, it returns an unknown value whose mark has the error, because perhaps
// no table depends on the value.
func (s *scope) value(e hclsyntax.Expression) (v cty.Value) {
	ctx := &hcl.EvalContext{Functions: s.functions}
	defer func() {
		// The library may panic, and no file may end the program that reads it.
		if cause := recover(); cause != nil {
			v = s.failed(e, fmt.Sprintf("%s: %v", place(e.Range()), cause), ctx)
		}
	}()
	ctx.Variables = s.references(e)
	s.making = maxMade
	v, diags := e.Value(ctx)
	if diags.HasErrors() {
		d := diags.Errs()[0].(*hcl.Diagnostic)
		return s.failed(e, place(*d.Subject)+": "+sentence(d.Detail), ctx)
	}
	if !spend(&s.kept, v) {
		return s.failed(e, fmt.Sprintf("%s: the files make more than %d MB", place(e.Range()), maxMade>>20), ctx)
	}
	if !v.IsKnown() && !v.IsMarked() {
		return s.failed(e, "", ctx) // a function of the library dropped the marks
	}
	return v
}

// failed returns an unknown value for an expression, with the marks of the values to which the expression refers.
func (s *scope) failed(e hclsyntax.Expression, why string, ctx *hcl.EvalContext) cty.Value {
	v := cty.DynamicVal
	if why != "" || len(ctx.Variables) == 0 {
		v = without(s.source(e.Range()), why)
	}
	for _, name := range slices.Sorted(maps.Keys(ctx.Variables)) {
		_, marks := ctx.Variables[name].UnmarkDeep()
		for m := range marks {
			if why == "" || m.(mark).why == "" {
				v = v.Mark(m)
			}
		}
	}
	return v
}

// source returns the text of a range on one line, for messages.
func (s *scope) source(r hcl.Range) string {
	return strings.Join(strings.Fields(string(r.SliceBytes(s.text[r.Filename]))), " ")
}

// A reference is a node in the tree of the names to which an expression refers. It has either a value or members.
type reference struct {
	value   cty.Value
	members map[string]*reference
}

func (r *reference) add(path []string, v cty.Value) {
	for _, name := range path {
		if r.members == nil {
			r.members = map[string]*reference{}
		}
		if r.members[name] == nil {
			r.members[name] = &reference{value: v}
		}
		r = r.members[name]
	}
	r.value = v
}

func (r *reference) object() cty.Value {
	if r.members == nil {
		return r.value
	}
	members := map[string]cty.Value{}
	for name, m := range r.members {
		members[name] = m.object()
	}
	return cty.ObjectVal(members)
}

// references returns the values to which an expression refers, by the first part of their names. The values of var.a
// and var.b are members of an object for var.
func (s *scope) references(e hclsyntax.Expression) map[string]cty.Value {
	root := &reference{}
	for _, t := range e.Variables() {
		names := []string{t.RootName()}
		for _, step := range t[1:] {
			key := cty.DynamicVal
			switch step := step.(type) {
			case hcl.TraverseAttr:
				key = cty.StringVal(step.Name)
			case hcl.TraverseIndex:
				key, _ = convert.Convert(step.Key, cty.String)
			}
			names = append(names, key.AsString())
		}
		n, v := s.refer(names, s.source(t.SourceRange()))
		root.add(names[:n], v)
	}

	all := map[string]cty.Value{}
	for name, r := range root.members {
		all[name] = r.object()
	}
	return all
}

// refer returns the value to which a path refers. n is the number of parts of the path that name the value; the other
// parts select a member of the value.
func (s *scope) refer(path []string, text string) (n int, v cty.Value) {
	if v, ok := s.own[path[0]]; ok {
		return 1, v
	}
	if len(path) == 1 {
		return 1, without(text, "")
	}

	switch name := path[1]; path[0] {
	case "var":
		v, ok := s.variables[name]
		if !ok {
			v = undeclared(name, cty.DynamicPseudoType, name)
		}
		return 2, v
	case "local":
		if e, ok := s.locals[name]; ok {
			return 2, s.once("local."+name, e)
		}
	case "path":
		if name == "module" {
			return 2, cty.StringVal(s.dir)
		}
		return 2, cty.StringVal(s.folder())
	case "terraform":
		return 2, cty.StringVal("default") // terraform.workspace
	}

	if b := s.resources[path[0]+"."+path[1]]; b != nil {
		for i := 2; i < min(4, len(path)); i++ { // an index may precede the name
			if a := b.Body.Attributes[path[i]]; a != nil {
				return i + 1, s.once(strings.Join([]string{path[0], path[1], path[i]}, "."), a.Expr)
			}
		}
	}
	m := mark{part: part{name: text}}
	switch {
	case path[0] == "data" && path[1] == "aws_region":
		m.standIn, m.legal = defaultRegion, true
	case path[0] == "data" && path[1] == "aws_caller_identity":
		m.standIn, m.legal = defaultAccount, true
	case isMadeUp(path[0]):
		m.standIn = legalName(path[1])
	}
	if m.standIn == "" {
		return len(path), m.value(cty.DynamicVal)
	}
	return len(path), m.value(cty.StringVal(m.standIn))
}

// once evaluates a local or an argument of a resource and caches its value.
func (s *scope) once(name string, e hclsyntax.Expression) cty.Value {
	if v, ok := s.known[name]; ok {
		return v
	}
	s.known[name] = without(name, place(e.Range())+": it refers to itself")
	outer := *s
	outer.own = nil
	if s.depth++; s.depth > maxDepth {
		why := fmt.Sprintf("%s: references nest more than %d deep", place(e.Range()), maxDepth)
		s.known[name] = without(name, why)
	} else {
		s.known[name] = outer.value(e)
	}
	s.depth--
	return s.known[name]
}

// undeclared returns a stand-in of type t for a variable without a value. give is the name by which a user can give
// the variable, or "" if a user cannot.
func undeclared(name string, t cty.Type, give string) cty.Value {
	m := mark{part: part{name: "var." + name, standIn: legalName(name), give: give}}
	v := cty.UnknownVal(t)
	switch {
	case t == cty.Number:
		m.standIn, m.legal, v = "1", true, cty.NumberIntVal(1)
	case t == cty.Bool:
		m.standIn, m.legal, v = "false", true, cty.False
	case t != cty.String && t != cty.DynamicPseudoType:
		m.standIn = ""
	case m.standIn != "":
		v = cty.StringVal(m.standIn)
	}
	return m.value(v)
}

// unresolved returns an unresolved value with the given stand-in, which depends on the parameters in marks.
func (s *scope) unresolved(marks cty.ValueMarks, standIn string) unresolved {
	u := unresolved{standIn: standIn, legal: true}
	all := make([]mark, 0, len(marks))
	for m := range marks {
		all = append(all, m.(mark))
	}
	slices.SortFunc(all, func(a, b mark) int { return strings.Compare(a.name, b.name) })

	var names []string
	for _, m := range all {
		if m.why != "" && u.why == "" {
			u.why, u.name = m.why, m.name
			continue
		}
		u.of = append(u.of, m.part)
		names = append(names, m.name)
		if strings.Contains(standIn, m.standIn) {
			u.legal = u.legal && m.legal
		}
	}
	if u.name == "" {
		u.name = strings.Join(names, " and ")
	}
	return u
}

// plain converts a value to maps, lists, strings and bools. A marked value becomes unresolved if it contains the
// stand-in of one of its marks. If it contains none, the unknown value only selected it, for example as a condition:
// plain then returns the value and adds a note.
func (s *scope) plain(v cty.Value) any {
	v, marks := v.Unmark()
	if !v.IsKnown() {
		return s.unresolved(marks, "")
	}

	if v.IsNull() || !v.CanIterateElements() {
		var out any
		text := ""
		switch {
		case v.IsNull():
		case v.Type() == cty.Bool:
			out, text = v.True(), fmt.Sprint(v.True())
		default:
			if t, err := convert.Convert(v, cty.String); err == nil {
				out, text = t.AsString(), t.AsString()
			}
		}
		for m := range marks {
			if m := m.(mark); m.standIn != "" && text != "" && strings.Contains(text, m.standIn) {
				return s.unresolved(marks, text)
			}
		}
		s.made(s.unresolved(marks, text))
		return out
	}

	object := map[string]any{}
	list := make([]any, 0, v.LengthInt())
	for it := v.ElementIterator(); it.Next(); {
		key, m := it.Element()
		inner := s.plain(m.WithMarks(marks))
		list = append(list, inner)
		if v.Type().IsObjectType() || v.Type().IsMapType() {
			object[key.AsString()] = inner
		}
	}
	if v.Type().IsObjectType() || v.Type().IsMapType() {
		return object
	}
	return list
}

// folder returns the folder that the user named, or the folder of the file that the user named.
func (in *input) folder() string {
	if filepath.Ext(in.path) == ".tf" {
		return filepath.Dir(in.path)
	}
	return in.path
}

// beside reads a file in or below the folder of the module, or in or below the folder that the user named. It refuses
// other files.
func (s *scope) beside(name string) ([]byte, error) {
	for dir, rel := range s.places(name) {
		data, err := readBelow(dir, rel)
		if err == nil || !os.IsNotExist(err) {
			return data, err
		}
	}
	return nil, fmt.Errorf("the folder %s, outside of which no files are read, has no file %s", s.dir, name)
}

// places yields the folders from which the module may read a file, with the file's name relative to each folder.
func (s *scope) places(name string) iter.Seq2[string, string] {
	return func(yield func(dir, rel string) bool) {
		for _, dir := range []string{s.dir, s.folder()} {
			rel := name
			const separator = string(filepath.Separator)
			if filepath.IsAbs(name) || strings.HasPrefix(name+separator, dir+separator) {
				rel, _ = filepath.Rel(dir, name)
			}
			if filepath.IsLocal(rel) && !yield(dir, rel) {
				return
			}
		}
	}
}

func readBelow(dir, name string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()

	info, err := root.Stat(name)
	if err == nil {
		err = files.Check(name, info, maxFile)
	}
	if err != nil {
		return nil, err
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFile))
}
