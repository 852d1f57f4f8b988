package modelfile_test

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/modelfile"
)

// TestDocument checks that docs/model-file.md names all members of the format, and that every other word in code
// style exists.
func TestDocument(t *testing.T) {
	file, err := os.ReadFile("../../../docs/model-file.md")
	require.NoError(t, err)
	text := string(file)
	var schema map[string]any
	require.NoError(t, json.Unmarshal(modelfile.Schema(), &schema))
	members := map[string]bool{}
	words := map[string]bool{
		"true": true, "p50": true, "declared": true, // p50 and declared are in the output of check
		"uniform": true, "sequence": true, "even": true, "between": true, "begins_with": true, "check": true,
	}
	vocabulary(schema, members, words)
	delete(members, "$schema") // for editors
	delete(members, "=")       // what a value alone means
	require.Greater(t, len(members), 60)

	var code []string // code spans, and the lines of code blocks
	for _, m := range regexp.MustCompile("(?m)`([^`]+)`|^    (.*)").FindAllStringSubmatch(text, -1) {
		code = append(code, m[1]+m[2])
	}
	all := strings.Join(code, "\n")
	for name := range members {
		if !regexp.MustCompile(`(^|\W)` + regexp.QuoteMeta(name) + `($|\W)`).MatchString(all) {
			t.Errorf("member %s is not documented", name)
		}
	}
	maps.Copy(words, members)
	for _, span := range code {
		if regexp.MustCompile(`^[a-z_]+$`).MatchString(span) && !words[span] {
			t.Errorf("`%s` is neither a member nor the value of one", span)
		}
	}

	definitions := schema["$defs"].(map[string]any)
	field := definitions["field"].(map[string]any)["anyOf"].([]any)[1] // the other is a type alone
	for _, tt := range []struct {
		heading string
		object  any
		apart   []string // members that are not in the table
	}{
		{"# The model file", schema, []string{"$schema"}},
		{"## Fields", field, []string{"type"}},
		{"## Patterns", definitions["expect"], nil},
	} {
		_, section, _ := strings.Cut("\n"+text, "\n"+tt.heading+"\n")
		_, table, _ := strings.Cut("\n"+section, "\n|---|---|\n")
		table, _, _ = strings.Cut(table, "\n\n")
		got := tt.apart
		for row := range strings.Lines(table) {
			cell, _, _ := strings.Cut(row[1:], "|")
			for _, m := range regexp.MustCompile("`(.+?)`").FindAllStringSubmatch(cell, -1) {
				got = append(got, m[1])
			}
		}
		properties := tt.object.(map[string]any)["properties"].(map[string]any)
		require.ElementsMatch(t, slices.Collect(maps.Keys(properties)), got, tt.heading)
	}
}

// vocabulary adds the names of the members in a schema, and the words that are values of members.
func vocabulary(part any, members, words map[string]bool) {
	switch part := part.(type) {
	case []any:
		for _, e := range part {
			vocabulary(e, members, words)
		}
	case map[string]any:
		for keyword, v := range part {
			switch keyword {
			case "properties":
				for name := range v.(map[string]any) {
					members[name] = true
				}
			case "enum", "examples":
				for _, word := range v.([]any) {
					words[word.(string)] = true
				}
			case "const":
				words[v.(string)] = true
			}
			vocabulary(v, members, words)
		}
	}
}
