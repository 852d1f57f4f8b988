package main

import (
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	maskedItems = `{"Item":{"pk":{"S":"u77"},"gsi":{"S":"anna77"},"members":{"M":{"berta77@example.org":{"M":{"role":{"S":"carla77"},"sick":{"BOOL":true}}}}},` +
		`"salary":{"N":"7"},"share":{"N":"0.7654321"},"dora77@example.org":{"S":"x"},"set":{"SS":["erna77"]}}}` + "\n" +
		`{"Item":{"pk":{"S":"u78"},"gsi":{"S":"frida77"},"big":{"N":"7.7E+120"}}}` + "\n"
	maskedTable = `{"TableName":"People","AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"gsi","AttributeType":"S"}],
		"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST",
		"GlobalSecondaryIndexes":[{"IndexName":"ByGSI","KeySchema":[{"AttributeName":"gsi","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}]}`
	openRules   = `{seed: x, rules: [{path: "*", as: hash}]}`
	closedRules = `{seed: x, rules: [{path: pk, as: hash}, {path: gsi, as: hash}, {path: "members.*.sick", as: redact}, ` +
		`{path: members, as: hash, names: hash}, {path: "*", as: hash, names: hash}]}`
)

// maskFolder returns a folder with items, a table's definition and rules.
func maskFolder(t *testing.T) func(name string) string {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"items.json": maskedItems, "table.json": maskedTable, "open.yaml": openRules, "closed.yaml": closedRules,
		"lost.yaml": `{seed: x, rules: [{path: "*", as: hash, names: hash}]}`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return func(name string) string { return filepath.Join(dir, name) }
}

// TestMaskLeavesNothing searches the names and contents of all files of masked exports for the original values.
func TestMaskLeavesNothing(t *testing.T) {
	at := maskFolder(t)
	code, _, stderr := runAt(0, nil, "import", at("items.json"), "--schema", at("table.json"), "--data", at("db"))
	require.Equal(t, 0, code, stderr)
	dir := at("dynamodb")
	code, out, stderr := runAt(0, nil, "export", "--all", "--data", at("db"), "--to", dir, "--mask", at("closed.yaml"))
	require.Equal(t, 0, code, stderr)
	text := out + stderr
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		text += strings.TrimPrefix(path, dir) + "\n"
		if d.IsDir() {
			return nil
		}
		f, err := os.Open(path)
		require.NoError(t, err)
		defer f.Close()
		var r io.Reader = f
		if strings.HasSuffix(path, ".gz") {
			r, err = gzip.NewReader(f)
			require.NoError(t, err)
		}
		b, err := io.ReadAll(r)
		text += string(b)
		return err
	}))
	code, out, stderr = runAt(0, nil, "export", "People", "--data", at("db"), "--to", "-", "--mask", at("closed.yaml"))
	require.Equal(t, 0, code, stderr)
	text += out + stderr
	for _, word := range []string{"u77", "u78", "anna77", "carla77", "dora77", "erna77", "frida77", "example.org", `"7"`, "0.7654321", "7700000000", "role"} {
		require.NotContains(t, text, word)
	}
}
