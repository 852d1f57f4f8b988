package designtest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/sortkey/sortkey/design"
	"github.com/sortkey/sortkey/design/examples"
	"github.com/sortkey/sortkey/sdk"
)

const drive = `
name: drive
tables: {Drive: {partition: PK, sort: SK}}
entities:
  File:
    attributes: {PK: "D#{drive}", SK: "F#{path}"}
    samples:
      - {drive: a, path: photos/1.jpg}
      - {drive: a, path: photos-old/2.jpg}
patterns:
  - name: files under photos
    query: {entity: File, where: {drive: a, path: {begins_with: photos}}}
    expect: {rows: 1}
`

func parse(t *testing.T, text string) *design.Model {
	t.Helper()
	m, err := design.Parse("drive.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestCheck(t *testing.T) {
	m := parse(t, drive)
	if got := m.Patterns(); !slices.Equal(got, []string{"files under photos"}) {
		t.Errorf("Patterns() = %q", got)
	}
	rules := func(o design.Options) (found []string) {
		t.Helper()
		findings, err := m.Check(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range findings {
			found = append(found, f.Severity+" "+f.Rule)
			if f.Message == "" || f.Place == "" {
				t.Errorf("a finding without message or place: %+v", f)
			}
		}
		return found
	}
	if got := rules(design.Options{NoLints: true}); !slices.Equal(got, []string{"error expectation"}) {
		t.Errorf("without lints: %q", got)
	}
	_, data, err := examples.Read("file-tree")
	if err != nil {
		t.Fatal(err)
	}
	m = parse(t, strings.Replace(string(data), "rows: 6,", "rows: 7,", 1))
	if got := rules(design.Options{MaxItems: 1000}); !slices.Equal(got, []string{"error expectation", "warning overwrite", "note foreign-rows", "note filter-for-key"}) {
		t.Errorf("with lints: %q", got)
	}
	if got := rules(design.Options{NoLints: true, Only: []string{"another"}}); len(got) != 0 {
		t.Errorf("only another: %q", got)
	}
}

func TestOpen(t *testing.T) {
	db, err := parse(t, drive).Open(t.Context(), design.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	out, err := sdk.Direct(db).Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("Drive")})
	if err != nil || out.Count != 2 {
		t.Errorf("Scan of Drive = %+v, %v, want 2 items", out, err)
	}
}

// TestErrors checks that the errors of a model have places, and that a canceled context stops the work.
func TestErrors(t *testing.T) {
	_, err := design.Parse("drive.yaml", []byte(strings.ReplaceAll(drive, "entity: File", "entity: Fil")))
	if err == nil || !strings.Contains(err.Error(), "drive.yaml:12:") || !strings.Contains(err.Error(), "File") {
		t.Errorf("a misspelt entity: %v", err)
	}
	if _, err := design.Load(filepath.Join(t.TempDir(), "none.yaml")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := parse(t, drive).Check(ctx, design.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
}

func ExampleModel_Check() {
	file, data, err := examples.Read("shop")
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := design.Parse(file, data)
	if err != nil {
		fmt.Println(err)
		return
	}
	findings, err := m.Check(context.Background(), design.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range findings {
		if f.Severity != "note" {
			fmt.Println(strings.TrimSpace(f.Severity + " " + f.Rule + " " + f.Pattern))
		}
	}
	// Output:
	// warning loads
	// warning natural-order newest comment on a post, by the table
}
