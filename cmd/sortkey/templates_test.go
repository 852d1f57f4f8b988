package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/models"
	"github.com/sortkey/sortkey/design/designtest"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/design/tabledef"
	"github.com/sortkey/sortkey/sortkeytest"
)

// A template is a project with definitions of tables, and the expected result of loading it.
type template struct {
	load, refused, hint string
	parameters          []string
	want, notes         string
}

// TestTemplates loads the projects in testdata/templates in three ways: into the database of a test, with sortkey
// serve --load, and with sortkey design import. It tests that the tables are the same.
func TestTemplates(t *testing.T) {
	paths, err := filepath.Glob("testdata/templates/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			project := readTemplate(t, path)
			for name, load := range map[string]func(*testing.T, template) (tables, said string){
				"Load": loadInTest, "serve": loadInServer, "import": importDesign,
			} {
				tables, said := load(t, project)
				said = strings.NewReplacer("-P ", "", `=…"`, "=…").Replace(said)
				said = regexp.MustCompile(`"([^" ]+=…)`).ReplaceAllString(said, "$1")
				if project.refused != "" {
					require.Contains(t, said, project.refused, name)
					require.Contains(t, said, project.hint, name)
					continue
				}
				require.Equal(t, project.want, tables, "%s: %s", name, said)
				for note := range strings.Lines(project.notes) {
					if name == "Load" && strings.HasPrefix(note, "AWS::Region ") {
						continue // the database of a test sets the region
					}
					require.Contains(t, said, strings.TrimSpace(note), name)
				}
				if project.notes == "" {
					require.NotContains(t, said, "is used", name)
				}
			}
		})
	}
}

// readTemplate reads a project, and writes its files to a folder.
func readTemplate(t *testing.T, path string) (p template) {
	archive, err := txtar.ParseFile(path)
	require.NoError(t, err)
	dir := t.TempDir()
	for line := range strings.Lines(string(archive.Comment)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch name {
		case "load":
			words := strings.Fields(value)
			p.load, p.parameters = filepath.Join(dir, words[0]), words[1:]
		case "refused":
			p.refused = value
		case "hint":
			p.hint = value
		}
	}
	for _, f := range archive.Files {
		switch f.Name {
		case "want":
			p.want = string(f.Data)
		case "notes":
			p.notes = string(f.Data)
		default:
			name := filepath.Join(dir, f.Name)
			require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
			require.NoError(t, os.WriteFile(name, f.Data, 0o600))
		}
	}
	return p
}

// A listener is a [testing.TB] that records messages.
type listener struct {
	testing.TB
	said string
}

func (l *listener) Logf(format string, args ...any) { l.said += fmt.Sprintf(format, args...) + "\n" }

func (l *listener) Errorf(format string, args ...any) { l.Logf(format, args...) }

func (l *listener) Fatalf(format string, args ...any) {
	l.Logf(format, args...)
	panic(l)
}

func loadInTest(t *testing.T, p template) (tables, said string) {
	l := &listener{TB: t}
	db := sortkeytest.New(l)
	defer func() {
		if p.refused != "" {
			require.Same(t, l, recover())
			said = l.said
		}
	}()
	designtest.Load(db, p.load, p.parameters...)
	return tablesOf(t, db), l.said
}

func loadInServer(t *testing.T, p template) (tables, said string) {
	r := tabledef.Reader{Parameters: tabledef.Parameters{}, Flag: "-P "}
	for _, text := range p.parameters {
		name, value, _ := strings.Cut(text, "=")
		r.Parameters[name] = value
	}
	db := sortkeytest.New(t)
	loader := models.Loader{DB: db.DB, Definitions: r}
	_, notes, err := loader.Load(t.Context(), p.load)
	if p.refused != "" {
		require.Error(t, err)
		return "", err.Error() + "\n" + advice.Of(err)
	}
	require.NoError(t, err)
	again, _, err := loader.Load(t.Context(), p.load)
	require.NoError(t, err)
	require.True(t, again.Found, "the tables are there")
	for _, n := range notes {
		said += n.String() + "\n"
	}
	return tablesOf(t, db), said
}

func importDesign(t *testing.T, p template) (tables, said string) {
	var out, failed bytes.Buffer
	env := &app.Env{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &failed,
		Getenv: func(string) string { return "" }, Width: func() int { return 0 },
	}
	args := []string{"design", "import", p.load}
	for _, text := range p.parameters {
		args = append(args, "-P", text)
	}
	if cli.Main(args, env) != 0 || p.refused != "" {
		return "", failed.String()
	}
	m, err := modelfile.Parse("model.yaml", out.Bytes())
	require.NoError(t, err)
	slices.SortFunc(m.Tables, func(a, b *model.Table) int { return strings.Compare(a.Name, b.Name) })
	for _, table := range m.Tables {
		tables += line(table.Name, table.Partition, table.Sort)
		for _, x := range table.Indexes {
			tables += line("  "+x.Name, x.Partition, x.Sort)
		}
		if table.TTL != "" {
			tables += "  ttl: " + table.TTL + "\n"
		}
	}
	return tables, failed.String()
}

// line describes a key.
func line(name string, partition, sort []model.Attribute) string {
	text := func(list []model.Attribute) string {
		var all []string
		for _, a := range list {
			all = append(all, a.Name+":"+a.Kind.String())
		}
		return strings.Join(all, ", ")
	}
	name += ": " + text(partition)
	if len(sort) > 0 {
		name += " / " + text(sort)
	}
	return name + "\n"
}

// tablesOf describes the tables of a database.
func tablesOf(t *testing.T, db *sortkeytest.DB) (all string) {
	names, err := models.Tables(t.Context(), explain.InProcess(db.DB))
	require.NoError(t, err)
	for _, name := range names {
		table, err := explain.Describe(t.Context(), explain.InProcess(db.DB), name)
		require.NoError(t, err)
		all += line(name, table.Key.Partition(), table.Key.Sort())
		for _, x := range table.Indexes {
			all += line("  "+x.Key.Name(), x.Key.Partition(), x.Key.Sort())
		}
		out, err := db.Client.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: &name})
		require.NoError(t, err)
		if d := out.TimeToLiveDescription; d.TimeToLiveStatus == types.TimeToLiveStatusEnabled {
			all += "  ttl: " + aws.ToString(d.AttributeName) + "\n"
		}
	}
	return all
}
