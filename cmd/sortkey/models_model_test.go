package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/models"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/sortkeytest"
)

func TestFind(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "model.yaml")
	if err := os.WriteFile(file, []byte("name: mine\ntables: {Things: {partition: p}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"employees": "employees", file: "mine", dir: "mine"} {
		m, err := models.Find(name)
		if err != nil || m.Name != want {
			t.Errorf("Find(%s) = %v, %v, want %s", name, m, err, want)
		}
	}
	for _, name := range []string{"nothing", "", filepath.Join(dir, "none"), "file-tree/model.yaml"} {
		if _, err := models.Find(name); !errors.Is(err, models.ErrNotFound) {
			t.Errorf("Find(%s) = %v, want %v", name, err, models.ErrNotFound)
		}
	}
	for text, want := range map[string]string{
		`{"name": "x", "tables": [{"partition": "p"}]}`: "other.json:1:25: tables must be a mapping of names, not a list",
		`{"name": "x"`: "not YAML",
	} {
		other := filepath.Join(dir, "other.json")
		if err := os.WriteFile(other, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := models.Find(other); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Find of %s = %v, want %s", text, err, want)
		}
	}
}

func TestEnsureAndDescribe(t *testing.T) {
	db := sortkeytest.New(t)
	s, err := models.Example("file-tree")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := models.Ensure(t.Context(), db.DB, s, dataset.Options{MaxItems: 100}); err != nil {
		t.Fatal(err)
	}
	names, err := models.Tables(t.Context(), explain.InProcess(db.DB))
	if err != nil || !slices.Equal(names, []string{"Drive"}) {
		t.Errorf("Tables = %v, %v, want Drive", names, err)
	}
	table, err := explain.Describe(t.Context(), explain.InProcess(db.DB), "Drive")
	if err != nil {
		t.Fatal(err)
	}
	byParent := table.Schema("ByParent")
	if byParent == nil || byParent.Table() != table.Key || byParent.Partition()[0].Name != "parent" || byParent.Sort()[0].Name != "SK" {
		t.Errorf("Schema(ByParent) = %+v", byParent)
	}
	if table.Schema("no") != nil {
		t.Error("there is a schema for an index that is not there")
	}
}

// samplesOf returns an example that generates no items.
func samplesOf(t *testing.T, name string) *model.Model {
	t.Helper()
	s, err := models.Example(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range s.Entities {
		e.Count = 0
	}
	return s
}

// TestEnsure tests that Ensure finds existing items and loads missing ones.
func TestEnsure(t *testing.T) {
	db := sortkeytest.New(t)
	s := samplesOf(t, "file-tree")
	ensure := func(s *model.Model, what string, want bool) {
		t.Helper()
		loaded, err := models.Ensure(t.Context(), db.DB, s, dataset.Options{MaxItems: 100})
		if err != nil || loaded.Found != want {
			t.Errorf("%s: Ensure = %v, %v, want %v", what, loaded.Found, err, want)
		}
		written := len(s.Items)
		for _, e := range s.Entities {
			written += len(e.Samples)
		}
		if n := len(sortkeytest.Items[map[string]any](db, "Drive")); n < written || n > written+1 {
			t.Errorf("%s: %d items, want %d", what, n, written)
		}
	}
	ensure(s, "nothing there", false)
	ensure(s, "all there", true)
	_, err := db.Client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String("Drive"), Key: map[string]types.AttributeValue{
		"PK": &types.AttributeValueMemberS{Value: "DRIVE#a91"}, "SK": &types.AttributeValueMemberS{Value: "root/photos/"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	ensure(s, "an item is missing", false)
	db.Put("Drive", map[string]any{"PK": "mine", "SK": "mine"})
	ensure(s, "one more", true)

	for _, table := range []string{
		`{partition: PK}`,
		`{partition: PK, sort: {name: SK, type: N}}`,
		`{partition: PK, sort: SK, indexes: {More: {partition: SK}}}`,
	} {
		other, err := modelfile.Parse("m.yaml", []byte("name: other\ntables: {Drive: "+table+"}\n"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := models.Ensure(t.Context(), db.DB, other, dataset.Options{}); !errors.Is(err, models.ErrOther) {
			t.Errorf("Ensure of %s = %v, want %v", table, err, models.ErrOther)
		}
	}
}
