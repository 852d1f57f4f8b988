package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/models"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/tabledef"
	"github.com/sortkey/sortkey/sortkeytest"
)

// files writes files into a folder, and returns it.
func files(t *testing.T, texts map[string]string) string {
	dir := t.TempDir()
	for name, text := range texts {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return dir
}

const (
	tab = `{"TableName":"Tab","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"id",` +
		`"AttributeType":"S"}],"KeySchema":[{"AttributeName":"id","KeyType":"HASH"}]}`
	putA = `{"PutRequest":{"Item":{"id":{"S":"a"}}}}`
)

// TestLoadData loads requests and exports into tables that have no items of others.
func TestLoadData(t *testing.T) {
	dir := files(t, map[string]string{
		"tab.json": tab, "a.json": `{"Tab":[` + putA + `]}`, "b.json": `{"TableName":"Tab","Item":{"id":{"S":"b"}}}`,
		"export/table.json": tab, "export/data/x.json": `{"Item":{"id":{"S":"x"}}}`,
		"seeds/a.json": `{"Tab":[` + putA + `]}`, "seeds/b.json": `{"TableName":"Tab","Item":{"id":{"S":"b"}}}`,
	})
	for _, tt := range []struct {
		name  string
		loads []string
		want  []models.Loaded // result of each load; a new loader then repeats the last load
		dump  string
	}{
		{"requests", []string{"tab.json", "a.json", "b.json"}, []models.Loaded{
			{Tables: 1, Created: 1}, {Tables: 1, Written: 1}, {Tables: 1, Written: 1}, {Tables: 1, Found: true},
		}, "\"a\"\n\"b\"\n"},
		{"a folder of requests", []string{"tab.json", "seeds"}, []models.Loaded{
			{Tables: 1, Created: 1}, {Tables: 2, Written: 2}, {Tables: 2, Found: true},
		}, "\"a\"\n\"b\"\n"},
		{"an export", []string{"export"}, []models.Loaded{{Tables: 1, Created: 1, Written: 1}, {Tables: 1, Found: true}}, "\"x\"\n"},
		{"its data", []string{"export/data"}, []models.Loaded{{Tables: 1, Created: 1, Written: 1}, {Tables: 1, Found: true}}, "\"x\"\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			db := sortkeytest.New(t)
			loader := models.Loader{DB: db.DB}
			for i, want := range tt.want {
				if i == len(tt.loads) {
					loader = models.Loader{DB: db.DB} // of the next start
				}
				got, _, err := loader.Load(t.Context(), filepath.Join(dir, tt.loads[min(i, len(tt.loads)-1)]))
				require.NoError(t, err)
				want.Scale = 1
				require.Equal(t, want, got)
			}
			require.Contains(t, db.Dump("Tab"), tt.dump)
		})
	}
}

func TestLoadDataFails(t *testing.T) {
	dir := files(t, map[string]string{
		"a.json": `{"Tab":[` + putA + `]}`, "bare.json": "[" + putA + "]", "empty/x.txt": "", "tab.json": tab,
		"check.json": `{"TransactItems":[{"ConditionCheck":{"TableName":"Tab"}}]}`, "export/data/x.json": `{"id":{"S":"x"}}`,
	})
	for _, tt := range []struct {
		loads        []string
		want, advice string
	}{
		{[]string{"a.json"}, "table Tab does not exist", "load the definition of the table before it, with another --load"},
		{[]string{"bare.json"}, "no table name for ", "serve without it, and import it with: sortkey import"},
		{[]string{"export"}, "no table name for ", "serve without it, and import it with: sortkey import"},
		{[]string{"tab.json", "check.json"}, "check.json: line 1: ConditionCheck is not a write of a whole item", ""},
		{[]string{"empty"}, tabledef.ErrFolder.Error(), "name the file that defines the tables"},
	} {
		db := sortkeytest.New(t)
		loader := models.Loader{DB: db.DB}
		var err error
		for _, name := range tt.loads {
			_, _, err = loader.Load(t.Context(), filepath.Join(dir, name))
		}
		require.ErrorContains(t, err, tt.want)
		require.Contains(t, advice.Of(err), tt.advice)
	}
}
