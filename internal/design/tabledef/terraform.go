package tabledef

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/internal/design/advice"
)

// A file is a file of a Terraform module.
type file struct {
	name string
	data []byte
}

const tableType = "aws_dynamodb_table"

// readModule reads the tables of a folder with Terraform files.
func (in *input) readModule(dir string) ([]*Schema, error) {
	files, err := moduleFiles(dir)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: the folder has no Terraform files", dir)
	}
	list, err := in.parseTerraform(files, true)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return list, nil
}

// moduleFiles returns the files of a module.
func moduleFiles(dir string) (files []file, err error) {
	for _, pattern := range []string{"*.tf", "terraform.tfvars", "*.auto.tfvars"} {
		paths, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			data, err := readRegular(path)
			if err != nil {
				return nil, err
			}
			files = append(files, file{path, data})
		}
	}
	return files, nil
}

// A module is a Terraform module with the values of its variables.
type module struct {
	*scope
	declared  map[string]bool
	blocks    []*block // of tables and modules
	variables []*block
	given     []*body // values of variables, which replace the defaults
}

// newModule reads the blocks of a module.
func (in *input) newModule(dir string, files []file) (*module, error) {
	m := &module{declared: map[string]bool{}, scope: &scope{
		input: in, dir: dir, variables: map[string]any{}, locals: map[string]expression{}, known: map[string]any{},
		resources: map[string]*block{}, left: new(int),
	}}
	*m.left = maxNodes
	for _, f := range files {
		top, err := parseHCL(string(f.data))
		if err != nil {
			return nil, fmt.Errorf("%s:%w", filepath.Base(f.name), err)
		}
		if strings.HasSuffix(f.name, ".tfvars") {
			m.given = append(m.given, top)
			continue
		}
		for _, b := range top.blocks {
			switch {
			case b.is("variable", 1):
				m.declared[b.labels[0]] = true
				m.variables = append(m.variables, b)
			case b.is("locals", 0):
				maps.Copy(m.locals, b.body.attributes)
			case b.is("module", 1):
				m.blocks = append(m.blocks, b)
			case b.is("resource", 2):
				m.resources[b.labels[0]+"."+b.labels[1]] = b
				if b.labels[0] == tableType {
					m.blocks = append(m.blocks, b)
				}
			}
		}
	}
	return m, nil
}

// addSiblings adds what the other files of a module declare, but not their tables. Files
// that are malformed are left out.
func (m *module) addSiblings(name string) {
	files, err := moduleFiles(m.dir)
	if err != nil || !slices.ContainsFunc(files, func(f file) bool { return filepath.Base(f.name) == filepath.Base(name) }) {
		return // the text is not from this folder
	}
	for _, f := range files {
		other, err := m.newModule(m.dir, []file{f})
		if err != nil || filepath.Base(f.name) == filepath.Base(name) {
			continue
		}
		m.variables, m.given = append(m.variables, other.variables...), append(m.given, other.given...)
		maps.Copy(m.locals, other.locals)
		maps.Copy(m.resources, other.resources)
	}
}

// setVariables sets the variables of a module: to what is given, as text or as values of a
// module's block, or to their defaults.
func (m *module) setVariables(text Parameters, values map[string]any) {
	for _, b := range m.variables {
		name, t := b.labels[0], &typed{}
		if e, ok := b.body.attributes["type"]; ok {
			t = m.typeOf(e)
		}
		v, ok := values[name]
		for _, top := range m.given {
			if e, has := top.attributes[name]; has {
				v, ok = m.value(e), true
			}
		}
		if given, has := text[name]; has {
			if v, ok = given, true; !t.text {
				v = m.literal(given)
			}
		}
		if e, has := b.body.attributes["default"]; has && !ok {
			v, ok = m.value(e), true
		}
		if !ok {
			u := missing("var."+name, name, name)
			if _, has := b.body.attributes["type"]; has && !t.text {
				u.standIn = "" // a list or an object
			}
			switch {
			case t.number:
				u.standIn, u.legal = "1", true
			case t.boolean:
				u.standIn, u.legal = "false", true
			}
			give := name
			if text == nil {
				give = "" // of a module that another one calls
			}
			v = u.from(give)
		}
		m.scope.variables[name] = t.apply(v)
	}
	for name, value := range text {
		if _, ok := m.scope.variables[name]; !ok {
			m.scope.variables[name] = value
		}
	}
	for _, top := range m.given {
		for name, e := range top.attributes {
			if _, ok := m.scope.variables[name]; !ok {
				m.scope.variables[name] = m.value(e)
			}
		}
	}
}

// literal returns the value of a text such as ["a"], or the text.
func (m *module) literal(text string) any {
	if !strings.ContainsAny(text, "[{") && text != "true" && text != "false" {
		return text
	}
	tokens, err := lexHCL(text)
	if err != nil {
		return text
	}
	if v := m.value(tokens[:len(tokens)-1]); !isUnresolved(v) {
		return v
	}
	return text
}

func isUnresolved(v any) bool {
	_, ok := v.(unresolved)
	return ok
}

// parseTerraform reads the tables of a module in Terraform's own language. Unless the
// files are the whole module, others may declare variables.
func (in *input) parseTerraform(files []file, whole bool) (all []*Schema, err error) {
	m, err := in.newModule(filepath.Dir(files[0].name), files)
	if err != nil {
		return nil, err
	}
	if !whole {
		m.addSiblings(files[0].name)
	}
	if whole {
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

// tables returns the tables of a module and of those that it calls. Prefix is the address
// of the module.
func (m *module) tables(prefix string) (all []*Schema, err error) {
	for _, b := range m.blocks {
		what := prefix + strings.Join(b.labels, ".")
		if b.kind == "module" {
			what = prefix + "module." + b.labels[0]
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

// An instance is one of the tables or modules that a block makes.
type instance struct {
	*scope
	what string
}

// instances returns what a block makes by its count or for_each.
func (m *module) instances(what string, b *block) (all []instance, err error) {
	if e, ok := b.body.attributes["for_each"]; ok {
		list, err := m.repeat(what, e)
		for _, x := range list {
			own := map[string]any{"each": map[string]any{"key": x.key, "value": x.value}}
			all = append(all, instance{m.with(own), fmt.Sprintf("%s[%q]", what, x.key)})
		}
		return all, err
	}
	e, ok := b.body.attributes["count"]
	if !ok {
		return []instance{{m.scope, what}}, nil
	}
	v := m.settled(m.value(e))
	n, ok := numberOf(v)
	if !ok || n > maxRepeated {
		return nil, m.unknownCount(what, "count", v)
	}
	for i := range int(n) {
		own := map[string]any{"count": map[string]any{"index": strconv.Itoa(i)}}
		all = append(all, instance{m.with(own), fmt.Sprintf("%s[%d]", what, i)})
	}
	return all, nil
}

// repeat evaluates a for_each. The keys of a set are its values.
func (s *scope) repeat(what string, e expression) ([]member, error) {
	v := s.value(e)
	list, ok := s.collection(v)
	if !ok || len(list) > maxRepeated {
		return nil, s.unknownCount(what, "for_each", v)
	}
	for i, x := range list {
		if isList(v) {
			list[i].key = fmt.Sprint(standIn(x.value))
		}
	}
	return list, nil
}

func (s *scope) unknownCount(what, by string, v any) error {
	u, _ := v.(unresolved)
	hint := "load the output of terraform show -json, which has each table"
	if gives := u.gives(); len(gives) > 0 {
		hint = "give " + s.howTo(gives) + ", or " + hint
	}
	if u.name == "" {
		u.name = fmt.Sprint(v)
	}
	return advice.New(hint, "%s is repeated with %s, and the value of %s is unknown", what, by, u.name)
}

// instance returns the tables of a resource or of a module.
func (m *module) instance(i instance, b *block) ([]*Schema, error) {
	arguments, err := i.values(i.what, b.body)
	if err != nil {
		return nil, err
	}
	if b.kind == "module" {
		return m.call(i.what, arguments)
	}
	return m.table(i.what, arguments)
}

// table returns the table of a resource.
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

// tableModule is the module for tables that most projects use.
const tableModule = "terraform-aws-modules/dynamodb-table/aws"

// call reads the tables of a module that another one calls: of a folder beside it, or of
// the module for tables.
func (m *module) call(what string, arguments map[string]any) ([]*Schema, error) {
	source, _ := arguments["source"].(string)
	if strings.Contains(source, tableModule) || strings.Contains(source, "terraform-aws-modules/terraform-aws-dynamodb-table") {
		if m.settled(arguments["create_table"]) == false {
			return nil, nil
		}
		return m.table(what, fromTableModule(arguments))
	}
	dir := m.beside(filepath.FromSlash(source))
	if !strings.HasPrefix(source, ".") || m.nesting >= maxNesting {
		if strings.Contains(strings.ToLower(source+what), "dynamo") || strings.Contains(what, "table") {
			m.note(Note{
				fmt.Sprintf("%s is not read: its source %s is not a folder beside it", what, source),
				"its tables are in the output of terraform show -json",
			})
		}
		return nil, nil
	}
	files, err := moduleFiles(dir)
	if err != nil || len(files) == 0 {
		m.note(Note{Text: fmt.Sprintf("%s is not read: the folder %s has no Terraform files", what, source)})
		return nil, err
	}
	files = slices.DeleteFunc(files, func(f file) bool { return strings.HasSuffix(f.name, ".tfvars") })
	inner := *m.input
	inner.nesting++
	called, err := inner.newModule(dir, files)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	called.left = m.left
	called.setVariables(nil, arguments)
	list, err := called.tables(what + ".")
	for _, n := range inner.notes {
		m.note(n)
	}
	return list, err
}

// fromTableModule returns the arguments of the resource that the module for tables makes.
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

// values returns the arguments and blocks of a resource as terraform show -json
// would: blocks are lists of objects.
func (s *scope) values(what string, b *body) (map[string]any, error) {
	out := map[string]any{}
	for name, e := range b.attributes {
		out[name] = s.value(e)
	}
	add := func(kind string, values map[string]any) {
		list, _ := out[kind].([]any)
		out[kind] = append(list, values)
	}
	for _, inner := range b.blocks {
		if !inner.is("dynamic", 1) {
			values, err := s.values(what, inner.body)
			if err != nil {
				return nil, err
			}
			add(inner.kind, values)
			continue
		}
		kind := inner.labels[0]
		list, err := s.repeat(what+"."+kind, inner.body.attributes["for_each"])
		if err != nil {
			return nil, err
		}
		iterator := kind
		if e := inner.body.attributes["iterator"]; len(e) > 0 {
			iterator = e[0].text
		}
		for _, x := range list {
			own := s.with(map[string]any{iterator: map[string]any{"key": x.key, "value": x.value}})
			for _, content := range inner.body.blocks {
				if !content.is("content", 0) {
					continue
				}
				values, err := own.values(what, content.body)
				if err != nil {
					return nil, err
				}
				add(kind, values)
			}
		}
	}
	return out, nil
}

// parseState reads the output of terraform show -json for a state or a plan.
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

// fromTerraform returns the members of a CreateTable request for the values of a
// resource aws_dynamodb_table.
func fromTerraform(v map[string]any) map[string]any {
	request := map[string]any{
		"TableName": v["name"], "BillingMode": v["billing_mode"], "TableClass": v["table_class"],
		"DeletionProtectionEnabled": v["deletion_protection_enabled"],
		"KeySchema":                 keySchema(v["hash_key"], v["range_key"], v["key_schema"]),
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
	for kind, member := range map[string]string{"global_secondary_index": "GlobalSecondaryIndexes", "local_secondary_index": "LocalSecondaryIndexes"} {
		var indexes []any
		for _, x := range blocks(v[kind]) {
			hash := x["hash_key"]
			if kind[0] == 'l' {
				hash = v["hash_key"]
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
			on = true // since version 5 of the provider
		}
		request["TimeToLiveSpecification"] = map[string]any{"AttributeName": ttl["attribute_name"], "Enabled": on}
	}
	return request
}

// blocks returns the objects of a list.
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

// keySchema returns a key of one or two attributes, or of those in blocks of their
// own.
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
