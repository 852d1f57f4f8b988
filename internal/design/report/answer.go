package report

import (
	"io"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/gen"
	"github.com/sortkey/sortkey/internal/wire"
)

// An answer is the data that the page shows about a request that a user typed: the slice that the request reads and
// its cost. For a refused request, the answer shows why the service refuses it, and what works instead.
type answer struct {
	*check.PatternResult
	Lines   lines
	Picture *picture // nil if the request is refused
	Code    []Code
}

// Answer writes what a request reads: the slice, the cost and the code. The request need not be a pattern of the
// page. If the service refuses the request, Answer writes why, and what works instead.
func (p *Page) Answer(out io.Writer, pr *check.PatternResult) error {
	return Answer(out, pr, p.colors, nil)
}

// Answer writes what a request reads, as [Page.Answer] does, but needs no model. colors maps the names of entities to
// CSS classes such as "e0". link returns the address of a row, or "" if the row has none. link can be nil.
func Answer(
	out io.Writer, pr *check.PatternResult, colors map[string]string, link func(row attr.Item) string,
) error {
	a := &answer{PatternResult: pr, Lines: linesOf(pr), Code: InCode(pr.Input)}
	if pr.Report != nil && pr.Report.Refused == nil {
		a.Picture = newPicture(pr.Report, "slice-0", pr.Report.Partition.Text, colors, link)
	}
	return execute(out, "answer", a)
}

// A Code is a request as source text for a program or a shell. Title names the language.
type Code struct{ Title, Text string }

// InCode returns a request in each language that can express it. Its result is the data of the template "requests".
func InCode(in wire.Request) (all []Code) {
	if in == nil {
		return nil
	}
	for _, l := range []struct{ lang, title string }{
		{"aws", "AWS CLI"}, {"go", "Go"}, {"python", "Python"}, {"js", "TypeScript"},
	} {
		if s, err := gen.Request(in, l.lang); err == nil {
			all = append(all, Code{l.title, strings.TrimRight(s, "\n")})
		}
	}
	return all
}

// Nothing returns advice for a request that finds no rows.
func (p *answer) Nothing() string {
	r := p.Report
	switch {
	case r.Start != nil:
		return "No rows follow the ExclusiveStartKey. Leave it out to read from the beginning."
	case r.Operation == "Scan":
		return "There are no rows here yet. Put an item first."
	case r.Operation == "GetItem" && (r.Before != nil || r.After != nil):
		return "No item has this key. Compare it with the nearest ones above."
	case r.Before != nil || r.After != nil:
		return "No rows are in this range. Change the sort condition: the rows just outside it are above."
	case len(r.Clauses) > len(r.Schema.Partition()):
		return "No rows are in this range, nor beside it. Leave out the sort condition to see what the partition has."
	}
	return "No rows have this partition key. Compare it with the keys of the table, letter by letter."
}

// Several reports whether the input is a statement that the service accepts but runs as several requests. The answer
// has a picture only of a single request.
func (p *answer) Several() bool { return p.Report.Refused.Code == "" }

// Guide returns the address of the developer guide's page about the rule that the request breaks, or "".
func (p *answer) Guide() string {
	if source := p.Report.Refused.Source; strings.HasPrefix(source, "https://docs.aws.amazon.com/") {
		return source
	}
	return ""
}
