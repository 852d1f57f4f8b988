package export

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/sortkey/sortkey/internal/design/model"
)

// terraform writes a resource for each table. An index with a key of several attributes has them in
// blocks key_schema.
func terraform(m *model.Model) ([]byte, error) {
	var b strings.Builder
	names := identifiers{}
	for _, t := range m.Tables {
		id := names.add(strings.ToLower(strings.Join(words(t.Name), "_")), "table")
		fmt.Fprintf(&b, "\nresource \"aws_dynamodb_table\" %q ", id)
		resourceOf(t).write(&b, "")
	}
	return []byte(b.String()), nil
}

func resourceOf(t *model.Table) *hcl {
	r := &hcl{}
	r.set("name", quoted(t.Name))
	r.set("billing_mode", quoted("PAY_PER_REQUEST"))
	r.keys(t.Partition, t.Sort)

	for _, a := range t.Definition().Attributes {
		b := r.block("attribute")
		b.set("name", quoted(a.Name))
		b.set("type", quoted(a.Kind.String()))
	}
	for _, x := range t.Indexes {
		kind := "global_secondary_index"
		if x.Local {
			kind = "local_secondary_index"
		}
		b := r.block(kind)
		b.set("name", quoted(x.Name))
		if x.Local {
			b.set("range_key", quoted(x.Sort[0].Name))
		} else {
			b.keys(x.Partition, x.Sort)
		}
		b.set("projection_type", quoted(x.Projection))
		if len(x.Include) > 0 {
			var list []string
			for _, name := range x.Include {
				list = append(list, quoted(name))
			}
			b.set("non_key_attributes", "["+strings.Join(list, ", ")+"]")
		}
	}
	if t.TTL != "" {
		b := r.block("ttl")
		b.set("attribute_name", quoted(t.TTL))
		b.set("enabled", "true")
	}
	return r
}

// keys sets the attributes of a key.
func (h *hcl) keys(hash, sort []model.Attribute) {
	if len(hash) == 1 && len(sort) <= 1 {
		h.set("hash_key", quoted(hash[0].Name))
		if len(sort) == 1 {
			h.set("range_key", quoted(sort[0].Name))
		}
		return
	}
	for i, list := range [][]model.Attribute{hash, sort} {
		for _, a := range list {
			b := h.block("key_schema")
			b.set("attribute_name", quoted(a.Name))
			b.set("key_type", quoted([]string{"HASH", "RANGE"}[i]))
		}
	}
}

// An hcl is a block of Terraform's language: arguments, then blocks.
type hcl struct {
	arguments [][2]string
	blocks    []*hcl
	kind      string
}

func (h *hcl) set(name, value string) { h.arguments = append(h.arguments, [2]string{name, value}) }

func (h *hcl) block(kind string) *hcl {
	b := &hcl{kind: kind}
	h.blocks = append(h.blocks, b)
	return b
}

// write writes the block in the form of terraform fmt, which aligns the arguments.
func (h *hcl) write(b *strings.Builder, indent string) {
	width := 0
	for _, a := range h.arguments {
		width = max(width, len(a[0]))
	}
	b.WriteString("{\n")
	for _, a := range h.arguments {
		fmt.Fprintf(b, "%s  %-*s = %s\n", indent, width, a[0], a[1])
	}
	for _, inner := range h.blocks {
		b.WriteString("\n" + indent + "  " + inner.kind + " ")
		inner.write(b, indent+"  ")
	}
	b.WriteString(indent + "}\n")
}

// quoted returns a text as a literal, in which no sequence is a template.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case (r == '$' || r == '%') && strings.HasPrefix(s[i+1:], "{"):
			b.WriteString(string(r) + string(r))
		case r < ' ' || r == 0x7F || r == utf8.RuneError:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String() + `"`
}
