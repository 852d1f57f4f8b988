package tabledef

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/files"
)

// A file is a file of a Terraform module.
type file struct {
	name string
	data []byte
}

const tableType = "aws_dynamodb_table"

// moduleFiles reads the Terraform files of a folder.
func (in *input) moduleFiles(dir string) (list []file, err error) {
	for _, pattern := range []string{"*.tf", "terraform.tfvars", "*.auto.tfvars"} {
		paths, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			data, err := files.Read(path, maxFile)
			if err != nil {
				return nil, err
			}
			list = append(list, file{path, data})
		}
	}
	return list, nil
}

// A module is a Terraform module with the values of its variables.
type module struct {
	*scope
	declared  map[string]bool
	blocks    []*hclsyntax.Block // of tables and modules
	variables []*hclsyntax.Block
	given     []*hclsyntax.Body // values from .tfvars files, which replace defaults
}

// newModule reads the blocks of a module. If only is not "", it ignores tables and modules in other files than that.
func (in *input) newModule(dir string, files []file, only string) (*module, error) {
	m := &module{declared: map[string]bool{}, scope: &scope{
		input: in, dir: dir, variables: map[string]cty.Value{}, locals: map[string]hclsyntax.Expression{},
		known: map[string]cty.Value{}, resources: map[string]*hclsyntax.Block{},
	}}
	m.functions = m.withFiles()
	for _, f := range files {
		top, err := in.parse(f.name, f.data)
		if err != nil && only != "" && f.name != only {
			return nil, fmt.Errorf("%w (the .tf files of a folder are one module, so all are read)", err)
		}
		if err != nil {
			return nil, err
		}
		if strings.HasSuffix(f.name, ".tfvars") {
			m.given = append(m.given, top)
			continue
		}

		for _, b := range top.Blocks {
			switch {
			case is(b, "variable", 1):
				m.declared[b.Labels[0]] = true
				m.variables = append(m.variables, b)
			case is(b, "locals", 0):
				for name, a := range b.Body.Attributes {
					m.locals[name] = a.Expr
				}
			case is(b, "resource", 2):
				m.resources[b.Labels[0]+"."+b.Labels[1]] = b
			}
			if makes := is(b, "module", 1) || is(b, "resource", 2) && b.Labels[0] == tableType; makes &&
				(only == "" || f.name == only) {
				m.blocks = append(m.blocks, b)
			}
		}
	}
	return m, nil
}

func is(b *hclsyntax.Block, kind string, labels int) bool {
	return b.Type == kind && len(b.Labels) == labels
}

// setVariables sets the variables of a module. It takes the first value that exists: the text that a user gave, the
// value in a .tfvars file, the value in the block that calls the module, or the default. If there is none, the
// variable gets a stand-in.
func (m *module) setVariables(text Parameters, values map[string]cty.Value) {
	for _, b := range m.variables {
		name := b.Labels[0]
		t, defaults := cty.DynamicPseudoType, (*typeexpr.Defaults)(nil)
		if a := b.Body.Attributes["type"]; a != nil {
			t, defaults = typeOf(a.Expr)
		}
		v, ok := values[name]
		for _, top := range m.given {
			if a := top.Attributes[name]; a != nil {
				v, ok = m.value(a.Expr), true
			}
		}
		if given, has := text[name]; has {
			if v, ok = cty.StringVal(given), true; t != cty.String {
				v = m.literal(given)
			}
		}
		if a := b.Body.Attributes["default"]; a != nil && !ok {
			v, ok = m.value(a.Expr), true
		}
		if !ok {
			give := name
			if values != nil {
				give = "" // a user cannot give the variables of a called module
			}
			v = undeclared(name, t.WithoutOptionalAttributesDeep(), give)
		}
		m.scope.variables[name] = m.converted(b, v, t, defaults)
	}

	for name, value := range text {
		if _, ok := m.scope.variables[name]; !ok {
			m.scope.variables[name] = cty.StringVal(value)
		}
	}
	for _, top := range m.given {
		for name, a := range top.Attributes {
			if _, ok := m.scope.variables[name]; !ok {
				m.scope.variables[name] = m.value(a.Expr)
			}
		}
	}
}

// typeOf returns the declared type of a variable, and the defaults of its optional members.
func typeOf(e hclsyntax.Expression) (cty.Type, *typeexpr.Defaults) {
	switch hcl.ExprAsKeyword(e) {
	case "list":
		return cty.List(cty.DynamicPseudoType), nil
	case "map":
		return cty.Map(cty.DynamicPseudoType), nil
	}
	t, defaults, diags := typeexpr.TypeConstraintWithDefaults(e)
	if diags.HasErrors() {
		return cty.DynamicPseudoType, nil
	}
	return t, defaults
}

// converted converts the value of a variable to its declared type.
func (m *module) converted(b *hclsyntax.Block, v cty.Value, t cty.Type, defaults *typeexpr.Defaults) (out cty.Value) {
	fail := func(cause any) cty.Value {
		return without("var."+b.Labels[0], fmt.Sprintf("%s: %v", place(b.DefRange()), cause))
	}
	defer func() {
		if cause := recover(); cause != nil {
			out = fail(cause)
		}
	}()
	if defaults != nil && v.IsKnown() && !v.IsNull() {
		v = defaults.Apply(v)
	}
	v, err := convert.Convert(v, t)
	if err != nil {
		return fail(err)
	}
	return v
}

// literal evaluates a text such as ["a"] or true. Other text is a string.
func (m *module) literal(text string) cty.Value {
	if strings.ContainsAny(text, "[{") || text == "true" || text == "false" {
		if e, err := m.expression("NAME=VALUE", []byte(text)); err == nil {
			if v := m.value(e); v.IsWhollyKnown() {
				return v
			}
		}
	}
	return cty.StringVal(text)
}

// parseFileOf reads the tables in one file of a module. It also reads the other files of the module, because the file
// may refer to variables and locals in them.
func (in *input) parseFileOf(name string, data []byte) ([]*Schema, error) {
	list, err := in.moduleFiles(filepath.Dir(name))
	own := func(f file) bool { return filepath.Base(f.name) == filepath.Base(name) }
	if err != nil || !slices.ContainsFunc(list, own) {
		list = nil // the folder does not have the file, so its files belong to another module
	}
	list = append(slices.DeleteFunc(list, own), file{name, data})
	return in.parseTerraform(list, name)
}

// parseTerraform reads the tables of a module in Terraform's own language. If only is not "", it reads only the
// tables in that file.
func (in *input) parseTerraform(files []file, only string) (all []*Schema, err error) {
	m, err := in.newModule(filepath.Dir(files[0].name), files, only)
	if err != nil {
		return nil, err
	}
	if only == "" {
		if err := in.with.check(m.declared); err != nil {
			return nil, err
		}
	}
	m.setVariables(in.with, nil)
	all, err = m.tables("")
	if err == nil && all == nil {
		err = advice.New(
			"the tables of a module that it calls are in the output of terraform show -json", "there is no resource %s",
			tableType,
		)
	}
	return all, err
}

// tables returns the tables of a module and of the modules that it calls. prefix is the address of the module, which
// messages show.
func (m *module) tables(prefix string) (all []*Schema, err error) {
	for _, b := range m.blocks {
		what := prefix + strings.Join(b.Labels, ".")
		if b.Type == "module" {
			what = prefix + "module." + b.Labels[0]
		}
		instances, err := m.instances(what, b)
		if err != nil {
			return nil, err
		}
		for _, i := range instances {
			list, err := m.instance(i, b)
			if err != nil {
				return nil, err
			}
			all = append(all, list...)
		}
	}
	return all, nil
}

// An instance is one of the tables or modules that a block with count or for_each defines. Its scope has the value of
// count or each.
type instance struct {
	*scope
	what string
}

// instances expands the count or for_each of a block.
func (m *module) instances(what string, b *hclsyntax.Block) (all []instance, err error) {
	if a := b.Body.Attributes["for_each"]; a != nil {
		list, err := m.repeat(what, a.Expr)
		for _, x := range list {
			if x.value.Type() == cty.String && x.key.Type() == cty.Number {
				x.key = x.value // Terraform accepts a set here, in which each value is its own key
			}
			all = append(all, instance{m.with("each", x.object()), fmt.Sprintf("%s[%q]", what, x.label())})
		}
		return all, err
	}
	a := b.Body.Attributes["count"]
	if a == nil {
		return []instance{{m.scope, what}}, nil
	}

	v := m.value(a.Expr)
	text, _ := m.resolved(m.plain(v)).(string)
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n != math.Trunc(n) || n < 0 {
		return nil, m.unknownCount(what, "count", v)
	}
	if n > maxRepeated {
		return nil, tooMany(what, "count")
	}
	for i := range int(n) {
		own := cty.ObjectVal(map[string]cty.Value{"index": cty.NumberIntVal(int64(i))})
		all = append(all, instance{m.with("count", own), fmt.Sprintf("%s[%d]", what, i)})
	}
	return all, nil
}

// A member is an element of the collection in a for_each.
type member struct{ key, value cty.Value }

func (x member) object() cty.Value {
	return cty.ObjectVal(map[string]cty.Value{"key": x.key, "value": x.value})
}

func (x member) label() string {
	key, _ := x.key.Unmark()
	if text, err := convert.Convert(key, cty.String); err == nil && text.IsKnown() && !text.IsNull() {
		return text.AsString()
	}
	return "?"
}

// repeat evaluates a for_each and returns its elements.
func (s *scope) repeat(what string, e hclsyntax.Expression) (all []member, err error) {
	v, marks := s.value(e).Unmark()
	switch {
	case v.IsNull():
		return nil, nil
	case !v.IsKnown() || !v.CanIterateElements():
		return nil, s.unknownCount(what, "for_each", v.WithMarks(marks))
	case v.LengthInt() > maxRepeated:
		return nil, tooMany(what, "for_each")
	}
	for it := v.ElementIterator(); it.Next(); {
		key, m := it.Element()
		all = append(all, member{key.WithMarks(marks), m.WithMarks(marks)})
	}
	return all, nil
}

func (s *scope) unknownCount(what, by string, v cty.Value) error {
	u, ok := s.plain(v).(unresolved)
	hint := "load the output of terraform show -json, which has each table"
	if gives := u.gives(); len(gives) > 0 {
		hint = "give " + s.howTo(gives) + ", or " + hint
	}
	if !ok {
		return advice.New(hint, "%s is repeated with %s, which is not a number or a collection", what, by)
	}
	return advice.New(hint, "%s is repeated with %s, and %s", what, by, u.reason())
}

func tooMany(what, by string) error {
	return advice.New("load a file with fewer tables",
		"%s is repeated with %s more than %d times", what, by, maxRepeated)
}

// instance returns the tables of an instance of a resource or a module.
func (m *module) instance(i instance, b *hclsyntax.Block) ([]*Schema, error) {
	if err := m.block(i.what); err != nil {
		return nil, err
	}
	if b.Type == "module" {
		return m.call(i, b.Body)
	}
	arguments, err := i.values(i.what, b.Body)
	if err != nil {
		return nil, err
	}
	return m.table(i.what, arguments)
}

// table returns the table of a resource. It returns an error if the table has no name.
func (m *module) table(what string, arguments map[string]any) ([]*Schema, error) {
	s, err := m.finish(what, fromTerraform(arguments))
	if err != nil {
		return nil, err
	}
	if s.TableName == "" {
		return nil, advice.New("", "%s has no name", what)
	}
	return []*Schema{s}, nil
}

// tableModule is the public module with which most projects define tables.
const tableModule = "terraform-aws-modules/dynamodb-table/aws"

// call reads the tables of a module that another module calls: from a local folder, or from the arguments if it is
// tableModule. It skips any other module, with a note if the name or source suggests tables. A folder without
// Terraform files also gets a note.
func (m *module) call(i instance, b *hclsyntax.Body) ([]*Schema, error) {
	what, source := i.what, ""
	if a := b.Attributes["source"]; a != nil {
		source, _ = i.plain(i.value(a.Expr)).(string)
	}

	if strings.Contains(source, tableModule) ||
		strings.Contains(source, "terraform-aws-modules/terraform-aws-dynamodb-table") {
		arguments, err := i.values(what, b)
		if err != nil || m.resolved(arguments["create_table"]) == false {
			return nil, err
		}
		return m.table(what, fromTableModule(arguments))
	}

	dir := filepath.Join(m.dir, filepath.FromSlash(source))
	if !strings.HasPrefix(source, ".") || m.nesting >= maxNesting {
		if strings.Contains(strings.ToLower(source+what), "dynamo") || strings.Contains(what, "table") {
			m.note(Note{
				fmt.Sprintf("%s is not read: its source %s is not a folder beside it", what, source),
				"its tables are in the output of terraform show -json",
			})
		}
		return nil, nil
	}

	files, err := m.moduleFiles(dir)
	if err != nil || len(files) == 0 {
		m.note(Note{Text: fmt.Sprintf("%s is not read: the folder %s has no Terraform files", what, source)})
		return nil, err
	}

	files = slices.DeleteFunc(files, func(f file) bool { return strings.HasSuffix(f.name, ".tfvars") })
	inner := *m.input
	inner.nesting++
	called, err := inner.newModule(dir, files, "")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}

	arguments := map[string]cty.Value{}
	// sorted, because evaluating a value can add a note, and notes have an order
	for _, name := range slices.Sorted(maps.Keys(called.declared)) {
		if a := b.Attributes[name]; a != nil {
			arguments[name] = i.value(a.Expr)
		}
	}

	called.setVariables(nil, arguments)
	list, err := called.tables(what + ".")
	for _, n := range inner.notes {
		m.note(n)
	}
	return list, err
}

// fromTableModule converts the arguments of tableModule to the arguments of the resource in it.
func fromTableModule(v map[string]any) map[string]any {
	out := maps.Clone(v)
	if out["billing_mode"] == nil {
		out["billing_mode"] = "PAY_PER_REQUEST"
	}
	out["attribute"] = v["attributes"]
	out["global_secondary_index"] = v["global_secondary_indexes"]
	out["local_secondary_index"] = v["local_secondary_indexes"]
	if on := v["ttl_enabled"]; on != nil && on != false {
		out["ttl"] = []any{map[string]any{"attribute_name": v["ttl_attribute_name"], "enabled": on}}
	}
	return out
}

// beside are the arguments and blocks that do not affect a table's items.
var beside = []string{"tags", "provider", "providers", "depends_on", "lifecycle", "timeouts"}

// values returns the arguments and blocks of a resource in the form that terraform show -json writes: a block is a
// list of objects.
func (s *scope) values(what string, b *hclsyntax.Body) (map[string]any, error) {
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(b.Attributes)) {
		if !slices.Contains(beside, name) {
			out[name] = s.plain(s.value(b.Attributes[name].Expr))
		}
	}

	add := func(kind string, b *hclsyntax.Body, s *scope) error {
		values, err := s.values(what, b)
		list, _ := out[kind].([]any)
		out[kind] = append(list, values)
		return err
	}
	for _, inner := range b.Blocks {
		if slices.Contains(beside, inner.Type) {
			continue
		}
		if !is(inner, "dynamic", 1) {
			if err := add(inner.Type, inner.Body, s); err != nil {
				return nil, err
			}
			continue
		}
		if err := s.dynamic(what, inner, add); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// dynamic expands a dynamic block, and calls add for each block that results.
func (s *scope) dynamic(what string, b *hclsyntax.Block, add func(string, *hclsyntax.Body, *scope) error) error {
	kind := b.Labels[0]
	each := b.Body.Attributes["for_each"]
	if each == nil {
		return advice.New("add for_each", "%s: %s.%s has no for_each", place(b.DefRange()), what, kind)
	}
	list, err := s.repeat(what+"."+kind, each.Expr)
	if err != nil {
		return err
	}
	iterator := kind
	if a := b.Body.Attributes["iterator"]; a != nil && hcl.ExprAsKeyword(a.Expr) != "" {
		iterator = hcl.ExprAsKeyword(a.Expr)
	}
	for _, x := range list {
		for _, content := range b.Body.Blocks {
			if !is(content, "content", 0) {
				continue
			}
			if err := add(kind, content.Body, s.with(iterator, x.object())); err != nil {
				return err
			}
		}
	}
	return nil
}

// parseState reads the tables in the output of terraform show -json, which is a state or a plan.
func (in *input) parseState(root map[string]any) (all []*Schema, err error) {
	values, ok := root["planned_values"].(map[string]any)
	if !ok {
		values, _ = root["values"].(map[string]any)
	}

	var visit func(module map[string]any) error
	visit = func(module map[string]any) error {
		resources, _ := module["resources"].([]any)
		for _, r := range resources {
			r, _ := r.(map[string]any)
			values, _ := r["values"].(map[string]any)
			if r["type"] != tableType || r["mode"] == "data" || values == nil {
				continue
			}
			s, err := in.finish(fmt.Sprint(r["address"]), fromTerraform(values))
			if err != nil {
				return err
			}
			all = append(all, s)
		}
		children, _ := module["child_modules"].([]any)
		for _, c := range children {
			if c, ok := c.(map[string]any); ok {
				if err := visit(c); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if module, ok := values["root_module"].(map[string]any); ok {
		err = visit(module)
	}
	if err == nil && all == nil {
		err = advice.New("", "there is no resource %s", tableType)
	}
	return all, err
}

// fromTerraform converts the values of an aws_dynamodb_table resource to the members of a CreateTable request.
func fromTerraform(v map[string]any) map[string]any {
	key := keySchema(v["hash_key"], v["range_key"], v["key_schema"])
	request := map[string]any{
		"TableName": v["name"], "BillingMode": v["billing_mode"], "TableClass": v["table_class"],
		"DeletionProtectionEnabled": v["deletion_protection_enabled"],
		"KeySchema":                 key,
		"ProvisionedThroughput":     throughput(v),
	}
	if request["BillingMode"] == "PAY_PER_REQUEST" {
		delete(request, "ProvisionedThroughput")
	}

	var attributes []any
	for _, a := range blocks(v["attribute"]) {
		attributes = append(attributes, map[string]any{"AttributeName": a["name"], "AttributeType": a["type"]})
	}
	request["AttributeDefinitions"] = attributes
	if u, ok := v["attribute"].(unresolved); ok {
		request["AttributeDefinitions"] = u
	}

	for kind, member := range map[string]string{
		"global_secondary_index": "GlobalSecondaryIndexes", "local_secondary_index": "LocalSecondaryIndexes",
	} {
		var indexes []any
		for _, x := range blocks(v[kind]) {
			hash := x["hash_key"]
			if kind[0] == 'l' && len(key) > 0 { // a local index has the partition key of its table
				hash = key[0].(map[string]any)["AttributeName"]
			}
			projection := map[string]any{"ProjectionType": x["projection_type"]}
			if list, ok := x["non_key_attributes"].([]any); ok && len(list) > 0 {
				projection["NonKeyAttributes"] = list
			} else if u, ok := x["non_key_attributes"].(unresolved); ok {
				projection["NonKeyAttributes"] = u
			}
			index := map[string]any{
				"IndexName": x["name"], "KeySchema": keySchema(hash, x["range_key"], x["key_schema"]),
				"Projection": projection,
			}
			if kind[0] == 'g' && request["ProvisionedThroughput"] != nil {
				index["ProvisionedThroughput"] = throughput(x)
			}
			indexes = append(indexes, index)
		}
		if indexes != nil {
			request[member] = indexes
		}
		if u, ok := v[kind].(unresolved); ok {
			request[member] = u
		}
	}

	if on := v["stream_enabled"]; on != nil && on != false && on != "false" {
		request["StreamSpecification"] = map[string]any{"StreamEnabled": on, "StreamViewType": v["stream_view_type"]}
	}
	for _, ttl := range blocks(v["ttl"]) {
		on := ttl["enabled"]
		if on == nil {
			on = true // time to live is on by default since version 5 of the provider
		}
		request["TimeToLiveSpecification"] = map[string]any{"AttributeName": ttl["attribute_name"], "Enabled": on}
	}
	return request
}

// blocks returns the objects in a list, and skips other members.
func blocks(v any) (all []map[string]any) {
	list, _ := v.([]any)
	for _, m := range list {
		if m, ok := m.(map[string]any); ok {
			all = append(all, m)
		}
	}
	return all
}

func throughput(v map[string]any) any {
	if v["read_capacity"] == nil && v["write_capacity"] == nil {
		return nil
	}
	return map[string]any{"ReadCapacityUnits": v["read_capacity"], "WriteCapacityUnits": v["write_capacity"]}
}

// keySchema returns a key schema from the names of the partition key and the sort key, or from blocks that list both.
func keySchema(hash, sort, list any) (all []any) {
	element := func(name, role any) {
		if name != nil && name != "" {
			all = append(all, map[string]any{"AttributeName": name, "KeyType": role})
		}
	}
	if own := blocks(list); len(own) > 0 {
		for _, role := range []string{"HASH", "RANGE"} {
			for _, k := range own {
				_, unknown := k["key_type"].(unresolved)
				if k["key_type"] == role || unknown && role == "HASH" {
					element(k["attribute_name"], k["key_type"])
				}
			}
		}
		return all
	}
	element(hash, "HASH")
	element(sort, "RANGE")
	return slices.Clip(all)
}
