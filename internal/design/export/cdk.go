package export

import (
	"fmt"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

// cdk writes a construct with a member for each table, for version 2 of aws-cdk-lib.
func cdk(d *design) ([]byte, error) {
	var b strings.Builder
	b.WriteString(d.comment("//"))
	b.WriteString(`import * as dynamodb from "aws-cdk-lib/aws-dynamodb";
import { Construct } from "constructs";

`)
	class := identifiers{"Construct": true}.add(pascal(d.m.Name)+"Tables", "Design")
	if about := strings.Join(strings.Fields(d.m.About), " "); about != "" {
		b.WriteString("/** " + strings.ReplaceAll(text.Visible(about), "*/", "* /") + " */\n")
	}
	b.WriteString("export class " + class + " extends Construct {\n")

	// A construct has a member node.
	members, ids := identifiers{"node": true, "constructor": true, "toString": true, "with": true}, identifiers{}
	var tables strings.Builder
	var order []string
	for i, t := range d.m.Tables {
		if i > 0 {
			tables.WriteByte('\n')
		}
		id := ids.add(pascal(t.Name), "Table")
		order = append(order, id)
		member := members.add(camel(t.Name), "table")
		fmt.Fprintf(&b, "  readonly %s: dynamodb.TableV2;\n", member)
		fmt.Fprintf(&tables, "    this.%s = new dynamodb.TableV2(this, %s, ", member, script(id))
		tableProps(t).write(&tables, "    ")
		tables.WriteString(");\n")
	}
	d.loseOrder(order)
	b.WriteString("\n  constructor(scope: Construct, id: string) {\n    super(scope, id);\n\n")
	return []byte(b.String() + tables.String() + "  }\n}\n"), nil
}

// script returns a text as a literal of TypeScript.
func script(s string) string {
	data, err := text.JSON(s)
	if err != nil {
		return `""` // texts always marshal
	}
	return strings.NewReplacer("\u2028", `\u2028`, "\u2029", `\u2029`).Replace(string(data))
}

// props is an object literal: members and their values.
type props struct{ members [][2]string }

func (p *props) set(name, value string) { p.members = append(p.members, [2]string{name, value}) }

func (p *props) write(b *strings.Builder, indent string) {
	b.WriteString("{\n")
	for _, m := range p.members {
		value := strings.ReplaceAll(m[1], "\n", "\n"+indent+"  ")
		b.WriteString(indent + "  " + m[0] + ": " + value + ",\n")
	}
	b.WriteString(indent + "}")
}

func tableProps(t *model.Table) *props {
	p := &props{}
	p.set("tableName", script(t.Name))
	p.keys(t.Partition, t.Sort)
	p.set("billing", "dynamodb.Billing.onDemand()")
	if t.TTL != "" {
		p.set("timeToLiveAttribute", script(t.TTL))
	}

	for _, local := range []bool{false, true} {
		var list strings.Builder
		for _, x := range t.Indexes {
			if x.Local != local {
				continue
			}

			one := &props{}
			one.set("indexName", script(x.Name))
			if local {
				one.set("sortKey", cdkAttribute(x.Sort[0]))
			} else {
				one.keys(x.Partition, x.Sort)
			}

			one.set("projectionType", "dynamodb.ProjectionType."+x.Projection)
			if len(x.Include) > 0 {
				var names []string
				for _, name := range x.Include {
					names = append(names, script(name))
				}
				one.set("nonKeyAttributes", "["+strings.Join(names, ", ")+"]")
			}

			list.WriteString("  ")
			one.write(&list, "  ")
			list.WriteString(",\n")
		}

		if list.Len() > 0 {
			name := map[bool]string{false: "globalSecondaryIndexes", true: "localSecondaryIndexes"}[local]
			p.set(name, "[\n"+list.String()+"]")
		}
	}
	return p
}

// keys sets the attributes of a key.
func (p *props) keys(hash, sort []model.Attribute) {
	for i, list := range [][]model.Attribute{hash, sort} {
		name := []string{"partitionKey", "sortKey"}[i]
		var all []string
		for _, a := range list {
			all = append(all, cdkAttribute(a))
		}
		switch len(all) {
		case 0:
		case 1:
			p.set(name, all[0])
		default:
			p.set(name+"s", "[\n  "+strings.Join(all, ",\n  ")+",\n]")
		}
	}
}

func cdkAttribute(a model.Attribute) string {
	kind := map[attr.Kind]string{attr.String: "STRING", attr.Number: "NUMBER", attr.Binary: "BINARY"}[a.Kind]
	return "{ name: " + script(a.Name) + ", type: dynamodb.AttributeType." + kind + " }"
}
