package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

// designs is the folder of package design.
const designs = "../../internal/design/modelfile/"

func modelFiles(t *testing.T) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob(designs + "testdata/*.yaml")
	require.NoError(t, err)
	examples, err := filepath.Glob("../../design/examples/*/model.yaml")
	require.NoError(t, err)
	all := map[string][]byte{"starter": modelfile.Starter()}
	for _, file := range append(files, examples...) {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		all[file] = data
	}
	return all
}

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(modelfile.Schema()))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("model.schema.json", doc))
	s, err := c.Compile("model.schema.json")
	require.NoError(t, err)
	return s
}

// plainValue converts YAML to the values that an editor validates, where dates are strings.
func plainValue(t *testing.T, n *yaml.Node) any {
	t.Helper()
	switch n.Kind {
	case yaml.DocumentNode:
		return plainValue(t, n.Content[0])
	case yaml.AliasNode:
		return plainValue(t, n.Alias)
	case yaml.MappingNode:
		m := map[string]any{}
		for i := 0; i < len(n.Content); i += 2 {
			m[n.Content[i].Value] = plainValue(t, n.Content[i+1])
		}
		return m
	case yaml.SequenceNode:
		l := []any{}
		for _, e := range n.Content {
			l = append(l, plainValue(t, e))
		}
		return l
	}
	switch n.ShortTag() {
	case "!!int", "!!float":
		return json.Number(n.Value)
	case "!!bool":
		return n.Value == "true"
	case "!!null":
		return nil
	}
	return n.Value
}

func document(t *testing.T, data []byte) any {
	t.Helper()
	var n yaml.Node
	require.NoError(t, yaml.Unmarshal(data, &n))
	return plainValue(t, &n)
}

func TestSchemaAccepts(t *testing.T) {
	s := compiled(t)
	for file, data := range modelFiles(t) {
		if err := s.Validate(document(t, data)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		m, err := modelfile.Parse(file, data)
		require.NoError(t, err)
		var b bytes.Buffer
		require.NoError(t, modelfile.Write(&b, m))
		if err := s.Validate(document(t, b.Bytes())); err != nil {
			t.Errorf("%s, rewritten: %v", file, err)
		}
	}
}

// TestSchemaRejects makes many errors in a model. The parser must detect all of them, and the schema most of them.
func TestSchemaRejects(t *testing.T) {
	s := compiled(t)
	good := string(modelFiles(t)[designs+"testdata/shop.yaml"]) + "\nallow:\n  - {rule: overwrite, on: Order, why: 7}\n"
	require.NoError(t, s.Validate(document(t, []byte(good))))
	type change struct{ old, broken string }
	both := []change{
		{"name: shop", "nam: shop"},
		{"seed: 1", "seed: x"},
		{"partition: PK", "partitions: PK"},
		{"type: S", "type: X"},
		{"projection: keys", "projection: key"},
		{"local: true", "local: maybe"},
		{"rates: {reads: 50", "rates: {read: 50"},
		{"mutable: [status]", "mutable: {status: true}"},
		{`when: {status: [NEW, PAID]}`, `when: [NEW]`},
		{"tags: {value:", "tags: {values:"},
		{"query: {entity: Order, where", "querry: {entity: Order, where"},
		{"order: desc", "order: down"},
		{"budget: sample", "budget: p50"},
		{"pages: 1", "pages: one"},
		{"rule: overwrite, ", ""},
		{", why: 7", ""},
		{"why: 7", "reason: x"},
	}
	// The schema checks members and the words that they can have, but not the forms and bounds of other values.
	parser := []change{
		{"name: shop", "name: The Shop"},
		{"seed: 1", "seed: -1"},
		{"distinct: 500", "distinct: 0"},
		{"distribution: sequence", "distribution: normal"},
		{"size: 5..30", "size: 5-30"},
		{"joined: date", "joined: dat"},
		{"count: 2000", "count: -1"},
		{"limit: 5", "limit: 0"},
		{`{begins_with: "2026-01"}`, `{begins: "2026-01"}`},
		{"between: [2026-01-05, 2026-01-06]", "between: [2026-01-05]"},
		{"waste: 0,", "waste: 2,"},
		{"rule: overwrite", "rule: Same"},
	}
	for i, tt := range slices.Concat(both, parser) {
		broken := strings.Replace(good, tt.old, tt.broken, 1)
		require.NotEqual(t, good, broken, tt.old)
		if err := s.Validate(document(t, []byte(broken))); err == nil && i < len(both) {
			t.Errorf("the schema accepts %s", tt.broken)
		}
		if _, err := modelfile.Parse("m.yaml", []byte(broken)); err == nil {
			t.Errorf("Parse accepts %s", tt.broken)
		}
	}
}

// TestSchemaIsSound replaces each value of a model, and tests that the parser rejects what the schema rejects. A
// short run tries one text for each value, a long run tries all texts.
func TestSchemaIsSound(t *testing.T) {
	proptest.SkipShort(t)
	s := compiled(t)
	var doc yaml.Node
	require.NoError(t, yaml.Unmarshal(modelFiles(t)[designs+"testdata/shop.yaml"], &doc))
	texts := []string{"x y", "-1", "[x]", "{x: y}"}
	nodes, tried, refused := 0, 0, 0
	var replace func(n *yaml.Node)
	replace = func(n *yaml.Node) {
		was := *n
		nodes++
		for i, text := range texts {
			if !proptest.Long() && i != nodes%len(texts) {
				continue
			}
			var other yaml.Node
			require.NoError(t, yaml.Unmarshal([]byte(text), &other))
			*n = *other.Content[0]
			tried++
			if s.Validate(plainValue(t, &doc)) != nil {
				refused++
				data, err := yaml.Marshal(&doc)
				require.NoError(t, err)
				if _, err := modelfile.Parse("m.yaml", data); err == nil {
					t.Errorf("only the schema refuses %s on line %d", text, was.Line)
				}
			}
		}
		*n = was
		for i, child := range n.Content {
			if n.Kind != yaml.MappingNode || i%2 == 1 {
				replace(child)
			}
		}
	}
	replace(doc.Content[0])
	require.Greater(t, refused, tried/3)
}
