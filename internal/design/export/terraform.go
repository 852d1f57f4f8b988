package export

import (
	"strings"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/sortkey/sortkey/internal/design/model"
)

// terraform writes a resource for each table. A partition key or sort key of an index can have several attributes.
// For such an index, the resource has a key_schema block for each attribute.
func terraform(m *model.Model) ([]byte, error) {
	f := hclwrite.NewEmptyFile()
	names := identifiers{}
	for _, t := range m.Tables {
		id := names.add(strings.ToLower(strings.Join(words(t.Name), "_")), "table")
		f.Body().AppendNewline()
		resource(f.Body().AppendNewBlock("resource", []string{"aws_dynamodb_table", id}).Body(), t)
	}
	return hclwrite.Format(f.Bytes()), nil
}

func resource(r *hclwrite.Body, t *model.Table) {
	set(r, "name", t.Name, "billing_mode", "PAY_PER_REQUEST")
	setKeys(r, t.Partition, t.Sort)

	for _, a := range t.Definition().Attributes {
		set(block(r, "attribute"), "name", a.Name, "type", a.Kind.String())
	}
	for _, x := range t.Indexes {
		kind, hash := "global_secondary_index", x.Partition
		if x.Local {
			kind, hash = "local_secondary_index", nil
		}
		b := block(r, kind)
		set(b, "name", x.Name)
		several := len(hash) > 1 || len(x.Sort) > 1
		if !several {
			setKeys(b, hash, x.Sort)
		}
		set(b, "projection_type", x.Projection)
		if len(x.Include) > 0 {
			var list []cty.Value
			for _, name := range x.Include {
				list = append(list, cty.StringVal(name))
			}
			b.SetAttributeValue("non_key_attributes", cty.TupleVal(list))
		}
		if several {
			for i, list := range [][]model.Attribute{hash, x.Sort} {
				for _, a := range list {
					set(block(b, "key_schema"), "attribute_name", a.Name, "key_type", []string{"HASH", "RANGE"}[i])
				}
			}
		}
	}
	if t.TTL != "" {
		b := block(r, "ttl")
		set(b, "attribute_name", t.TTL)
		b.SetAttributeValue("enabled", cty.True)
	}
}

// setKeys sets hash_key and range_key. hash and sort must each have at most one attribute.
func setKeys(b *hclwrite.Body, hash, sort []model.Attribute) {
	for _, a := range hash {
		set(b, "hash_key", a.Name)
	}
	for _, a := range sort {
		set(b, "range_key", a.Name)
	}
}

// block appends an empty line and a block.
func block(b *hclwrite.Body, kind string) *hclwrite.Body {
	b.AppendNewline()
	return b.AppendNewBlock(kind, nil).Body()
}

// set sets arguments of a block to strings. The parameters alternate: a name, then its value.
func set(b *hclwrite.Body, arguments ...string) {
	for i := 0; i < len(arguments); i += 2 {
		b.SetAttributeValue(arguments[i], cty.StringVal(arguments[i+1]))
	}
}
