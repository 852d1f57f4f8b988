package tabledef

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/advice"
)

// A file is a file of a Terraform module.
type file struct {
	name string
	data []byte
}

const tableType = "aws_dynamodb_table"

// readModule reads the tables of a folder with Terraform files.
func (in *input) readModule(dir string) ([]*Schema, error) {
	var files []file
	for _, pattern := range []string{"*.tf", "terraform.tfvars", "*.auto.tfvars"} {
		paths, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			files = append(files, file{path, data})
		}
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

// parseTerraform reads the tables of a module in Terraform's own language. Unless the
// files are the whole module, others may declare variables.
func (in *input) parseTerraform(files []file, whole bool) (all []*Schema, err error) {
	declared := map[string]bool{}
	values := &scope{variables: map[string]any{}, locals: map[string]expression{}}
	var tables []*block
	var given []*body // values of variables, which replace the defaults
	for _, f := range files {
		top, err := parseHCL(string(f.data))
		if err != nil {
			return nil, fmt.Errorf("%s:%w", filepath.Base(f.name), err)
		}
		if strings.HasSuffix(f.name, ".tfvars") {
			given = append(given, top)
			continue
		}
		for _, b := range top.blocks {
			switch {
			case b.is("variable", 1):
				declared[b.labels[0]] = true
				if e, ok := b.body.attributes["default"]; ok {
					values.variables[b.labels[0]] = values.value(e)
				}
			case b.is("locals", 0):
				maps.Copy(values.locals, b.body.attributes)
			case b.is("resource", 2) && b.labels[0] == tableType:
				tables = append(tables, b)
			}
		}
	}
	for _, top := range given {
		for name, e := range top.attributes {
			values.variables[name] = values.value(e)
		}
	}
	if whole {
		if err := in.with.check(declared); err != nil {
			return nil, err
		}
	}
	for name, value := range in.with {
		values.variables[name] = value
	}
	for _, b := range tables {
		what := tableType + "." + b.labels[1]
		switch {
		case b.body.attributes["for_each"] != nil:
			return nil, repeated(what, "for_each")
		case b.body.attributes["count"] != nil:
			switch values.value(b.body.attributes["count"]) {
			case "0":
				continue
			case "1":
			default:
				return nil, repeated(what, "count")
			}
		}
		arguments, err := values.values(what, b.body)
		if err != nil {
			return nil, err
		}
		s, err := in.finish(what, fromTerraform(arguments))
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	if all == nil {
		return nil, advice.New(
			"the tables of a module that it calls are in the output of terraform show -json", "there is no resource %s",
			tableType,
		)
	}
	return all, nil
}

func repeated(what, by string) error {
	return advice.New(
		"load the output of terraform show -json, which has each table",
		"%s is repeated with %s, which only Terraform can evaluate", what, by,
	)
}

// values returns the arguments and blocks of a resource as terraform show -json
// would: blocks are lists of objects.
func (s *scope) values(what string, b *body) (map[string]any, error) {
	out := map[string]any{}
	for name, e := range b.attributes {
		out[name] = s.value(e)
	}
	for _, inner := range b.blocks {
		if inner.kind == "dynamic" {
			return nil, repeated(what, "dynamic blocks")
		}
		values, err := s.values(what, inner.body)
		if err != nil {
			return nil, err
		}
		list, _ := out[inner.kind].([]any)
		out[inner.kind] = append(list, values)
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
