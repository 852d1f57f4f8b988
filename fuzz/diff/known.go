package main

import (
	"regexp"
	"strings"
)

// pair is two answers that differ.
type pair struct {
	req        request
	kind       string // outcome, text or body
	signature  string
	ours, peer answer
}

// known is a difference whose reason is understood.
type known struct {
	peer   string // "" for all
	reason string
	match  func(p *pair) bool
}

// explain returns the reason of a difference, or "".
func explain(peer string, p *pair) string {
	for _, k := range knownDifferences {
		if (k.peer == "" || k.peer == peer) && k.match(p) {
			return k.reason
		}
	}
	return ""
}

// expressionOf returns all expressions of a request in one text.
func (p *pair) expressionOf() string {
	var out strings.Builder
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case object:
			for name, child := range v {
				if s, ok := child.(string); ok && strings.HasSuffix(name, "Expression") {
					out.WriteString(s + "\n")
				}
				walk(child)
			}
		case []any:
			for _, child := range v {
				walk(child)
			}
		}
	}
	walk(p.req.body)
	return out.String()
}

var (
	twoPaths  = regexp.MustCompile(`#n\d+[^ ]* (=|<>|<|<=|>|>=) #n`)
	setOrAdd  = regexp.MustCompile(`\b(SET|ADD)\b`)
	nestedNot = regexp.MustCompile(`NOT NOT`)
)

// onlyMembers reports whether two bodies differ in nothing but these members.
func (p *pair) onlyMembers(names ...string) bool {
	if p.kind != "body" {
		return false
	}
	_, list, _ := strings.Cut(p.signature, ": ")
	for _, m := range strings.Fields(list) {
		found := false
		for _, n := range names {
			found = found || strings.TrimLeft(m, "+-≠") == n
		}
		if !found {
			return false
		}
	}
	return true
}

// sameItems reports whether two bodies hold the same items in another order.
func (p *pair) sameItems() bool {
	if !p.onlyMembers("Items", "ConsumedCapacity") {
		return false
	}
	items := func(a answer) string {
		o, _ := a.body.(object)
		l, _ := o["Items"].([]any)
		l = append([]any(nil), l...)
		sortList(l)
		return text(l)
	}
	return items(p.ours) == items(p.peer)
}

func (p *pair) oursSays(s string) bool { return strings.Contains(p.ours.text, s) }
func (p *pair) peerSays(s string) bool { return strings.Contains(p.peer.text, s) }

func (p *pair) index() (name string, local bool) {
	name, _ = p.req.body["IndexName"].(string)
	return name, strings.HasPrefix(name, "local")
}

// knownDifferences, most specific first. Each reason says which side is right
// and why.
var knownDifferences = []known{
	{"dynalite", "dynalite words syntax errors as its parser generator does; the service names token and neighbours", func(p *pair) bool {
		return p.peerSays("Syntax error; Expected")
	}},
	{"dynalite", "dynalite charges nothing for index entries, for reading nothing, and lists a table part of 0 for index reads (DG/GSI.html, alternator test_returnconsumedcapacity.py)", func(p *pair) bool {
		return p.onlyMembers("ConsumedCapacity")
	}},
	{"dynalite", "dynalite describes tables without DeletionProtectionEnabled and with members of a former preview", func(p *pair) bool {
		return p.onlyMembers("Table", "TableDescription")
	}},
	{"dynalite", "dynalite takes two attributes that are not there for equal; they are not (alternator test_condition_expression.py)", func(p *pair) bool {
		return twoPaths.MatchString(p.expressionOf())
	}},
	{"dynalite", "dynalite takes ALL_PROJECTED_ATTRIBUTES without an index (semantics of Select: DG/Query.html)", func(p *pair) bool {
		return p.oursSays("ALL_PROJECTED_ATTRIBUTES can be used only")
	}},
	{"dynalite", "dynalite reads attributes a global index does not project as absent instead of refusing them (DG/GSI.html)", func(p *pair) bool {
		return p.oursSays("does not project")
	}},
	{"dynalite", "dynalite does not fetch from the table what a local index does not project (DG/LSI.html)", func(p *pair) bool {
		_, local := p.index()
		return local && p.kind == "body"
	}},
	{"dynalite", "ties in an index have no documented order; ours is by the hash of the table's partition key, dynalite's by that of its whole key", func(p *pair) bool {
		name, _ := p.index()
		return name != "" && (p.sameItems() || p.kind == "body" && p.req.body["Limit"] != nil)
	}},
	{"dynalite", "dynalite has the older bounds of TableName, 3 to 255; it may be an ARN of 1 to 1,024 since 2024", func(p *pair) bool {
		return p.peerSays("at 'tableName' failed to satisfy constraint")
	}},
	{"dynalite", "dynalite makes the item of an update that only takes away; the service does not (alternator test_item.py)", func(p *pair) bool {
		return strings.HasPrefix(p.req.op, "UpdateItem") && !setOrAdd.MatchString(p.expressionOf())
	}},
	{"dynalite", "dynalite puts empty Attributes where there is nothing to return (alternator test_returnvalues.py)", func(p *pair) bool {
		return p.onlyMembers("Attributes") && strings.Contains(p.peer.raw, `"Attributes":{}`)
	}},
	{"dynalite", "dynalite refuses NOT NOT", func(p *pair) bool {
		return nestedNot.MatchString(p.expressionOf())
	}},
}
