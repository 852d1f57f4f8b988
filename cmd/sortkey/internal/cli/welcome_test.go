package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/design/examples"
)

// TestLookAround holds what is found in a folder and in those inside it, and which of them are passed over.
func TestLookAround(t *testing.T) {
	t.Parallel()
	_, model, err := examples.Read("shop")
	require.NoError(t, err)
	large := string(model) + strings.Repeat("# "+strings.Repeat("x", 98)+"\n", 20_000)
	template := `{"Resources": {"T": {"Type": "AWS::DynamoDB::Table", "Properties": {"BillingMode": "PAY_PER_REQUEST",
		"AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}], "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}]}}}}`
	const terraform = `resource "aws_dynamodb_table" "events" {
		name = "Events"
		hash_key = "id"
		attribute {
			name = "id"
			type = "S"
		}
	}`
	for _, tt := range []struct {
		files map[string]string
		want  []string
	}{
		{map[string]string{"services/orders/model.yaml": string(model)}, []string{"sortkey design open services/orders/model.yaml"}},
		{map[string]string{"a b/it's/m.yaml": string(model)}, []string{`sortkey design open './a b/it'\''s/m.yaml'`}},
		{map[string]string{"a/x.yaml": string(model), "b.yaml": string(model)}, []string{"sortkey design open b.yaml", "sortkey design open a/x.yaml"}},
		{map[string]string{"a/b/c/x.yaml": string(model), "a/b/c/d/x.yaml": string(model)}, []string{"sortkey design open a/b/c/x.yaml"}},
		{map[string]string{"infra/main.tf": terraform, "aws/t.json": template}, []string{"sortkey serve --load aws/t.json", "sortkey serve --load infra"}},
		{map[string]string{"data/SORTKEY": "", "data/model.yaml": string(model)}, []string{"sortkey console --data data"}},
		{map[string]string{".git/m.yaml": string(model), "node_modules/m/model.yaml": string(model), "a/.hidden/m.yaml": string(model), "vendor/m.yaml": string(model)}, nil},
		{map[string]string{"big.yaml": large, "small.yaml": string(model)}, []string{"sortkey design open big.yaml this may be a model; it was not read here, as it has 1.9 MB", "sortkey design open small.yaml"}},
		{map[string]string{"m/big.yaml": large, "notes.yaml": strings.Repeat("tables: none\n", 200_000), "x.json": "[" + strings.Repeat("1,", 1<<20) + "1]"}, []string{"sortkey design open m/big.yaml this may be a model"}},
	} {
		dir := t.TempDir()
		for name, text := range tt.files {
			path := filepath.Join(dir, filepath.FromSlash(name))
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
			require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
		}
		_ = os.Symlink(dir, filepath.Join(dir, "loop")) // folders that links lead to are not looked into
		found := lookAround(dir)
		require.Len(t, found, len(tt.want), "%v", found)
		for i, h := range found {
			require.True(t, strings.HasPrefix(h.command+" "+h.about, tt.want[i]), "%s %s, want %s", h.command, h.about, tt.want[i])
		}
	}

	wide := t.TempDir()
	for i := range 300 {
		path := filepath.Join(wide, fmt.Sprintf("f%03d", i))
		require.NoError(t, os.Mkdir(path, 0o777))
		if i == 50 || i == 250 {
			require.NoError(t, os.WriteFile(filepath.Join(path, "m.yaml"), model, 0o666))
		}
	}
	found := lookAround(wide)
	require.Len(t, found, 1, "%v", found)
	require.Equal(t, "sortkey design open f050/m.yaml", found[0].command)
}
