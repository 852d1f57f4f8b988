package site

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// The API reference in the navigation, and its first page.
const (
	referenceGroup = "API reference"
	referencePage  = "api/index.html"
)

// The playground, and the page that it stands behind in the navigation.
const (
	playgroundPage  = "playground/index.html"
	playgroundAfter = "docs/workbench.md"
)

// tried are the examples that documents about models offer to try.
var tried = map[string]string{"docs/workbench.md": "file-tree", "docs/model-file.md": "shop"}

// groups are the documents in the order in which a reader needs them. A pattern stands for those that it matches and
// no other entry names.
var groups = []struct {
	name    string
	sources []string
}{
	{"Begin", []string{"README.md", "docs/installing.md"}},
	{"Testing", []string{
		"docs/testing.md", "docs/testing-faults.md", "docs/testing-time.md", "docs/testing-isolation.md",
		"docs/testing-streams.md", "docs/testing-languages.md", "packages/python/README.md",
		"packages/npm/README.md", "packages/java/README.md", "docs/testing-moving.md", "docs/fidelity.md",
	}},
	{"Designing keys", []string{
		"docs/workbench.md", "docs/model-file.md", "docs/lints.md", "docs/agents.md",
		"design/examples/README.md", "design/examples/*/README.md",
	}},
	{"Storing", []string{"docs/embedded.md", "docs/operations.md", "docs/scale.md"}},
	{referenceGroup, nil},
	{"The project", []string{
		"CHANGELOG.md", "docs/design.md", "docs/reading.md", "docs/experiments.md", "bench/README.md",
		"CONTRIBUTING.md", "SECURITY.md",
	}},
}

// complete are the patterns whose matches are all pages, so that a new document is not forgotten.
var complete = []string{"*.md", "docs/*.md", "packages/*/README.md", "bench/README.md", "design/examples/*/README.md"}

// labels are the names in the navigation of pages whose titles say too little or too much there.
var labels = map[string]string{
	"README.md":           "What Sortkey is",
	"docs/testing.md":     "Overview of testing",
	"docs/workbench.md":   "The workbench",
	"docs/operations.md":  "Running a server",
	"docs/experiments.md": "Experiments for speed",
}

// list adds all pages, still empty.
func (b *builder) list() error {
	named := map[string]bool{}
	for _, g := range groups {
		for _, source := range g.sources {
			named[source] = true
		}
	}
	for _, g := range groups {
		if g.name == referenceGroup {
			if err := b.listPackages(); err != nil {
				return err
			}
		}
		for _, pattern := range g.sources {
			found, err := b.glob(pattern)
			if err != nil {
				return err
			}
			if len(found) == 0 {
				return fmt.Errorf("%s does not exist: correct groups in tools/site/pages.go", pattern)
			}
			for _, source := range found {
				if source != pattern && named[source] {
					continue
				}
				if err := b.addDocument(source, g.name); err != nil {
					return err
				}
			}
		}
	}

	for _, pattern := range complete {
		found, err := b.glob(pattern)
		if err != nil {
			return err
		}
		for _, source := range found {
			if b.bySource[source] == nil {
				return fmt.Errorf("%s is on no page: add it to groups in tools/site/pages.go", source)
			}
		}
	}
	return nil
}

func (b *builder) add(p *page) {
	b.pages = append(b.pages, p)
	b.bySource[p.source] = p
}

// title matches the title of a document.
var title = regexp.MustCompile(`(?m)^# (.+)$`)

func (b *builder) addDocument(source, group string) error {
	text, err := os.ReadFile(filepath.Join(b.Root, filepath.FromSlash(source)))
	if err != nil {
		return err
	}
	found := title.FindSubmatch(text)
	if found == nil {
		return fmt.Errorf("%s has no title: begin it with a line like # Lints", source)
	}
	p := &page{path: documentPath(source), source: source, group: group, title: string(found[1])}
	p.label = cmp.Or(labels[source], p.title)
	b.add(p)
	return nil
}

// glob returns the files of the checkout that match a pattern, in order.
func (b *builder) glob(pattern string) ([]string, error) {
	found, err := filepath.Glob(filepath.Join(b.Root, filepath.FromSlash(pattern)))
	for i, file := range found {
		if found[i], err = filepath.Rel(b.Root, file); err != nil {
			return nil, err
		}
		found[i] = filepath.ToSlash(found[i])
	}
	return found, err
}

// documentPath returns the path of the page of a document.
func documentPath(source string) string {
	if path.Base(source) == "README.md" {
		return path.Join(path.Dir(source), "index.html")
	}
	return strings.TrimSuffix(source, ".md") + ".html"
}

// exported matches a line of docs/api.txt.
var exported = regexp.MustCompile(`(?m)^sortkey([^:\n]*): `)

// listPackages adds the public packages, which are those of docs/api.txt.
func (b *builder) listPackages() error {
	text, err := os.ReadFile(filepath.Join(b.Root, "docs", "api.txt"))
	if err != nil {
		return err
	}
	var folders []string
	for _, m := range exported.FindAllStringSubmatch(string(text), -1) {
		folders = append(folders, strings.TrimPrefix(m[1], "/"))
	}
	slices.Sort(folders)

	b.add(&page{path: referencePage, source: "docs/api.txt", group: referenceGroup, label: "All packages"})
	for _, folder := range slices.Compact(folders) {
		name := path.Join("sortkey", folder)
		p := &page{path: "api/" + name + ".html", source: path.Join(".", folder), group: referenceGroup, label: name}
		if folder != "" {
			p.label = folder
		}
		b.add(p)
	}
	return nil
}
