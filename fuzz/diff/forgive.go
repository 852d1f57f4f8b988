package main

import (
	"encoding/json"
	"math/big"
)

// A leniency changes both bodies of an answer so that one known difference no
// longer shows, and leaves all others to be compared.
type leniency struct {
	reason string
	change func(op string, body any) any
}

// leniencies by peer. They are for differences in nearly every answer of a peer, where
// a reason for the whole answer would hide everything else in it.
var leniencies = map[string][]leniency{
	"dynoxide": {
		{"dynoxide adds 25 to the size of a stream record; the examples of the service have the bytes of the key " +
			"and the images (DG/Streams.Lambda.html)", func(op string, body any) any {
			return withoutSizes(op, body)
		}},
	},
	"moto": {
		{"moto measures stream records as Python measures their text " +
			"(DG/Streams.Lambda.html)", func(op string, body any) any {
			return withoutSizes(op, body)
		}},
		{"moto charges 1 unit for all but a few requests, adds it unasked, and always has ItemCollectionMetrics " +
			"(DG/read-write-operations.html)", func(_ string, body any) any {
			return without(body, "ConsumedCapacity", "ItemCollectionMetrics")
		}},
		{"moto keeps numbers as they were written; the service returns 1e3 as 1000 " +
			"(DG/HowItWorks.NamingRulesDataTypes.html)", func(_ string, body any) any {
			return canonical(body)
		}},
		{"moto orders partitions and equal index keys as they were written, " +
			"which is nobody's documented order", func(op string, body any) any {
			if op == "Query" || op == "Scan" || op == "BatchGetItem" || op == "ExecuteStatement" {
				sortItems(body)
			}
			return body
		}},
	},
}

// forgive returns the bodies after the leniencies of a peer, and the reasons of
// those that brought the two closer.
func forgive(peer, op string, a, b answer) (reasons []string, x, y answer) {
	x, y = a, b
	x.body, y.body = clone(a.body), clone(b.body)
	for _, l := range leniencies[peer] {
		if text(x.body) == text(y.body) {
			break
		}
		before := distance(x.body, y.body)
		x.body, y.body = l.change(op, x.body), l.change(op, y.body)
		if distance(x.body, y.body) != before {
			reasons = append(reasons, l.reason)
		}
	}
	return reasons, x, y
}

// distance is a text that is the same for the same difference.
func distance(a, b any) string { return text(a) + text(b) }

// settled reports whether two answers differ in nothing that a later answer
// could show as another difference.
func settled(peer string, a, b answer) bool {
	if a.status != b.status || a.code != b.code {
		return false
	}
	_, x, y := forgive(peer, "GetItem", a, b)
	return text(x.body) == text(y.body)
}

func clone(v any) any {
	var out any
	if err := json.Unmarshal([]byte(text(v)), &out); err != nil {
		return v
	}
	return out
}

// without returns a body less some of its members.
func without(body any, names ...string) any {
	if o, ok := body.(object); ok {
		for _, n := range names {
			delete(o, n)
		}
	}
	return body
}

// withoutSizes returns the records of a stream without their sizes.
func withoutSizes(op string, body any) any {
	if op != readStream {
		return body
	}
	o, _ := body.(object)
	items, _ := o["Records"].(object)
	for _, changes := range items {
		l, _ := changes.([]any)
		for _, change := range l {
			without(change, "SizeBytes")
		}
	}
	return body
}

// canonical writes all numbers of a body in one form, also those in sets.
func canonical(v any) any {
	switch v := v.(type) {
	case object:
		for name, child := range v {
			if s, ok := child.(string); ok && name == "N" {
				v[name] = number(s)
				continue
			}
			if l, ok := child.([]any); ok && name == "NS" {
				for i := range l {
					if s, ok := l[i].(string); ok {
						l[i] = number(s)
					}
				}
				sortList(l)
				continue
			}
			v[name] = canonical(child)
		}
	case []any:
		for i := range v {
			v[i] = canonical(v[i])
		}
	}
	return v
}

// number returns the value of a number as a fraction, which is the same for
// every way of writing it.
func number(s string) string {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return s
	}
	return r.RatString()
}
