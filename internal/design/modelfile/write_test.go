package modelfile_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
)

// requireSame compares two models without their places. It clears the places in both.
func requireSame(t *testing.T, want, got *model.Model, text string) {
	t.Helper()
	forget(reflect.ValueOf(want), map[any]bool{})
	forget(reflect.ValueOf(got), map[any]bool{})
	require.Equal(t, want, got, text)
}

// forget clears the places in a value.
func forget(v reflect.Value, seen map[any]bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && !seen[v.Interface()] {
			seen[v.Interface()] = true
			forget(v.Elem(), seen)
		}
	case reflect.Slice:
		for i := range v.Len() {
			forget(v.Index(i), seen)
		}
	case reflect.Map:
		for _, elem := range v.Seq2() {
			forget(elem, seen)
		}
	case reflect.Struct:
		if v.Type() == typeOf[model.Pos]() {
			v.SetZero()
			return
		}
		for field, value := range v.Fields() {
			if field.IsExported() {
				forget(value, seen)
			}
		}
	}
}

// models returns all model files of testdata and the starter.
func models(t *testing.T) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("testdata/*.yaml")
	require.NoError(t, err)
	examples, err := filepath.Glob("../../../design/examples/*/model.yaml")
	require.NoError(t, err)
	tenants, err := filepath.Glob("../dataset/testdata/*.yaml")
	require.NoError(t, err)
	files = append(files, append(tenants, examples...)...)
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
		var c bytes.Buffer
		require.NoError(t, modelfile.Write(&c, again))
		require.Equal(t, b.String(), c.String())
		requireSame(t, m, again, b.String())
	}
}

func TestJSON(t *testing.T) {
	m, err := modelfile.Parse("m.json", []byte("{\n\t\"name\": \"j\", \"about\": \"a\\/b 😀 \\u00e9\",\n\t\"tables\": {\"Tab\": {\"partition\": \"PK\"}},\n\t\"items\": {\"Tab\": [{\"PK\": {\"S\": \"x\"}}]}\n}"))
	require.NoError(t, err)
	require.Equal(t, "a/b 😀 é", m.About)
	require.Equal(t, "x", string(m.Items[0].Item.Get("PK").Raw()))
}

// TestPlainBool holds that a sample writes a value of an attribute whose constant is a Boolean as plain YAML.
func TestPlainBool(t *testing.T) {
	m, err := modelfile.Parse("m.yaml", []byte(`
name: bool
tables: {Tab: {partition: PK}}
entities: {User: {attributes: {PK: "{id}", active: {value: {BOOL: true}}}, samples: [{id: a, active: false}]}}
`))
	require.NoError(t, err)
	require.Equal(t, `{"active":{"BOOL":false}}`, string(m.Entities[0].Samples[0].Attributes.AppendJSON(nil)))
}
