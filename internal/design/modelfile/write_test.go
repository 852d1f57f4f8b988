package modelfile_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/keys"
)

// same compares models without their places.
var same = cmp.Options{
	cmp.FilterPath(func(p cmp.Path) bool { return p.Last().Type() == typeOf[model.Pos]() }, cmp.Ignore()),
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

// models returns all model files of testdata and the starter.
func models(t *testing.T) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("testdata/*.yaml")
	require.NoError(t, err)
	examples, err := filepath.Glob("../../design/examples/*/model.yaml")
	require.NoError(t, err)
	files = append(files, examples...)
	all := map[string][]byte{"starter": modelfile.Starter()}
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		all[file] = data
	}
	return all
}

func TestWrite(t *testing.T) {
	for file, data := range models(t) {
		m, err := modelfile.Parse(file, data)
		require.NoError(t, err)
		var b bytes.Buffer
		require.NoError(t, modelfile.Write(&b, m))
		again, err := modelfile.Parse(file, b.Bytes())
		require.NoError(t, err, b.String())
		if d := cmp.Diff(m, again, same); d != "" {
			t.Errorf("Parse(Write(%s)) differs:\n%s\n%s", file, d, b.String())
		}
		var c bytes.Buffer
		require.NoError(t, modelfile.Write(&c, again))
		require.Equal(t, b.String(), c.String())
	}
}

func TestJSON(t *testing.T) {
	m, err := modelfile.Parse("m.json", []byte("{\n\t\"name\": \"j\", \"about\": \"a\\/b \\ud83d\\ude00 \\\\ud83d \\u00e9\",\n\t\"tables\": {\"Tab\": {\"partition\": \"PK\"}},\n\t\"items\": {\"Tab\": [{\"PK\": {\"S\": \"x\"}}]}\n}"))
	require.NoError(t, err)
	require.Equal(t, "a/b 😀 \\ud83d é", m.About)
	require.Equal(t, "x", string(m.Items[0].Item.Get("PK").Raw()))
}
