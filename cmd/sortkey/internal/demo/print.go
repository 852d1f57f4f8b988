package demo

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/show"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/slice"
	"github.com/sortkey/sortkey/examples"
)

// A Style is how to print for people. The zero value is plain.
type Style struct {
	// Width is the most columns a line of a table may have, or 0.
	Width int
	Paint show.Paint
}

const indent = "    "

// Print writes a report for people.
func Print(w io.Writer, r *Report, style Style) {
	p := style.Paint
	fmt.Fprintf(w, "%s\n", p.Strong(r.System.Name))
	fmt.Fprint(w, wrap(r.System.About, 78, "  "))
	switch r.Data {
	case Loaded:
		fmt.Fprintf(w, "  %s\n", p.Faint("tables made and items loaded"))
	case Found:
		fmt.Fprintf(w, "  %s\n", p.Faint("tables and items found, nothing loaded"))
	}
	for i := range r.Results {
		fmt.Fprintln(w)
		printResult(w, &r.Results[i], style)
	}
}

func printResult(w io.Writer, res *Result, style Style) {
	p := style.Paint
	mark := p.Good("✓")
	if res.Wrong != "" {
		mark = p.Bad("✗")
	}
	fmt.Fprintf(w, "  %s %s\n", mark, p.Strong(res.Pattern.Name))
	line(w, p, "asked", res.Question)
	for _, s := range res.Slices {
		line(w, p, "slice", s.String())
		line(w, p, "read", s.Read)
	}
	if len(res.Slices) == 0 && res.Err == nil {
		line(w, p, "read", fmt.Sprintf("one item by its key, %v read units", res.Units))
	}
	if res.Err != nil {
		line(w, p, "error", refusal(res.Err))
	}
	if res.Pattern.Note != "" {
		note := wrap(res.Pattern.Note, 78, indent+"      ")
		line(w, p, "note", strings.TrimSpace(note))
	}
	fmt.Fprint(w, show.Rows(res.Items, res.First, style.Width, indent, p))
	if res.Err == nil && len(res.Items) == 0 {
		fmt.Fprintln(w, indent+p.Faint("no items"))
	}
	if res.Wrong != "" {
		fmt.Fprintln(w, indent+p.Bad("wrong: "+res.Wrong))
		fmt.Fprintln(w, indent+"expected "+strings.Join(expected(res.Pattern), "\n"+indent+"         "))
		fmt.Fprintln(w, indent+"got      "+strings.Join(got(res), "\n"+indent+"         "))
	}
}

func line(w io.Writer, p show.Paint, label, text string) {
	fmt.Fprintf(w, "%s%s %s\n", indent, p.Faint(fmt.Sprintf("%-5s", label)), text)
}

// refusal is the service's error without the SDK's words round it.
func refusal(err error) string {
	text := err.Error()
	if _, after, ok := strings.Cut(text, "api error "); ok {
		return after
	}
	return text
}

func expected(p *examples.Pattern) []string {
	switch {
	case p.Error != "":
		return []string{p.Error}
	case p.Item != nil:
		if item, err := attr.ParseItem(p.Item); err == nil && item != nil {
			return []string{string(item.AppendJSON(nil))}
		}
		return []string{"no item"}
	}
	return keys(p.Keys)
}

func got(res *Result) []string {
	switch {
	case res.Err != nil:
		return []string{refusal(res.Err)}
	case res.Pattern.Item != nil && len(res.Items) > 0:
		return []string{string(res.Items[0].AppendJSON(nil))}
	case res.Pattern.Item != nil:
		return []string{"no item"}
	}
	return keys(res.Keys)
}

func keys(list []examples.Key) []string {
	if len(list) == 0 {
		return []string{"no items"}
	}
	out := make([]string, len(list))
	for i, k := range list {
		out[i] = k.String()
	}
	return out
}

// wrap breaks text into lines of at most width bytes, each after prefix.
func wrap(text string, width int, prefix string) string {
	var b strings.Builder
	n := 0
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
			b.WriteString(prefix)
			n = len(prefix)
		case n+1+len(word) > width:
			b.WriteString("\n" + prefix)
			n = len(prefix)
		default:
			b.WriteByte(' ')
			n++
		}
		b.WriteString(word)
		n += len(word)
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	return b.String()
}

// Summary is the line that ends a demo.
func Summary(reports []*Report) string {
	right, total := 0, 0
	for _, r := range reports {
		right += r.Right()
		total += len(r.Results)
	}
	return fmt.Sprintf("%d of %d access patterns right", right, total)
}

// DataSummary is the line that says where the items of a kept database came
// from.
func DataSummary(reports []*Report, dir string) string {
	found := 0
	for _, r := range reports {
		if r.Data == Found {
			found++
		}
	}
	some := func(n int) string {
		if n == 1 {
			return "1 example"
		}
		return fmt.Sprint(n, " examples")
	}
	switch found {
	case 0:
		return fmt.Sprintf("%s loaded into %s", some(len(reports)), dir)
	case len(reports):
		return fmt.Sprintf("%s found in %s, nothing loaded", some(found), dir)
	}
	return fmt.Sprintf("%s found in %s, %d loaded into it", some(found), dir, len(reports)-found)
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
	Systems []jsonSystem `json:"systems"`
	Right   int          `json:"right"`
	Total   int          `json:"total"`
}

type jsonSystem struct {
	Name     string        `json:"name"`
	About    string        `json:"about"`
	Data     Data          `json:"data,omitempty"`
	Patterns []jsonPattern `json:"patterns"`
}

type jsonPattern struct {
	Name      string            `json:"name"`
	Note      string            `json:"note,omitempty"`
	Operation string            `json:"operation"`
	Asked     string            `json:"asked"`
	Request   json.RawMessage   `json:"request"`
	Right     bool              `json:"right"`
	Wrong     string            `json:"wrong,omitempty"`
	Expected  []string          `json:"expected,omitempty"`
	Got       []string          `json:"got,omitempty"`
	Slices    []slice.Words     `json:"slices,omitempty"`
	ReadUnits float64           `json:"readUnits"`
	Error     string            `json:"error,omitempty"`
	Items     []json.RawMessage `json:"items"`
}

// WriteJSON writes reports as one JSON document.
func WriteJSON(w io.Writer, reports []*Report) error {
	doc := jsonDocument{Systems: []jsonSystem{}}
	for _, r := range reports {
		doc.Right += r.Right()
		doc.Total += len(r.Results)
		s := jsonSystem{Name: r.System.Name, About: r.System.About, Data: r.Data, Patterns: []jsonPattern{}}
		for i := range r.Results {
			s.Patterns = append(s.Patterns, jsonOf(&r.Results[i]))
		}
		doc.Systems = append(doc.Systems, s)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(doc)
}

func jsonOf(res *Result) jsonPattern {
	_, request := res.Pattern.Operation()
	p := jsonPattern{
		Name: res.Pattern.Name, Note: res.Pattern.Note, Operation: res.Operation, Asked: res.Question, Request: request,
		Right: res.Wrong == "", Wrong: res.Wrong, Slices: res.Slices, ReadUnits: res.Units, Items: []json.RawMessage{},
	}
	if res.Wrong != "" {
		p.Expected, p.Got = expected(res.Pattern), got(res)
	}
	if res.Err != nil {
		p.Error = refusal(res.Err)
	}
	for _, item := range res.Items {
		p.Items = append(p.Items, item.AppendJSON(nil))
	}
	return p
}
