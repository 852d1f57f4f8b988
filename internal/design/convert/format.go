package convert

import (
	"strings"

	"github.com/sortkey/sortkey/attr"
)

// A Format is a file format.
type Format = string

// The formats.
const (
	// Workbench is a model of NoSQL Workbench, version 3.
	Workbench Format = "workbench"
	// OneTable is schemas of DynamoDB OneTable, onetable:1.1.0.
	OneTable Format = "onetable"
	// ElectroDB is the schemas of entities, as JSON.stringify writes them.
	ElectroDB Format = "electrodb"
	// Tables is the JSON of CreateTable requests or DescribeTable responses.
	Tables Format = "tables"
	// Items is items in DynamoDB JSON: one per line, or the response of a scan.
	Items Format = "items"
)

// Formats are the formats that a file can have.
var Formats = []string{Workbench, OneTable, ElectroDB, Tables, Items}

// supported lists the formats.
const supported = "supported: a model of NoSQL Workbench; a OneTable schema; ElectroDB schemas; CreateTable or " +
	"DescribeTable JSON; items in DynamoDB JSON, with the definition of their table"

// Detect returns the format of a file's content, or "". It returns an [*Error]
// if the content is not JSON.
func Detect(data []byte) (Format, error) {
	d, err := read("", data)
	if err != nil {
		return "", err
	}
	return detect(d), nil
}

func detect(d *document) Format {
	n := d.roots[0]
	if n.isList() && len(n.list) > 0 {
		n = n.list[0]
	}
	switch {
	case !n.isObject():
		return ""
	case n.get("DataModel").isList():
		return Workbench
	case strings.HasPrefix(n.str("format"), "onetable:"), n.get("models").isObject() && n.get("indexes").isObject():
		return OneTable
	case isElectro(n), len(electroList(n)) > 0:
		return ElectroDB
	case isTable(n), isTable(n.get("Table")), isTable(n.get("TableDescription")), n.get("Tables").isList():
		return Tables
	case n.get("Items").isList(), isTyped(n.get("Item")), isTyped(n):
		return Items
	}
	return ""
}

func isTable(n *node) bool { return n.get("KeySchema").isList() }

// isTyped reports whether n is an item in DynamoDB JSON.
func isTyped(n *node) bool {
	for _, m := range n.members() {
		if len(m.members()) != 1 {
			return false
		}
		if k, ok := attr.ParseKind(m.list[0].key); !ok || m.list[0].isObject() != (k == attr.Map) {
			return false
		}
	}
	return n.isObject() && len(n.list) > 0
}
