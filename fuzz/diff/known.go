package main

import (
	"regexp"
	"slices"
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
	reason string
	match  func(p *pair) bool
}

// explain returns the reason of a difference, or "".
func explain(peer string, p *pair) string {
	for _, k := range knownDifferences[peer] {
		if k.match(p) {
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
	twoPaths  = regexp.MustCompile(`#n\d+\S*\s+(=|<>|<|<=|>|>=)\s+#n`)
	setOrAdd  = regexp.MustCompile(`\b(SET|ADD)\b`)
	nestedNot = regexp.MustCompile(`NOT NOT`)
)

// onlyMembers reports whether two bodies differ in nothing but these members.
func (p *pair) onlyMembers(names ...string) bool {
	if p.kind != "body" {
		return false
	}
	_, list, _ := strings.Cut(p.signature, ": ")
	for m := range strings.FieldsSeq(list) {
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
	if !p.onlyMembers("Items", "ConsumedCapacity", "LastEvaluatedKey") {
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

// onlyStatements reports whether the answers to a batch of statements differ only in
// statements that we refuse with a message.
func (p *pair) onlyStatements(message string) bool {
	if p.req.op != "BatchExecuteStatement" {
		return false
	}
	responses := func(a answer) []any {
		o, _ := a.body.(object)
		l, _ := o["Responses"].([]any)
		return l
	}
	ours, peer := responses(p.ours), responses(p.peer)
	if len(ours) != len(peer) {
		return false
	}
	found := false
	for i := range ours {
		if text(ours[i]) != text(peer[i]) {
			if !strings.Contains(text(ours[i]), message) {
				return false
			}
			found = true
		}
	}
	return found
}

// scans reports whether a statement reads an index or all of a table.
func (p *pair) scans() bool {
	text, _ := p.req.body["Statement"].(string)
	return strings.Contains(text, `"."`) || !strings.Contains(text, "WHERE pk = ")
}

// moreRecords reports whether a stream of the peer has our records of each item in
// their order, and others.
func (p *pair) moreRecords() bool {
	if p.req.op != readStream || p.kind != "body" {
		return false
	}
	changes := func(a answer) object {
		o, _ := a.body.(object)
		items, _ := o["Records"].(object)
		return items
	}
	ours, theirs := changes(p.ours), changes(p.peer)
	for key, list := range ours {
		rest, _ := theirs[key].([]any)
		mine, _ := list.([]any)
		for _, change := range mine {
			i := slices.IndexFunc(rest, func(other any) bool { return text(other) == text(change) })
			if i < 0 {
				return false
			}
			rest = rest[i+1:]
		}
	}
	return true
}

func (p *pair) oursSays(s string) bool { return strings.Contains(p.ours.text, s) }
func (p *pair) peerSays(s string) bool { return strings.Contains(p.peer.text, s) }

func (p *pair) index() (name string, local bool) {
	name, _ = p.req.body["IndexName"].(string)
	return name, strings.HasPrefix(name, "local")
}

// knownDifferences are the reasons by peer, the most specific first. Each says
// which side is right and why.
var knownDifferences = map[string][]known{"dynalite": dynalite, "moto": moto, "dynoxide": dynoxide}
