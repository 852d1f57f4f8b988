package demo

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/show"
	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/terminal"
	"github.com/sortkey/sortkey/internal/text"
)

const indent = "    "

// Print writes a report for people.
func Print(w io.Writer, r *Report, style show.Style) {
	p := style.Paint
	fmt.Fprintf(w, "%s\n", p.Strong(r.Model.Name))
	fmt.Fprint(w, wrap(r.Model.About, "  "))
	switch r.Data {
	case Loaded:
		fmt.Fprintf(w, "  %s\n", p.Faint("tables created, items loaded"))
	case Found:
		fmt.Fprintf(w, "  %s\n", p.Faint("tables and items found, nothing loaded"))
	}
	for i := range r.Results {
		fmt.Fprintln(w)
		printResult(w, &r.Results[i], style)
	}
}

// maxRows is the number of items shown for each pattern.
const maxRows = 25

func printResult(w io.Writer, res *Result, style show.Style) {
	p := style.Paint
	mark := p.Good("✓")
	if !res.Right() {
		mark = p.Bad("✗")
	}

	fmt.Fprintf(w, "  %s %s\n", mark, p.Strong(res.Pattern.Name))
	if res.Compile != nil {
		line(w, p, "error", "not one request: "+res.Compile.Msg)
	} else {
		line(w, p, "asked", res.Question)
	}

	var items []attr.Item
	var first []string
	if r := res.Report; r != nil {
		items = r.Items
		printReport(w, r, p)
		if r.Schema != nil {
			for _, a := range r.Schema.Attributes() {
				first = append(first, a.Name)
			}
		}
	}

	if res.Pattern.About != "" {
		note := wrap(res.Pattern.About, indent+"      ")
		line(w, p, "note", strings.TrimSpace(note))
	}
	shown := items[:min(len(items), maxRows)]
	fmt.Fprint(w, show.Rows(shown, first, style.Width, indent, p))
	if n := len(items) - len(shown); n > 0 {
		fmt.Fprintln(w, indent+p.Faint("and "+text.Count(n, "item")+" more"))
	}
	if res.Report != nil && res.Report.Refused == nil && len(items) == 0 {
		fmt.Fprintln(w, indent+p.Faint("no items"))
	}

	for _, f := range res.Failures {
		fmt.Fprintln(w, indent+p.Bad("wrong: "+f.Message))
		for _, k := range f.Keys {
			fmt.Fprintln(w, indent+"       "+k)
		}
	}
}

func line(w io.Writer, p terminal.Paint, label, s string) {
	fmt.Fprintf(w, "%s%s %s\n", indent, p.Faint(fmt.Sprintf("%-5s", label)), s)
}

// printReport writes what a request read, or why it was refused.
func printReport(w io.Writer, r *explain.Report, p terminal.Paint) {
	for _, tr := range r.Traces {
		line(w, p, "slice", tr.Slice())
		line(w, p, "read", tr.Cost())
	}
	switch {
	case r.Refused != nil:
		line(w, p, "error", refusal(r.Refused))
	case len(r.Traces) == 0:
		line(w, p, "read", "one item by its key, "+text.Amount(fmt.Sprint(r.Consumed), "read unit"))
	}
}

func refusal(r *explain.Refusal) string { return r.Code + ": " + r.Message }

// wrap breaks prose into lines of 78 columns that start with prefix.
func wrap(prose, prefix string) string {
	var b strings.Builder
	for _, line := range terminal.Wrap(strings.Join(strings.Fields(prose), " "), 78-len(prefix)) {
		if line != "" {
			b.WriteString(prefix + line + "\n")
		}
	}
	return b.String()
}

// Summary returns the last line of a demo.
func Summary(reports []*Report) string {
	right, total := 0, 0
	for _, r := range reports {
		right += r.Right()
		total += len(r.Results)
	}
	return fmt.Sprintf("%d of %d access patterns right", right, total)
}

// DataSummary describes how many examples a database in a folder or in PostgreSQL had
// before the demo.
func DataSummary(reports []*Report, where string) string {
	found := 0
	for _, r := range reports {
		if r.Data == Found {
			found++
		}
	}
	switch found {
	case 0:
		return fmt.Sprintf("%s loaded into %s", text.Count(len(reports), "example"), where)
	case len(reports):
		return fmt.Sprintf("%s found in %s, nothing loaded", text.Count(found, "example"), where)
	}
	return fmt.Sprintf("%s found in %s, %d loaded into it", text.Count(found, "example"), where, len(reports)-found)
}

// AllRight reports whether every answer is right.
func AllRight(reports []*Report) bool {
	for _, r := range reports {
		if r.Right() != len(r.Results) {
			return false
		}
	}
	return true
}

type jsonDocument struct {
	Models []jsonModel `json:"models"`
	Right  int         `json:"right"`
	Total  int         `json:"total"`
}

type jsonModel struct {
	Name     string        `json:"name"`
	About    string        `json:"about"`
	Data     Data          `json:"data,omitempty"`
	Patterns []jsonPattern `json:"patterns"`
}

type jsonPattern struct {
	Name      string            `json:"name"`
	About     string            `json:"about,omitempty"`
	Operation string            `json:"operation"`
	Asked     string            `json:"asked,omitempty"`
	Request   json.RawMessage   `json:"request,omitempty"`
	Right     bool              `json:"right"`
	Wrong     []jsonFailure     `json:"wrong,omitempty"`
	Slices    []sortkey.Trace   `json:"slices,omitempty"`
	ReadUnits float64           `json:"readUnits"`
	Error     string            `json:"error,omitempty"`
	Items     []json.RawMessage `json:"items"`
}

// jsonFailure is an expectation that the answer does not meet.
type jsonFailure struct {
	Message string   `json:"message"`
	Keys    []string `json:"keys,omitempty"`
}

// Document returns reports as a document to encode as JSON.
func Document(reports []*Report) any {
	doc := jsonDocument{Models: []jsonModel{}}
	for _, r := range reports {
		doc.Right += r.Right()
		doc.Total += len(r.Results)
		s := jsonModel{Name: r.Model.Name, About: r.Model.About, Data: r.Data, Patterns: []jsonPattern{}}
		for i := range r.Results {
			s.Patterns = append(s.Patterns, jsonOf(&r.Results[i]))
		}
		doc.Models = append(doc.Models, s)
	}
	return doc
}

func jsonOf(res *Result) jsonPattern {
	p := jsonPattern{
		Name: res.Pattern.Name, About: res.Pattern.About, Operation: res.Pattern.Operation, Asked: res.Question,
		Request: res.Request(), Right: res.Right(), Items: []json.RawMessage{},
	}
	for _, f := range res.Failures {
		p.Wrong = append(p.Wrong, jsonFailure{f.Message, f.Keys})
	}
	if res.Compile != nil {
		p.Error = compile.NotARange + ": " + res.Compile.Msg
		return p
	}
	r := res.Report
	p.Slices, p.ReadUnits = r.Traces, r.Consumed
	if r.Refused != nil {
		p.Error = refusal(r.Refused)
	}
	for _, item := range r.Items {
		p.Items = append(p.Items, item.AppendJSON(nil))
	}
	return p
}
