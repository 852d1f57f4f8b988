package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// answer is a response in the form that is compared.
type answer struct {
	status int
	code   string // of an exception
	text   string
	body   any
	raw    string
}

// volatile members cannot be the same on two endpoints.
var volatile = map[string]bool{
	"CreationDateTime": true, "TableId": true, "TableArn": true, "IndexArn": true, "TableSizeBytes": true,
	"IndexSizeBytes": true,
	"ItemCount":      true, "LastUpdateToPayPerRequestDateTime": true, "WarmThroughput": true,
	"NumberOfDecreasesToday": true,
	"TableStatus":            true, "IndexStatus": true, "LatestStreamLabel": true, "LatestStreamArn": true,
	"StreamArn": true, "StreamLabel": true, "LastEvaluatedStreamArn": true,
}

// parse makes an answer of a response body.
func parse(op string, status int, raw []byte) answer {
	a := answer{status: status, raw: string(raw)}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var body any
	if dec.Decode(&body) != nil {
		a.code = "(no JSON)"
		return a
	}

	o, _ := body.(object)
	if status != 200 {
		code, _ := o["__type"].(string)
		a.code = code[strings.LastIndexByte(code, '#')+1:]
		for _, name := range []string{"message", "Message"} {
			if s, ok := o[name].(string); ok {
				a.text = s
			}
		}
		delete(o, "__type")
		delete(o, "message")
		delete(o, "Message")
	}

	if o["NextToken"] != nil { // an opaque text
		o["NextToken"] = true
	}
	a.body = settle(body)
	if op == "Scan" || op == "BatchGetItem" {
		sortItems(a.body)
	}
	return a
}

// settle removes volatile members and sorts lists that have no order.
func settle(v any) any {
	switch v := v.(type) {
	case object:
		for name, child := range v {
			if volatile[name] {
				delete(v, name)
				continue
			}
			switch name {
			case "SS", "NS", "BS":
				if l, ok := child.([]any); ok {
					slices.SortFunc(l, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
				}
			case "AttributeDefinitions", "GlobalSecondaryIndexes", "LocalSecondaryIndexes", "ConsumedCapacity",
				"NonKeyAttributes":
				if l, ok := child.([]any); ok {
					sortList(l)
				}
			}
			v[name] = settle(child)
		}
		return v
	case []any:
		for i := range v {
			v[i] = settle(v[i])
		}
	case json.Number:
		if f, err := v.Float64(); err == nil {
			return f
		}
	}
	return v
}

func sortList(l []any) {
	slices.SortFunc(l, func(a, b any) int { return strings.Compare(text(a), text(b)) })
}

// sortItems orders the items of answers whose order is not defined.
func sortItems(body any) {
	o, _ := body.(object)
	if l, ok := o["Items"].([]any); ok {
		sortList(l)
	}
	if responses, ok := o["Responses"].(object); ok {
		for _, items := range responses {
			if l, ok := items.([]any); ok {
				sortList(l)
			}
		}
	}
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// difference says how two answers differ; kind is "" when they do not. The
// signature groups differences of one cause.
func difference(op string, ours, peer answer) (kind, signature string) {
	switch {
	case ours.status != peer.status || ours.code != peer.code:
		return "outcome", fmt.Sprintf("%s: %s, peer %s", op, outcome(ours), outcome(peer))
	case ours.text != peer.text:
		return "text", fmt.Sprintf("%s %s: %q, peer %q", op, ours.code, mask(ours.text), mask(peer.text))
	case text(ours.body) != text(peer.body):
		return "body", op + ": " + members(ours.body, peer.body)
	}
	return "", ""
}

func outcome(a answer) string {
	if a.status == 200 {
		return "200"
	}
	return fmt.Sprintf("%d %s %q", a.status, a.code, mask(a.text))
}

// mask leaves out of a text what came from the request.
func mask(s string) string {
	for _, cut := range []string{
		"; token:", "attribute name:", "attribute value:", "keys: {", "IndexName:", "Value '", "numeric value: ",
		"path one:", "overlaps", "operand type", "Keys: [",
	} {
		if i := strings.Index(s, cut); i >= 0 {
			s = s[:i+len(cut)] + "…"
		}
	}
	return s
}

// members names the members in which two bodies differ.
func members(a, b any) string {
	x, _ := a.(object)
	y, _ := b.(object)
	var out []string
	for name := range x {
		if _, ok := y[name]; !ok {
			out = append(out, "+"+name)
		} else if text(x[name]) != text(y[name]) {
			out = append(out, "≠"+name)
		}
	}
	for name := range y {
		if _, ok := x[name]; !ok {
			out = append(out, "-"+name)
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}
