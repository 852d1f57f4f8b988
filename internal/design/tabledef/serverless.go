package tabledef

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/files"
)

// This file reads the tables of a service of the Serverless Framework: serverless.yml with its variables, and the
// files that it names. The resources of a service are a CloudFormation template.
//
// Source: https://www.serverless.com/framework/docs, guides/variables, guides/parameters and
// providers/aws/guide/resources.

// A service is the state of reading a serverless.yml.
type service struct {
	*input
	root   map[string]any
	files  map[string]any   // cached values of files, by path
	absent map[string]error // errors about files that do not exist, by path
	asked  map[string]bool  // variables that were looked up
	err    error            // the error about the first file that cannot be read
	depth  int              // number of values that contain the current one
}

// isService reports whether a file looks like a serverless.yml.
func isService(root map[string]any) bool {
	return root["service"] != nil && (root["provider"] != nil || root["resources"] != nil) ||
		root["provider"] != nil && (root["functions"] != nil || root["resources"] != nil)
}

// parseService reads the tables in the resources of a service.
func (in *input) parseService(root map[string]any) ([]*Schema, error) {
	s := &service{
		input: in, root: root, files: map[string]any{}, absent: map[string]error{}, asked: map[string]bool{},
	}
	merged := map[string]any{}
	s.collect("resources", merged, s.value(root["resources"]))
	if s.err != nil {
		return nil, s.err
	}
	if object(merged["Resources"]) == nil {
		hint := ""
		if len(in.notes) > 0 {
			hint = in.notes[0].String()
		}
		return nil, advice.New(hint, "the service has no resources")
	}
	values := pseudoParameters()
	values["AWS::Region"], values["AWS::StackName"] = s.setting("region"), s.stackName()
	list, err := in.tables(merged, values)
	if err != nil {
		return nil, err
	}
	return list, s.checkParameters(object(merged["Parameters"]))
}

// sections are the sections of a template that can affect tables.
var sections = []string{"Resources", "Parameters", "Conditions", "Mappings"}

// collect merges the sections of v into the template merged. v may be a list, and so may each section.
func (s *service) collect(place string, merged map[string]any, v any) {
	s.each(place, v, 0, func(place string, v map[string]any) {
		for _, name := range sections {
			section := object(merged[name])
			if section == nil {
				section = map[string]any{}
			}
			s.each(place+"."+name, v[name], 0, func(place string, v map[string]any) {
				for _, name := range slices.Sorted(maps.Keys(v)) {
					if u, ok := v[name].(unresolved); ok {
						s.skip(place+"."+name, u)
						continue
					}
					section[name] = v[name]
				}
			})
			if len(section) > 0 {
				merged[name] = section
			}
		}
	})
}

// each calls f for an object, or for each object in a list.
func (s *service) each(place string, v any, depth int, f func(place string, v map[string]any)) {
	switch v := v.(type) {
	case []any:
		for i, v := range v {
			if depth < maxDepth {
				s.each(fmt.Sprintf("%s[%d]", place, i), v, depth+1, f)
			}
		}
	case unresolved:
		s.skip(place, v)
	case map[string]any:
		f(place, v)
	}
}

// skip notes that the service does not read a part of the resources, because the value of that part is unresolved.
func (s *service) skip(place string, u unresolved) {
	if form := formOf(strings.TrimSuffix(strings.TrimPrefix(u.name, "${"), "}")); form != nil {
		if err := s.absent[fileName(form[2])]; err != nil {
			s.fail(fmt.Errorf("%s: %w", place, err))
		}
	}
	s.note(Note{
		fmt.Sprintf("%s is not read: the value of %s is unknown", place, u.name), "if it has tables, load " + compiled,
	})
}

// compiled names the file with the template that the framework makes of a service, for advice.
const compiled = ".serverless/cloudformation-template-update-stack.json, which serverless package writes"

// defaults are the framework's defaults of the provider's settings.
var defaults = map[string]string{"stage": "dev", "region": defaultRegion}

// setting returns the stage or the region of the deployment. Like the framework, it takes the parameter of that name,
// then the provider's setting, and then the default.
func (s *service) setting(name string) string {
	if v, ok := s.with[name]; ok {
		return v
	}
	v, _ := s.self("provider." + name)
	if text, ok := v.(string); ok {
		return text
	}
	return defaults[name]
}

func (s *service) stackName() any {
	if name, ok := s.self("provider.stackName"); ok {
		return name
	}
	name, _ := s.self("service")
	return join([]any{name, s.setting("stage")}, "-")
}

// checkParameters returns an error for a parameter that the service does not use.
func (s *service) checkParameters(declared map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(s.with)) {
		_, known := declared[name]
		for _, v := range []string{name, "opt:" + name, "param:" + name} {
			known = known || s.asked[v] || mentions(s.root, "${"+v, maxDepth)
		}
		if !known && !strings.HasPrefix(name, "AWS::") {
			hint := "the resources have no variables"
			if len(s.asked) > 0 {
				hint = "the variables in the resources are " + strings.Join(slices.Sorted(maps.Keys(s.asked)), ", ")
			}
			return advice.New(hint, "unknown parameter %s", name)
		}
	}
	return nil
}

// mentions reports whether any text in v contains the text variable. It looks depth levels deep.
func mentions(v any, variable string, depth int) bool {
	if depth == 0 {
		return false
	}
	switch v := v.(type) {
	case string:
		return strings.Contains(v, variable)
	case []any:
		return slices.ContainsFunc(v, func(v any) bool { return mentions(v, variable, depth-1) })
	case map[string]any:
		for _, v := range v {
			if mentions(v, variable, depth-1) {
				return true
			}
		}
	}
	return false
}

// value evaluates the variables in a value. A text becomes unresolved if one of its variables has no value.
func (s *service) value(v any) any {
	if s.values--; s.values < 0 {
		s.fail(errValues)
	}
	if s.values < 0 || s.depth > maxDepth {
		return unresolved{name: "a variable that refers to itself"}
	}

	s.depth++
	defer func() { s.depth-- }()
	switch v := v.(type) {
	case string:
		return s.text(v)
	case []any:
		out := make([]any, len(v))
		for i, m := range v {
			out[i] = s.value(m)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) { // sorted, because the order of evaluation shows in errors
			out[name] = s.value(v[name])
		}
		return out
	}
	return v
}

// text evaluates the variables in a text. If the text is a single variable, text returns the value of the variable,
// which can have any type. It does not change what CloudFormation evaluates later, such as ${AWS::Region}.
func (s *service) text(src string) any {
	var parts []any
	for {
		before, rest, found := strings.Cut(src, "${")
		if before != "" {
			parts = append(parts, before)
		}
		if !found {
			break
		}

		end := endOfVariable(rest)
		if end < 0 {
			parts = append(parts, "${"+rest)
			break
		}

		inner := rest[:end]
		src = rest[end+1:]
		v, ok := s.variable(inner)
		if !ok {
			v = "${" + inner + "}"
		}
		if len(parts) == 0 && src == "" {
			return v
		}
		parts = append(parts, v)
	}
	return join(parts, "")
}

// endOfVariable returns the offset in s of the brace that closes a variable, or -1. s begins after "${".
func endOfVariable(s string) int {
	open := 1
	for i := 0; i < len(s); i++ {
		switch {
		case strings.HasPrefix(s[i:], "${"):
			open++
		case s[i] == '}':
			if open--; open == 0 {
				return i
			}
		}
	}
	return -1
}

var (
	// variableForm matches a variable: a type, arguments and an address, as in file(x.yml):a.b or opt:stage.
	variableForm = regexp.MustCompile(`(?s)^([a-zA-Z][\w-]*)(?:\((.*?)\))?(?::([^:].*|))?$`)
	numberForm   = regexp.MustCompile(`^-?\d+(\.\d+)?$`)
)

// formOf returns the submatches of variableForm, or nil if the text is not a variable of the framework. A plain name
// such as TableName is none: CloudFormation evaluates it.
func formOf(text string) []string {
	if !strings.ContainsAny(text, ":(") {
		return nil
	}
	return variableForm.FindStringSubmatch(text)
}

// variable evaluates the text between ${ and }, which is a variable with its fallbacks. It returns false if the text
// is not a variable of the framework.
func (s *service) variable(inner string) (v any, ok bool) {
	list := fallbacks(inner)
	if !strings.HasPrefix(list[0], "${") && formOf(list[0]) == nil {
		return nil, false
	}
	var first any
	for i, source := range list {
		v, ok := s.source(source)
		if ok {
			return v, true
		}
		if i == 0 {
			first = v
		}
	}
	return first, true
}

// fallbacks splits a variable at its commas, except those inside brackets, quotes or nested variables.
func fallbacks(inner string) (list []string) {
	depth, from, quote := 0, 0, byte(0)
	for i := range len(inner) {
		c := inner[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '{' || c == '(':
			depth++
		case c == '}' || c == ')':
			depth--
		case c == ',' && depth == 0:
			list = append(list, strings.TrimSpace(inner[from:i]))
			from = i + 1
		}
	}
	return append(list, strings.TrimSpace(inner[from:]))
}

// source evaluates a literal, or a variable without fallbacks. If there is no value, it returns false, and v is nil
// or unresolved.
func (s *service) source(src string) (v any, ok bool) {
	if n := len(src); n >= 2 && (src[0] == '\'' || src[0] == '"') && src[n-1] == src[0] {
		return s.text(src[1 : n-1]), true
	}

	resolved := s.value(src)
	text, isText := resolved.(string)
	if u, ok := resolved.(unresolved); ok {
		if u.standIn == "" || strings.HasPrefix(src, "${") {
			return u, false
		}
		text, isText = u.standIn, true // the variable is part of an address, as in self:custom.${opt:stage}
	}
	if !isText || strings.HasPrefix(src, "${") && endOfVariable(src[2:]) == len(src)-3 {
		return resolved, resolved != nil
	}

	switch {
	case text == "true" || text == "false":
		return text == "true", true
	case text == "null" || text == "":
		return nil, false
	case numberForm.MatchString(text):
		return text, true
	}

	form := formOf(text)
	if form == nil {
		return text, true
	}
	return s.lookup(form[1], strings.TrimSpace(form[2]), strings.TrimSpace(form[3]))
}

// lookup returns the value of a variable. It prefers a value that the user gave.
func (s *service) lookup(kind, args, address string) (v any, ok bool) {
	name := kind + ":" + address
	if args != "" {
		name = kind + "(" + args + ")"
		if address != "" {
			name += ":" + address
		}
	}

	s.asked[name] = true
	if given, ok := s.with[name]; ok {
		return given, true
	}
	give, standIn := name, address
	switch kind {
	case "self":
		v, ok = s.self(address)
	case "file":
		v, ok = s.file(args, address)
	case "opt":
		give, standIn = address, cmp.Or(defaults[address], address)
		v, ok = s.with[address]
	case "param":
		give = address
		v, ok = s.param(address)
	case "sls":
		if address == "stage" {
			s.asked["opt:stage"] = true
			v, ok = s.setting(address), true
		}
	case "aws":
		switch address {
		case "region":
			v, ok = s.setting(address), true
		case "accountId":
			give, standIn = "AWS::AccountId", defaultAccount
			v, ok = s.with[give]
		}
	case "strToBool":
		yes, err := strconv.ParseBool(fmt.Sprint(s.text(args)))
		v, ok = yes, err == nil
	}

	if u, unknown := v.(unresolved); unknown {
		return u, false
	}
	if ok && v != nil {
		return v, true
	}

	u := missing("${"+name+"}", standIn, give)
	u.legal = slices.Contains([]string{defaults["stage"], defaultRegion, defaultAccount}, standIn)
	return u, false
}

// param returns the value of ${param:name}. It prefers a value that the user gave, then the parameter of the stage,
// then the default.
func (s *service) param(name string) (any, bool) {
	if v, ok := s.with[name]; ok {
		return v, true
	}
	for _, stage := range []string{s.setting("stage"), "default"} {
		for _, at := range [][]string{{"params", stage, name}, {"stages", stage, "params", name}} {
			if v, ok := s.descend(s.root, at); ok && v != nil {
				return v, true
			}
		}
	}
	return nil, false
}

// self returns the value at an address in serverless.yml, such as custom.table.name.
func (s *service) self(address string) (any, bool) {
	var at []string
	if address != "" {
		at = strings.Split(address, ".")
	}
	v, ok := s.descend(s.root, at)
	if m := object(v); address == "service" && m != nil {
		v = m["name"]
	}
	if setting, of := strings.CutPrefix(address, "provider."); of && !ok && defaults[setting] != "" {
		return defaults[setting], true
	}
	return v, ok
}

// descend returns the value at a path of names below v.
func (s *service) descend(v any, at []string) (any, bool) {
	for _, name := range at {
		if text, ok := v.(string); ok {
			v = s.value(text)
		}
		switch m := v.(type) {
		case unresolved:
			return m, true
		case map[string]any:
			inner, ok := m[name]
			if !ok {
				return nil, false
			}
			v = inner
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(m) {
				return nil, false
			}
			v = m[i]
		default:
			return nil, false
		}
	}
	return s.value(v), true
}

// fileName returns the file name in the argument of a variable such as ${file(x.yml)}.
func fileName(arg string) string { return strings.Trim(arg, `'" `) }

// maxFile limits the bytes of a file that a service names.
const maxFile = 16 << 20

// file returns the value of a file, or the value at an address in the file. A file that only Node.js can evaluate has
// no value.
func (s *service) file(name, address string) (any, bool) {
	name = fileName(name)
	switch filepath.Ext(name) {
	case ".js", ".cjs", ".mjs", ".ts":
		return nil, false
	}

	v, read := s.files[name]
	if !read {
		data, err := files.Read(filepath.Join(filepath.Dir(s.path), name), maxFile)
		switch {
		case os.IsNotExist(err):
			s.absent[name] = err
		case err != nil:
			s.fail(err)
		case json.Valid(data):
			_ = json.Unmarshal(data, &v)
		case slices.Contains([]string{".yml", ".yaml", ".json"}, filepath.Ext(name)):
			if v = parseYAML(data); v == nil {
				s.fail(fmt.Errorf("%s: the file is malformed", name))
			}
		default:
			v = string(data)
		}
		s.files[name] = v
	}
	if v == nil {
		return nil, false
	}

	var at []string
	if address != "" {
		at = strings.Split(address, ".")
	}
	return s.descend(v, at)
}

// fail keeps the first error.
func (s *service) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}
