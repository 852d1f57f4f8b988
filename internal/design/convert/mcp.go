package convert

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/awscli"
	"github.com/sortkey/sortkey/internal/design/model"
)

// mcp reads dynamodb_data_model.json: tables as in CreateTable, items as in
// BatchWriteItem, and access patterns implemented by an AWS CLI command.
func (im *importer) mcp(n *node) {
	im.loseUnknown(n, "tables", "items", "access_patterns")
	for _, t := range n.get("tables").elems() {
		im.tablesIn(t, 1)
	}
	if items := n.get("items"); items.isObject() {
		im.puts(items)
	} else if !items.vacant() {
		im.loss(items, "items", "they are not grouped by table", "")
	}
	list := n.get("access_patterns").elems()
	for _, p := range list {
		im.accessPattern(p)
	}
	im.derived = im.derived || len(list) == 0
}

// reads are the operations that a pattern can have.
var reads = []string{"Query", "GetItem", "Scan"}

func (im *importer) accessPattern(n *node) {
	im.loseUnknown(n, "pattern", "description", "table", "index", "dynamodb_operation", "implementation", "reason")
	name := n.str("pattern")
	if m := n.get("pattern"); m != nil && m.kind == '0' {
		name = m.text
	}

	about := n.str("description")
	if len(name) < 6 && about != "" {
		name = strings.TrimSpace(name + " " + about)
		if about = ""; len(name) > 90 {
			about, name = n.str("description"), clip(name)
		}
	}
	if name == "" {
		name = "pattern"
	}

	what := "pattern " + clip(name)
	line := n.str("implementation")
	wanted := n.str("dynamodb_operation")
	if strings.TrimSpace(line) == "" {
		why := "it has no implementation"
		if r := n.str("reason"); r != "" {
			why += ": " + r
		}
		im.loss(n, what, why, "add the pattern to the model with conditions on fields")
		return
	}

	cmd, err := new(awscli.Parser).Parse(line)
	if err != nil {
		im.loss(n.get("implementation"), what, "its AWS CLI command: "+err.Error(), advice.Of(err))
		return
	}

	if !slices.Contains(reads, cmd.Operation) {
		im.loss(
			n.get("implementation"), what,
			"a model has only patterns that read ("+strings.Join(reads, ", ")+"), not "+cmd.Operation, "",
		)
		return
	}

	for _, note := range cmd.Notes {
		im.loss(n.get("implementation"), what, note, "")
	}
	if wanted != "" && !strings.EqualFold(wanted, cmd.Operation) {
		im.loss(
			n.get("dynamodb_operation"), what,
			fmt.Sprintf("it is called %s, but its command is a %s", clip(wanted), cmd.Operation), "",
		)
	}

	p := &model.Pattern{Name: name, About: about, Operation: cmd.Operation, Request: cmd.Request}
	d, err := read("", cmd.Request)
	if err != nil || !d.roots[0].isObject() {
		im.loss(n, what, "its request is not a JSON object", "")
		return
	}

	table := d.roots[0].str("TableName")
	if p.Table = im.m.Table(table); p.Table == nil {
		im.loss(n, what, fmt.Sprintf("it reads the table %q, which is not defined", clip(table)), "")
		return
	}
	if index := d.roots[0].str("IndexName"); index != "" {
		p.Index = p.Table.Index(index)
	}

	im.from[p] = n.get("implementation")
	im.addPattern(p)
}
