package export

import (
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/keycond"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the expected files")

// TestGolden exports a small model in each format.
func TestGolden(t *testing.T) {
	m, err := modelfile.Load("testdata/orders.yaml")
	require.NoError(t, err)
	for _, f := range Formats() {
		t.Run(string(f), func(t *testing.T) {
			files, err := Export(m, f)
			require.NoError(t, err)
			require.Len(t, files, 1)
			path := filepath.Join("testdata/golden", string(f)+filepath.Ext(files[0].Name))
			if *rewrite {
				require.NoError(t, os.MkdirAll("testdata/golden", 0o777))
				require.NoError(t, os.WriteFile(path, files[0].Data, 0o600))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err)
			if string(want) != string(files[0].Data) {
				t.Errorf("%s is stale: run go test ./internal/design/export -rewrite and review the difference", path)
			}
		})
	}
}

// TestInherited exports no property whose name every object of JavaScript has, and says what is lost by that.
func TestInherited(t *testing.T) {
	m, err := modelfile.Load("testdata/hostile.yaml")
	require.NoError(t, err)
	for _, f := range []Format{OneTable, ElectroDB} {
		files, err := Export(m, f)
		require.NoError(t, err)
		require.Len(t, files, 2)
		things, other := files[0], files[1]
		require.Nil(t, other.Data)
		require.Contains(t, other.Losses, Loss{Part: Tables, Names: []string{"Unusable"}})
		var lost []string
		for _, l := range things.Losses {
			lost = append(lost, l.Names...)
		}
		require.Subset(t, lost, []string{
			"Thing.SK", "Thing.valueOf", "Thing.toString", "Thing.hasOwnProperty", "Things.ByText",
		})
		schema, _, _ := strings.Cut(string(things.Data), `"items"`) // which are items as they are
		for _, name := range inherited {
			require.NotContains(t, schema, name, f)
		}
	}
}

// TestUnmarked holds that an export to ElectroDB says how to read items without its marks, if the model's items have
// none.
func TestUnmarked(t *testing.T) {
	for attributes, want := range map[string]string{
		`PK: "{id}"`: ".go({ignoreOwnership: true})",
		`PK: "{id}", __edb_e__: Thing, __edb_v__: "1"`: "",
	} {
		m, err := modelfile.Parse("model.yaml", []byte(
			"name: marks\ntables: {Things: {partition: PK}}\nentities: {Thing: {attributes: {"+attributes+"}}}",
		))
		require.NoError(t, err)
		files, err := Export(m, ElectroDB)
		require.NoError(t, err)
		require.Contains(t, files[0].Advice, want)
		require.Equal(t, want == "", files[0].Advice == "", attributes)
	}
}

// TestFacts fails when a type of models gets a member: facts must say what it holds, or losses would
// not name it.
func TestFacts(t *testing.T) {
	for _, tt := range []struct {
		of   any
		want int
	}{
		{model.Model{}, 10}, {model.Table{}, 6}, {model.Index{}, 7}, {model.Entity{}, 13}, {model.Template{}, 7},
		{model.Field{}, 10}, {model.Sample{}, 3}, {model.RawItem{}, 3}, {model.Pattern{}, 20}, {model.Write{}, 7},
		{model.Condition{}, 4},
		{model.Expect{}, 13}, {model.Allowance{}, 4}, {keycond.Attribute{}, 2},
	} {
		if typ := reflect.TypeOf(tt.of); typ.NumField() != tt.want {
			t.Errorf("%s has %d members, want %d: extend facts, then this number", typ, typ.NumField(), tt.want)
		}
	}
}

// TestUnknown refuses a format that does not exist.
func TestUnknown(t *testing.T) {
	_, err := Export(&model.Model{}, "xml")
	require.ErrorContains(t, err, `unknown format "xml"`)
}

// TestLines wraps a loss and quotes names of several words.
func TestLines(t *testing.T) {
	l := Loss{Part: Patterns, Names: []string{"orders", "orders of a customer, newest first"}}
	require.Equal(t, `access patterns: orders, "orders of a customer, newest first"`, l.String())
	for range 5 {
		l.Names = append(l.Names, "orders of a customer")
	}
	lines := l.Lines("- ")
	require.Len(t, lines, 2)
	require.Regexp(t, `^  "orders of a customer", `, lines[1])
}
