package site

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// A scan is what Check looks at in a page.
type scan struct {
	ids           map[string]bool
	links         []string // where a reader can go
	loaded        []string // what a browser loads by itself
	faults        []string
	headings      int // of the first level
	title, inside string
}

// Check returns what is wrong with the pages of a site, a line each: links and places that do not exist, what is
// loaded from another host, ids that are used twice, images without a text, pages without a title or with another
// number of h1 than one. It does not look into the playground.
func Check(folder string) ([]string, error) {
	pages := map[string]*scan{}
	others := map[string]bool{}
	err := fs.WalkDir(os.DirFS(folder), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || d.IsDir():
			return err
		case path.Ext(name) != ".html" || name == playgroundPage:
			others[name] = true
			return nil
		}
		pages[name], err = scanFile(filepath.Join(folder, filepath.FromSlash(name)))
		return err
	})
	if err != nil {
		return nil, err
	}

	var faults []string
	for name, p := range pages {
		for _, fault := range p.check(name, pages, others) {
			faults = append(faults, name+": "+fault)
		}
	}
	slices.Sort(faults)
	return faults, nil
}

// check returns what is wrong with one page.
func (s *scan) check(name string, pages map[string]*scan, others map[string]bool) []string {
	faults := s.faults
	fault := func(layout string, args ...any) { faults = append(faults, fmt.Sprintf(layout, args...)) }
	if strings.TrimSpace(s.title) == "" {
		fault("has no title")
	}
	if s.headings != 1 {
		fault("has %d h1, want 1", s.headings)
	}

	for _, to := range s.loaded {
		u, err := url.Parse(to)
		if err != nil || u.IsAbs() || u.Host != "" || strings.HasPrefix(to, "/") {
			fault("loads %s, want a file of the site", to)
		} else if file := path.Join(path.Dir(name), u.Path); !others[file] {
			fault("loads %s, which does not exist", to)
		}
	}
	for _, to := range s.links {
		u, err := url.Parse(to)
		switch {
		case err != nil:
			fault("links to %q: %v", to, err)
			continue
		case u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "mailto":
			fault("links to %s, want http, https or a page of the site", to)
			continue
		case u.Scheme != "":
			continue
		}
		file := name
		if u.Path != "" {
			file = path.Join(path.Dir(name), u.Path)
		}
		target := pages[file]
		switch {
		case target == nil && !others[file] || strings.HasPrefix(u.Path, "/"):
			fault("links to %s, which does not exist", to)
		case file == playgroundPage && u.RawQuery != "" && !others[modelFile(u.Query().Get("model"))]:
			fault("links to %s, a model that the playground does not have", to)
		case target != nil && u.Fragment != "" && !target.ids[u.Fragment]:
			fault("links to %s, where no part has this id", to)
		}
	}
	return faults
}

// modelFile returns the file of a model that links to the playground name.
func modelFile(name string) string {
	return path.Join(path.Dir(playgroundPage), "examples", name+".yaml")
}

// scanFile reads a page.
func scanFile(file string) (*scan, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()

	s := &scan{ids: map[string]bool{}}
	z := html.NewTokenizer(f)
	for {
		switch z.Next() {
		case html.ErrorToken:
			if err := z.Err(); !errors.Is(err, io.EOF) {
				return nil, err
			}
			return s, nil
		case html.StartTagToken, html.SelfClosingTagToken:
			s.tag(z.Token())
		case html.EndTagToken:
			s.inside = ""
		case html.TextToken:
			if s.inside == "title" {
				s.title += string(z.Text())
			}
		}
	}
}

// tag takes what matters from a tag.
func (s *scan) tag(t html.Token) {
	s.inside = t.Data
	attributes := map[string]string{}
	for _, a := range t.Attr {
		attributes[a.Key] = a.Val
	}
	if id, ok := attributes["id"]; ok {
		if s.ids[id] {
			s.faults = append(s.faults, fmt.Sprintf("has two parts with the id %q", id))
		}
		s.ids[id] = true
	}

	switch t.Data {
	case "h1":
		s.headings++
	case "a":
		s.links = append(s.links, attributes["href"])
	case "iframe":
		s.links = append(s.links, attributes["src"])
	case "link":
		s.loaded = append(s.loaded, attributes["href"])
	case "img":
		if attributes["alt"] == "" {
			s.faults = append(s.faults, fmt.Sprintf("has the image %s without a text", attributes["src"]))
		}
		s.loaded = append(s.loaded, attributes["src"])
	default:
		if src, ok := attributes["src"]; ok {
			s.loaded = append(s.loaded, src)
		}
	}
}
