package transfer

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
)

// A Format is the form of the records of a file.
type Format string

// The formats.
const (
	// Auto is for input: the name and the first bytes of a file tell.
	Auto Format = "auto"
	// DynamoDB is DynamoDB JSON: {"Item":{"id":{"S":"x"}}} in each line as the
	// service exports it, the item alone, one array of those, or the response
	// of a Scan or Query.
	DynamoDB Format = "dynamodb"
	// JSON is plain JSON, {"id":"x"}, in lines or one array.
	JSON Format = "json"
	// CSV is comma-separated values (RFC 4180) with a header.
	CSV Format = "csv"
)

// ParseFormat returns the format of that name: the ones above, or what the
// service calls them.
func ParseFormat(name string) (Format, error) {
	switch strings.ToLower(name) {
	case "", "auto":
		return Auto, nil
	case "dynamodb", "dynamodb_json", "dynamodb-json", "ddb":
		return DynamoDB, nil
	case "json", "jsonl", "ndjson":
		return JSON, nil
	case "csv", "tsv":
		return CSV, nil
	case "ion":
		return "", errIon()
	}
	return "", fail("the formats are: auto, dynamodb, json, csv", "there is no format %q", name)
}

func errIon() error {
	return fail("the formats are dynamodb, json and csv; have the service export as DYNAMODB_JSON rather than ION", "Amazon Ion can be neither read nor written")
}

// errIonFile is the error of a file or folder in Amazon Ion.
func errIonFile(name string) error {
	return fail("export it again as DynamoDB JSON: aws dynamodb export-table-to-point-in-time --export-format DYNAMODB_JSON …", "%s is in Amazon Ion, which cannot be read", name)
}

// ionName reports whether a file is called as those of Amazon Ion are.
func ionName(path string) bool {
	name := strings.ToLower(path)
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
	return strings.HasSuffix(name, ".ion") || strings.HasSuffix(name, ".10n")
}

// isIon reports whether data begins as Amazon Ion does, with the mark of its
// version in binary or in text.
func isIon(head []byte) bool {
	return bytes.HasPrefix(head, magicIon) || bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("$ion_1_"))
}

// AnyType is the type of an attribute that has no single one: in files its
// values are DynamoDB JSON, such as {"N":"1"}.
const AnyType = "JSON"

// Types are the declared types of attributes by name: "S", "N", … "M", or
// [AnyType].
type Types map[string]string

// Check returns the error of a type that does not exist.
func (t Types) Check() error {
	for _, name := range slices.Sorted(maps.Keys(t)) {
		if _, ok := attr.ParseKind(t[name]); !ok && t[name] != AnyType {
			return fail("the types are: S, N, B, BOOL, NULL, SS, NS, BS, L, M, and "+AnyType+" for any of them in DynamoDB JSON",
				"%q, the type of %s, is no type", t[name], name)
		}
	}
	return nil
}

// ParseTypes reads declarations such as "qty=N" and "price:N".
func ParseTypes(texts []string) (Types, error) {
	types := Types{}
	for _, text := range texts {
		i := strings.LastIndexAny(text, "=:")
		if i <= 0 {
			return nil, fail("write NAME=TYPE, such as qty=N", "%q declares no type", text)
		}
		types[text[:i]] = text[i+1:]
	}
	return types, types.Check()
}

// merge returns t with the types of keys, which no declaration may contradict.
func (t Types) merge(keys Types) (Types, error) {
	out := maps.Clone(t)
	if out == nil {
		out = Types{}
	}
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		if have := out[name]; have != "" && have != AnyType && have != keys[name] {
			return nil, fail("leave its --type out", "%s is declared as %s, but it is a key of type %s", name, have, keys[name])
		}
		if out[name] == "" {
			out[name] = keys[name]
		}
	}
	return out, nil
}

// text returns the declarations in order, one in each line.
func (t Types) text() string {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(t)) {
		text.WriteString(name + "=" + t[name] + "\n")
	}
	return text.String()
}
