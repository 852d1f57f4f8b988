package console

import (
	"net/http"

	"github.com/sortkey/sortkey/internal/design/report"
)

// A frame is what all pages have in common: the header and the list of tables. Body and Data determine the page
// inside.
type frame struct {
	Top    report.Top
	Branch string // name of the branch that the page shows, or ""
	Tables []report.Place
	Body   string // name of the template for the element main
	Data   any    // data for the template Body
}

// The values of aria-current for links in the frame. A link has currentPage if it leads to the page that contains it,
// and currentPart if that page is a part of its target.
const (
	currentPage = "page"
	currentPart = "true"
)

// ofTable reports whether a page is about one table, which its address names. Body is the name of the page's
// template.
func ofTable(body string) bool { return body == "rows" || body == "item" }

// place fills the header of a page and the list of tables. It uses relative links, so that a page of a branch links
// to other pages of that branch.
func (s *Server) place(p *frame, r *http.Request, names []string) {
	is := func(body string) string {
		if p.Body == body {
			return currentPage
		}
		return ""
	}

	server := report.Place{Kind: "console", Text: s.opts.Name, Link: "./"}
	p.Top.Pages = []report.Place{{Text: "Tables", Link: "./", Current: is("tables")}}
	if p.Branch = s.opts.Branch; p.Branch != "" {
		p.Top.Class = "of-branch"
		server.Link = "../../"
		p.Top.Places = []report.Place{server, {Kind: "branch", Text: p.Branch, Link: "./"}}
		p.Top.Pages = append(p.Top.Pages, report.Place{Text: "Branches", Link: "../../branches"})
	} else {
		p.Top.Places = []report.Place{server}
	}
	if s.opts.DB != nil {
		branches := report.Place{Text: "Branches", Link: "branches", Current: is("branches")}
		p.Top.Pages = append(p.Top.Pages, branches)
	}
	if s.opts.Requests != nil {
		requests := report.Place{Text: "Live requests", Link: "requests", Current: is("requests")}
		if p.Body == "request" {
			requests.Current = currentPart
		}
		p.Top.Pages = append(p.Top.Pages, requests)
	}

	for _, name := range names {
		t := report.Place{Text: name, Link: "table?" + query("name", name)}
		if ofTable(p.Body) && r.FormValue("name") == name {
			t.Current = currentPage
			if p.Body == "item" || r.URL.Path == "/collection" {
				t.Current = currentPart
			}
			p.Top.Places = append(p.Top.Places, report.Place{Kind: "table", Text: name, Link: t.Link})
			if index := r.FormValue("index"); index != "" {
				at := report.Place{Kind: "index", Text: index, Link: "table?" + query("name", name, "index", index)}
				p.Top.Places = append(p.Top.Places, at)
			}
		}
		p.Tables = append(p.Tables, t)
	}
}
