package convert

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/design/model"
)

// requestMembers are the members of requests that read.
var requestMembers = []string{
	"IndexName", "KeyConditionExpression", "FilterExpression", "ProjectionExpression", "ExpressionAttributeNames",
	"ExpressionAttributeValues", "Key", "Limit", "ScanIndexForward", "ConsistentRead", "Select",
}

// workbenchPatterns reads the access patterns of a model or a table of NoSQL Workbench 3.20.
// Their format is not published: a pattern is read if it has the members of a request, and
// named among the losses otherwise.
func (im *importer) workbenchPatterns(n *node, t *model.Table) {
	for _, list := range n.members() {
		if !strings.Contains(strings.ToLower(list.key), "accesspattern") || !list.isList() {
			continue
		}
		for i, m := range list.list {
			im.workbenchPattern(m, t, i)
		}
	}
}

func (im *importer) workbenchPattern(n *node, t *model.Table, i int) {
	name := strings.TrimSpace(firstText(n, "Name", "AccessPatternName", "PatternName", "Title", "Description", "Id"))
	about := strings.TrimSpace(firstText(n, "Description", "Comment", "Notes"))
	if name == "" {
		name = fmt.Sprintf("access pattern %d", i+1)
	}
	if about == name {
		about = ""
	}
	if table := firstText(n, "TableName", "Table"); table != "" {
		t = im.m.Table(table)
	}

	operation, request := workbenchRequest(n)
	switch {
	case t == nil:
		im.loss(n, "pattern "+clip(name), "its table is not defined", "")
		return
	case request == nil:
		im.loss(
			n, "pattern "+clip(name), "it has neither a key condition nor a key that the importer can read",
			"add it to the patterns of the model, with conditions on fields",
		)
		return
	}

	request["TableName"] = t.Name
	data, err := json.Marshal(request)
	if err != nil {
		im.loss(n, "pattern "+clip(name), err.Error(), "")
		return
	}

	p := &model.Pattern{Name: name, About: about, Operation: operation, Request: data, Table: t}
	if index, _ := request["IndexName"].(string); index != "" {
		if p.Index = t.Index(index); p.Index == nil {
			im.loss(n, "pattern "+clip(name), "it reads the index "+clip(index)+", which table "+t.Name+" lacks", "")
			return
		}
	}

	im.from[p] = n
	im.addPattern(p)
}

// firstText returns the first of some members that has a text.
func firstText(n *node, names ...string) string {
	for _, name := range names {
		for _, m := range n.members() {
			if strings.EqualFold(m.key, name) && m.isText() && m.text != "" {
				return m.text
			}
		}
	}
	return ""
}

// workbenchRequest returns the request of a pattern, or nil: its own members, or those of an
// object in it.
func workbenchRequest(n *node) (operation string, request map[string]any) {
	wanted := firstText(n, "Operation", "OperationType", "ApiOperation", "Type")
	for _, from := range append([]*node{n}, n.members()...) {
		if from.get("KeyConditionExpression") == nil && from.get("Key") == nil && !strings.EqualFold(wanted, "Scan") {
			continue
		}
		request = map[string]any{}
		for _, m := range from.members() {
			if slices.Contains(requestMembers, m.key) && m.kind != 'n' {
				request[m.key] = m.plain()
			}
		}

		switch {
		case request["KeyConditionExpression"] != nil:
			return "Query", request
		case request["Key"] != nil:
			return "GetItem", request
		}
		return "Scan", request
	}
	return "", nil
}

// plain returns the value of a node.
func (n *node) plain() any {
	switch n.kind {
	case '{':
		out := map[string]any{}
		for _, m := range n.list {
			out[m.key] = m.plain()
		}
		return out
	case '[':
		out := make([]any, len(n.list))
		for i, m := range n.list {
			out[i] = m.plain()
		}
		return out
	case '0':
		return json.Number(n.text)
	case 't', 'f':
		return n.kind == 't'
	case 'n':
		return nil
	}
	return n.text
}
