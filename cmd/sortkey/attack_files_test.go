//go:build attack && linux

package main

import (
	"compress/gzip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// cost runs a command that refuses a file, and holds its memory, its processor time and what it prints to bounds.
func cost(t *testing.T, what string, megabytes, seconds int, args ...string) {
	t.Helper()
	cmd := command(t, args...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit, "%s: %s", what, out)
	bounded(t, what+": memory", int(peakMemory(cmd.ProcessState)>>20), megabytes, "MB")
	spent := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	bounded(t, what+": processor time", int(spent.Seconds()), seconds, "s")
	bounded(t, what+": printed", len(out), 10_000, "bytes")
}

func TestAttackImport(t *testing.T) {
	for _, tt := range []struct{ name, begin, elem, end string }{
		{"plain JSON", `{"id":"%d","l":[`, "1", "]}"},
		{"DynamoDB JSON", `{"Item":{"id":{"S":"%d"},"l":{"L":[`, `{"N":"1"}`, "]}}}"},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "items.json.gz")
		f, err := os.Create(path)
		require.NoError(t, err)
		z, err := gzip.NewWriterLevel(f, gzip.BestSpeed)
		require.NoError(t, err)
		list := strings.TrimSuffix(strings.Repeat(tt.elem+",", 6_000_000/(len(tt.elem)+1)), ",")
		for i := range 60 {
			_, err := fmt.Fprintf(z, tt.begin+"%s"+tt.end+"\n", i, list)
			require.NoError(t, err)
		}
		require.NoError(t, z.Close())
		require.NoError(t, f.Close())
		cost(t, "import 60 lines of 6 MB, "+tt.name, 300, 30, "import", path, "--data", filepath.Join(dir, "db"), "--table", "Tab", "--key", "id:S")
	}
}

func TestAttackTemplates(t *testing.T) {
	table := `"Resources": {"T": {"Type": "AWS::DynamoDB::Table", "Properties": {"TableName": `
	doubled := `"a0": {"x": "y"}`
	for i := range 60 {
		find := fmt.Sprintf(`{"Fn::FindInMap": ["M", "a%d", "x"]}`, i)
		doubled += fmt.Sprintf(`, "a%d": {"x": {"Fn::Join": ["", [%s, %s]]}}`, i+1, find, find)
	}
	texts := "service: s\nprovider: {name: aws}\ncustom:\n  a0: xxxxxxxx\n"
	for i := range 60 {
		texts += fmt.Sprintf("  a%d: '${self:custom.a%d}${self:custom.a%d}'\n", i+1, i, i)
	}
	for _, tt := range []struct{ name, file, text string }{
		{"200 KB of parentheses in Terraform", "a.tf", "resource \"aws_dynamodb_table\" \"t\" {\nname = " + strings.Repeat("(", 200_000) + "\n}\n"},
		{"a name of 200 KB in Terraform", "a.tf", "resource \"aws_dynamodb_table\" \"t\" {\nname = " + strings.Repeat("a", 200_000) + "\n}\n"},
		{"modules that are their own folder", "main.tf", "module \"a\" {\nsource = \"./\"\n}\nmodule \"b\" {\nsource = \"./\"\n}\nmodule \"c\" {\nsource = \"./\"\n}\n"},
		{"a mapping in itself", "a.json", `{"Mappings": {"M": {"a": {"x": {"Fn::FindInMap": ["M", "a", "x"]}}}}, ` + table + `{"Fn::FindInMap": ["M", "a", "x"]}}}}}`},
		{"mappings that double", "a.json", `{"Mappings": {"M": {` + doubled + `}}, ` + table + `{"Fn::FindInMap": ["M", "a60", "x"]}}}}}`},
		{"texts that double in serverless.yml", "serverless.yml", texts + "resources: {Resources: {T: {Type: AWS::DynamoDB::Table, Properties: {TableName: '${self:custom.a60}'}}}}\n"},
		{"200 KB of parentheses in a model", "m.yaml", "name: m\ntables: {T: {key: PK}}\nentities: {E: {table: T, key: {PK: '" + strings.Repeat("(", 200_000) + "'}}}\nx: " + strings.Repeat("(", 200_000) + "\n"},
	} {
		path := filepath.Join(t.TempDir(), tt.file)
		require.NoError(t, os.WriteFile(path, []byte(tt.text), 0o600))
		verb := []string{"design", "import", path}
		if tt.file == "m.yaml" {
			verb = []string{"design", "check", path}
		}
		if tt.file == "main.tf" {
			verb[2] = filepath.Dir(path)
		}
		cost(t, tt.name, 600, 10, verb...)
	}
}
