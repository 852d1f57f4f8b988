package design_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design"
	"github.com/sortkey/sortkey/keys"
)

// same compares models but for places.
var same = cmp.Options{
	cmp.FilterPath(func(p cmp.Path) bool { return p.Last().Type() == typeOf[design.Pos]() }, cmp.Ignore()),
	cmp.Comparer(func(a, b *keys.Template) bool {
		if a == nil || b == nil {
			return a == b
		}
		return a.String() == b.String() && cmp.Equal(a.Parts(), b.Parts())
	}),
	cmp.Comparer(func(a, b attr.Value) bool {
		return a.Kind() == b.Kind() && (a.Kind() == 0 || attr.Equal(a, b))
	}),
	cmp.Comparer(func(a, b attr.Item) bool { return a.Equal(b) }),
	cmp.Comparer(func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }),
}

// models are all model files of testdata, and the starter.
func models(t *testing.T) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("testdata/*.yaml")
	require.NoError(t, err)
	examples, err := filepath.Glob("../../design/examples/*/model.yaml")
	require.NoError(t, err)
	files = append(files, examples...)
	all := map[string][]byte{"starter": design.Starter()}
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		all[file] = data
	}
	return all
}

func TestWrite(t *testing.T) {
	for file, data := range models(t) {
		m, err := design.Parse(file, data)
		require.NoError(t, err)
		var b bytes.Buffer
		require.NoError(t, design.Write(&b, m))
		again, err := design.Parse(file, b.Bytes())
		require.NoError(t, err, b.String())
		if d := cmp.Diff(m, again, same); d != "" {
			t.Errorf("Parse(Write(%s)) differs:\n%s\n%s", file, d, b.String())
		}
		var c bytes.Buffer
		require.NoError(t, design.Write(&c, again))
		require.Equal(t, b.String(), c.String())
	}
}

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(design.Schema()))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("model.schema.json", doc))
	s, err := c.Compile("model.schema.json")
	require.NoError(t, err)
	return s
}

// plain turns YAML into what an editor checks: dates are text there.
func plain(t *testing.T, n *yaml.Node) any {
	t.Helper()
	switch n.Kind {
	case yaml.DocumentNode:
		return plain(t, n.Content[0])
	case yaml.AliasNode:
		return plain(t, n.Alias)
	case yaml.MappingNode:
		m := map[string]any{}
		for i := 0; i < len(n.Content); i += 2 {
			m[n.Content[i].Value] = plain(t, n.Content[i+1])
		}
		return m
	case yaml.SequenceNode:
		l := []any{}
		for _, e := range n.Content {
			l = append(l, plain(t, e))
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
	return plain(t, &n)
}

func TestSchemaAccepts(t *testing.T) {
	s := compiled(t)
	for file, data := range models(t) {
		if err := s.Validate(document(t, data)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		m, err := design.Parse(file, data)
		require.NoError(t, err)
		var b bytes.Buffer
		require.NoError(t, design.Write(&b, m))
		if err := s.Validate(document(t, b.Bytes())); err != nil {
			t.Errorf("%s, written again: %v", file, err)
		}
	}
}

// TestSchemaRejects breaks a model in many ways that both the schema and the
// parser must see.
func TestSchemaRejects(t *testing.T) {
	s := compiled(t)
	good := string(models(t)["testdata/shop.yaml"])
	for _, tt := range []struct{ old, broken string }{
		{"name: shop", "nam: shop"},
		{"name: shop", "name: The Shop"},
		{"seed: 1", "seed: -1"},
		{"seed: 1", "seed: x"},
		{"partition: PK", "partitions: PK"},
		{"type: S", "type: X"},
		{"projection: keys", "projection: key"},
		{"local: true", "local: maybe"},
		{"distinct: 500", "distinct: 0"},
		{"distribution: sequence", "distribution: normal"},
		{"size: 5..30", "size: 5-30"},
		{"joined: date", "joined: dat"},
		{"count: 2000", "count: -1"},
		{"rates: {reads: 50", "rates: {read: 50"},
		{"mutable: [status]", "mutable: {status: true}"},
		{`when: {status: [NEW, PAID]}`, `when: [NEW]`},
		{"tags: {value:", "tags: {values:"},
		{"query: {entity: Order, where", "querry: {entity: Order, where"},
		{"order: desc", "order: down"},
		{"limit: 5", "limit: 0"},
		{`{begins_with: "2026-01"}`, `{begins: "2026-01"}`},
		{"between: [2026-01-05, 2026-01-06]", "between: [2026-01-05]"},
		{"waste: 0}", "waste: 2}"},
		{"pages: 1", "pages: one"},
		{"operation: Query\n", "operation: Put\n"},
	} {
		broken := strings.Replace(good, tt.old, tt.broken, 1)
		require.NotEqual(t, good, broken, tt.old)
		if err := s.Validate(document(t, []byte(broken))); err == nil {
			t.Errorf("the schema accepts %s", tt.broken)
		}
		if _, err := design.Parse("m.yaml", []byte(broken)); err == nil {
			t.Errorf("Parse accepts %s", tt.broken)
		}
	}
}

func TestJSON(t *testing.T) {
	m, err := design.Parse("m.json", []byte("{\n\t\"name\": \"j\", \"about\": \"a\\/b \\ud83d\\ude00 \\\\ud83d \\u00e9\",\n\t\"tables\": {\"Tab\": {\"partition\": \"PK\"}},\n\t\"items\": {\"Tab\": [{\"PK\": {\"S\": \"x\"}}]}\n}"))
	require.NoError(t, err)
	require.Equal(t, "a/b 😀 \\ud83d é", m.About)
	require.Equal(t, "x", string(m.Items[0].Item.Get("PK").Raw()))
}
