package awscli

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/wire"
)

// Format returns a request as a line of the AWS CLI. Reading the line with a
// [Parser] gives an equal request.
func Format(in wire.Request) string {
	op, request := Kebab(in.Op().String()), in.AppendJSON(nil)
	line := "aws dynamodb " + op
	whole := line + " --cli-input-json " + Quote(string(request))
	var m map[string]json.RawMessage
	if json.Unmarshal(request, &m) != nil {
		return whole
	}
	known := operations[op]
	names := slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		return slices.Index(known, Kebab(a)) - slices.Index(known, Kebab(b))
	})
	for _, name := range names {
		flag, ok := formatFlag(name, m[name])
		if !ok || !slices.Contains(known, Kebab(name)) {
			return whole
		}
		line += " " + flag
	}
	return line
}

// firstBytes are the bytes that the JSON of a flag's value begins with.
var firstBytes = map[kind]string{
	stringFlag: `"`, numberFlag: "-0123456789", boolFlag: "tf", objectFlag: "{", listFlag: "[",
}

// formatFlag returns the flag for a member of a request. It reports false when
// the flag would not be read back as the same member.
func formatFlag(name string, raw json.RawMessage) (string, bool) {
	flag, value := Kebab(name), string(raw)
	k := flags[flag]
	ok := pascal(flag) == name && strings.IndexByte(firstBytes[k], raw[0]) >= 0
	switch {
	case k == boolFlag && raw[0] == 'f':
		return "--no-" + flag, ok
	case k == boolFlag:
		return "--" + flag, ok
	case k == numberFlag:
		ok = ok && !strings.ContainsAny(value, ".eE")
	case k == stringFlag && ok:
		ok = json.Unmarshal(raw, &value) == nil && !strings.HasPrefix(value, "--") &&
			!strings.HasPrefix(value, "file://") && !strings.HasPrefix(value, "fileb://")
	}
	return "--" + flag + " " + Quote(value), ok
}
