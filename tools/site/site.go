// Package site makes a site of static files from the documents of a checkout, the comments of its public packages
// and the models of its lints.
//
// [Build] writes the files, and [Check] says what is wrong with them. The site works from a file and below any path:
// all links are relative, and no page loads anything from another host. Only search needs JavaScript.
package site

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Options say what Build reads and where it writes.
type Options struct {
	Root   string // root of the checkout
	Folder string // where the site is written; it is created if it does not exist
	Ref    string // branch or tag that links to source files name. Default: main
}

// repository is where links to source files lead.
const repository = "https://github.com/sortkey/sortkey"

// A page is a file of the site. Paths have slashes and begin at the root of the site.
type page struct {
	path     string
	source   string // file of the repository, or folder of a package
	group    string
	title    string
	label    string // in the navigation
	body     template.HTML
	contents []heading
	sections []section
}

// A heading is an entry of a page's table of contents. Level is 2 or 3.
type heading struct {
	Level    int
	ID, Text string
}

// A section is a part of a page that search finds.
type section struct {
	id, heading string
	text        strings.Builder
}

// A builder holds what the pages of a site share.
type builder struct {
	Options
	pages      []*page
	bySource   map[string]*page
	playground bool // the folder has one, so that pages link to it
	models     map[string][]byte
}

//go:embed templates
var files embed.FS

var layout = template.Must(template.ParseFS(files, "templates/page.html"))

// Build writes a site. If the folder has a playground in playground/, as sortkey playground writes it, pages link to
// it, and it gets the models of the lints. The same checkout gives the same bytes.
func Build(o Options) error {
	o.Ref = cmp.Or(o.Ref, "main")
	b := &builder{Options: o, bySource: map[string]*page{}, models: map[string][]byte{}}
	_, err := os.Stat(filepath.Join(o.Folder, playgroundPage))
	b.playground = err == nil

	if err := b.list(); err != nil {
		return err
	}
	for _, p := range b.pages {
		if err := b.fill(p); err != nil {
			return fmt.Errorf("%s: %w", p.source, err)
		}
	}
	return b.write()
}

// fill makes the content of a page.
func (b *builder) fill(p *page) error {
	switch {
	case p.path == referencePage:
		return b.referenceIndex(p)
	case p.group == referenceGroup:
		return b.reference(p)
	}
	return b.document(p)
}

// sharedStyle is the style sheet that all pages of this project begin with.
const sharedStyle = "internal/design/report/templates/base.css"

// write writes all files.
func (b *builder) write() error {
	index, err := searchIndex(b.pages)
	if err != nil {
		return err
	}
	all := map[string][]byte{"search-index.js": index}
	for _, name := range []string{"site.css", "site.js", "icon.svg"} {
		if all[name], err = files.ReadFile("templates/" + name); err != nil {
			return err
		}
	}
	base, err := os.ReadFile(filepath.Join(b.Root, sharedStyle))
	if err != nil {
		return err
	}
	all["site.css"] = append(base, all["site.css"]...)

	for i, p := range b.pages {
		if all[p.path], err = b.render(i); err != nil {
			return err
		}
	}
	for name, model := range b.models {
		all[name] = model
	}

	for name, data := range all {
		file := filepath.Join(b.Folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(file, data, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// A link is an entry of the navigation.
type link struct {
	Path, Text string
	Current    bool
}

// A linkGroup is a part of the navigation.
type linkGroup struct {
	Name  string
	Links []link
}

// render returns the file of page i.
func (b *builder) render(i int) ([]byte, error) {
	p := b.pages[i]
	data := struct {
		Root, Title, Group, Source string
		Body                       template.HTML
		Contents                   []heading
		Groups                     []linkGroup
		Previous, Next             *link
	}{
		Root: strings.Repeat("../", strings.Count(p.path, "/")), Title: p.title, Group: p.group,
		Source: b.onGitHub(p.source), Body: p.body, Contents: p.contents,
	}

	for _, other := range b.pages {
		if n := len(data.Groups); n == 0 || data.Groups[n-1].Name != other.group {
			data.Groups = append(data.Groups, linkGroup{Name: other.group})
		}
		g := &data.Groups[len(data.Groups)-1]
		g.Links = append(g.Links, link{relative(p.path, other.path), other.label, other == p})
		if b.playground && other.source == playgroundAfter {
			g.Links = append(g.Links, link{relative(p.path, playgroundPage), "The playground", false})
		}
	}
	if i > 0 {
		data.Previous = &link{Path: relative(p.path, b.pages[i-1].path), Text: b.pages[i-1].label}
	}
	if i+1 < len(b.pages) {
		data.Next = &link{Path: relative(p.path, b.pages[i+1].path), Text: b.pages[i+1].label}
	}

	var out bytes.Buffer
	err := layout.ExecuteTemplate(&out, "page.html", data)
	return out.Bytes(), err
}

// onGitHub returns the address of a file or folder of the checkout.
func (b *builder) onGitHub(name string) string {
	kind := "blob"
	if info, err := os.Stat(filepath.Join(b.Root, filepath.FromSlash(name))); err == nil && info.IsDir() {
		kind = "tree"
	}
	return strings.TrimSuffix(repository+"/"+kind+"/"+b.Ref+"/"+name, "/.")
}

// relative returns the link from one page to another.
func relative(from, to string) string {
	folder, target := strings.Split(path.Dir(from), "/"), strings.Split(to, "/")
	if folder[0] == "." {
		folder = nil
	}
	for len(folder) > 0 && len(target) > 1 && folder[0] == target[0] {
		folder, target = folder[1:], target[1:]
	}
	return strings.Repeat("../", len(folder)) + strings.Join(target, "/")
}
