package awscli

import (
	"slices"
	"strings"
)

// A kind is what the value of a flag is.
type kind uint8

const (
	text kind = iota + 1
	number
	boolean
	structure // an object, as JSON or in shorthand
	list      // a list, as JSON, in shorthand, or as several words
)

// flags are those of the operations on items and tables, by name.
var flags = map[string]kind{
	"table-name": text, "index-name": text, "select": text, "conditional-operator": text, "billing-mode": text, "table-class": text,
	"key-condition-expression": text, "filter-expression": text, "projection-expression": text,
	"condition-expression": text, "update-expression": text,
	"return-consumed-capacity": text, "return-values": text, "return-item-collection-metrics": text,
	"return-values-on-condition-check-failure": text, "client-request-token": text,
	"statement": text, "next-token": text, "exclusive-start-table-name": text,

	"limit": number, "segment": number, "total-segments": number,

	"consistent-read": boolean, "scan-index-forward": boolean, "deletion-protection-enabled": boolean,

	"key": structure, "item": structure, "exclusive-start-key": structure,
	"expression-attribute-names": structure, "expression-attribute-values": structure,
	"key-conditions": structure, "query-filter": structure, "scan-filter": structure, "expected": structure, "attribute-updates": structure,
	"request-items": structure, "provisioned-throughput": structure, "on-demand-throughput": structure,
	"stream-specification": structure, "sse-specification": structure, "time-to-live-specification": structure, "warm-throughput": structure,

	"attributes-to-get": list, "key-schema": list, "attribute-definitions": list, "global-secondary-indexes": list,
	"local-secondary-indexes": list, "global-secondary-index-updates": list, "transact-items": list, "tags": list,
	"statements": list, "parameters": list,
}

var reading = []string{
	"table-name", "projection-expression", "expression-attribute-names", "attributes-to-get", "consistent-read", "return-consumed-capacity",
}

// only lists the flags of the operations that read; the others take any.
var only = map[string][]string{
	"GetItem": append(slices.Clone(reading), "key"),
	"Query": append(slices.Clone(reading), "index-name", "select", "limit", "scan-index-forward", "exclusive-start-key", "key-condition-expression",
		"filter-expression", "expression-attribute-values", "key-conditions", "query-filter", "conditional-operator"),
	"Scan": append(slices.Clone(reading), "index-name", "select", "limit", "segment", "total-segments", "exclusive-start-key",
		"filter-expression", "expression-attribute-values", "scan-filter", "conditional-operator"),
}

// operations are those that the CLI has and that make a request of DynamoDB.
var operations = []string{
	"batch-execute-statement", "batch-get-item", "batch-write-item", "create-table", "delete-item", "delete-table", "describe-table",
	"describe-time-to-live", "execute-statement", "execute-transaction", "get-item", "list-tables", "put-item", "query", "scan",
	"tag-resource", "transact-get-items", "transact-write-items", "untag-resource", "update-item", "update-table", "update-time-to-live",
}

// An ignored flag is one of the CLI itself. Its note says what is left out.
type ignored struct {
	value bool // takes a value
	note  string
}

var cliFlags = map[string]ignored{
	"region": {value: true}, "profile": {value: true}, "endpoint-url": {value: true}, "output": {value: true}, "color": {value: true},
	"ca-bundle": {value: true}, "cli-read-timeout": {value: true}, "cli-connect-timeout": {value: true}, "cli-binary-format": {value: true},
	"debug": {}, "no-cli-pager": {}, "no-verify-ssl": {}, "no-sign-request": {}, "cli-auto-prompt": {}, "no-cli-auto-prompt": {},
	"query":          {true, "it chooses from the answer and changes nothing that is read"},
	"max-items":      {true, "the CLI asks for more pages until it has that many items"},
	"page-size":      {true, "the CLI sends it as the Limit of each page"},
	"starting-token": {true, "it is a token of the CLI, not an ExclusiveStartKey"},
	"no-paginate":    {note: "one page is read anyway"},
}

// pascal returns the name of the API for one of the CLI: TableName for
// table-name.
func pascal(name string) string {
	parts := strings.Split(name, "-")
	for i, p := range parts {
		if p != "" {
			parts[i] = strings.ToUpper(p[:1]) + p[1:]
		}
	}
	s := strings.Join(parts, "")
	if rest, ok := strings.CutPrefix(s, "Sse"); ok {
		return "SSE" + rest
	}
	return s
}

// kebab returns the name of the CLI for one of the API.
func kebab(name string) string {
	if rest, ok := strings.CutPrefix(name, "SSE"); ok {
		name = "Sse" + rest
	}
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		if 'A' <= c && c <= 'Z' {
			if i > 0 {
				b.WriteByte('-')
			}
			c |= 0x20
		}
		b.WriteByte(c)
	}
	return b.String()
}
