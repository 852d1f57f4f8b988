package awscli

import "strings"

// A kind is the type of a flag's value.
type kind uint8

const (
	stringFlag kind = iota + 1
	numberFlag
	boolFlag
	objectFlag // JSON or shorthand
	listFlag   // JSON, shorthand, or several words
)

// flags are the flags of the operations that read items.
var flags = map[string]kind{
	"table-name": stringFlag, "index-name": stringFlag, "select": stringFlag, "conditional-operator": stringFlag,
	"return-consumed-capacity": stringFlag,
	"key-condition-expression": stringFlag, "filter-expression": stringFlag, "projection-expression": stringFlag,
	"statement": stringFlag,

	"limit": numberFlag, "segment": numberFlag, "total-segments": numberFlag,

	"consistent-read": boolFlag, "scan-index-forward": boolFlag,

	"key": objectFlag, "exclusive-start-key": objectFlag, "request-items": objectFlag,
	"expression-attribute-names": objectFlag, "expression-attribute-values": objectFlag,
	"key-conditions": objectFlag, "query-filter": objectFlag, "scan-filter": objectFlag, "cli-input-json": objectFlag,

	"attributes-to-get": listFlag, "parameters": listFlag,
}

// operations are the operations that read items, with their flags.
var operations = map[string][]string{
	"get-item": {
		"table-name", "key", "projection-expression", "expression-attribute-names", "attributes-to-get",
		"consistent-read",
		"return-consumed-capacity",
	},
	"query": {
		"table-name", "index-name", "key-condition-expression", "filter-expression", "projection-expression",
		"expression-attribute-names", "expression-attribute-values", "select", "limit", "scan-index-forward",
		"consistent-read",
		"exclusive-start-key", "return-consumed-capacity", "attributes-to-get", "key-conditions", "query-filter",
		"conditional-operator",
	},
	"scan": {
		"table-name", "index-name", "filter-expression", "projection-expression",
		"expression-attribute-names", "expression-attribute-values", "select", "limit", "segment", "total-segments",
		"consistent-read",
		"exclusive-start-key", "return-consumed-capacity", "attributes-to-get", "scan-filter", "conditional-operator",
	},
	"batch-get-item":    {"request-items", "return-consumed-capacity"},
	"execute-statement": {"statement", "parameters", "consistent-read", "limit", "return-consumed-capacity"},
}

// A cliFlag is a flag of the CLI itself, which is not part of the request.
type cliFlag struct {
	value bool   // takes a value
	note  string // why it makes a difference that it is ignored
}

var cliFlags = map[string]cliFlag{
	"region": {value: true}, "profile": {value: true}, "endpoint-url": {value: true}, "output": {value: true},
	"color":     {value: true},
	"ca-bundle": {value: true}, "cli-read-timeout": {value: true}, "cli-connect-timeout": {value: true},
	"cli-binary-format": {value: true},
	"debug":             {}, "no-cli-pager": {}, "no-verify-ssl": {}, "no-sign-request": {}, "cli-auto-prompt": {},
	"no-cli-auto-prompt": {},
	"query":              {true, "it selects from the response and does not change what is read"},
	"max-items":          {true, "the CLI requests more pages until it has that many items"},
	"page-size":          {true, "the CLI sends it as the Limit of each page"},
	"starting-token":     {true, "it is a token of the CLI, not an ExclusiveStartKey"},
	"no-paginate":        {note: "only one page is read anyway"},
}

// pascal returns the API's name for a name of the CLI: TableName for table-name.
func pascal(name string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(name, "-") {
		if part != "" {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}

// Kebab returns the CLI's name for a name of the API: table-name for TableName.
func Kebab(name string) string {
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
