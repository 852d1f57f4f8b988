package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/show"
	"github.com/sortkey/sortkey/internal/item"
	"github.com/sortkey/sortkey/internal/keycond"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

// An answer combines the pages of a query.
type answer struct {
	in       *wire.QueryInput
	items    []attr.Item
	last     attr.Item // start of the next page, nil at the end
	pages    int
	examined int
	units    float64
	slices   []sortkey.Trace
}

// add adds a page.
func (ans *answer) add(out *wire.QueryOutput) {
	ans.pages++
	ans.items = append(ans.items, out.Items...)
	ans.last = nil
	if out.LastEvaluatedKey.Len() > 0 {
		ans.last = out.LastEvaluatedKey
	}
	if out.ScannedCount != nil {
		ans.examined += int(*out.ScannedCount)
	}
	if used := out.ConsumedCapacity; used != nil && used.CapacityUnits != nil {
		ans.units += *used.CapacityUnits
	}
}

// print writes the answer for people.
func (ans *answer) print(w io.Writer, schema *keycond.Schema, style show.Style, trace bool) {
	p := style.Paint
	if trace {
		fmt.Fprintf(w, "%s %s\n", p.Faint("asked"), ask.Question(ans.in, nil))
		for _, s := range ans.slices {
			fmt.Fprintf(w, "%s %s\n", p.Faint("slice"), s.Slice())
			fmt.Fprintf(w, "%s  %s\n", p.Faint("read"), s.Cost())
		}
		fmt.Fprintln(w)
	}
	var first []string
	for _, a := range schema.Attributes() {
		first = append(first, a.Name)
	}
	if rows := show.Rows(ans.items, first, style.Width, "", p); rows != "" {
		fmt.Fprintln(w, rows)
	}
	fmt.Fprintln(w, p.Faint(ans.summary()))
}

func (ans *answer) summary() string {
	var b strings.Builder
	if len(ans.items) == 0 {
		b.WriteString("no rows")
	} else {
		b.WriteString(text.Count(len(ans.items), "row"))
	}
	fmt.Fprintf(&b, " (%d examined, %v read units", ans.examined, ans.units)
	if ans.pages > 1 {
		fmt.Fprintf(&b, ", %d pages", ans.pages)
	}
	b.WriteString(")")
	if ans.last != nil {
		b.WriteString("; there may be more: --all reads all pages")
	}
	return b.String()
}

// writeJSON writes the answer as one JSON document with the members of a Query
// response, and each item on a line.
func (ans *answer) writeJSON(w io.Writer, plain bool) error {
	rest := struct {
		Count            int
		ScannedCount     int
		ReadUnits        float64
		LastEvaluatedKey json.RawMessage `json:",omitempty"`
		Asked            string          `json:",omitempty"`
		Trace            []sortkey.Trace `json:",omitempty"`
	}{Count: len(ans.items), ScannedCount: ans.examined, ReadUnits: ans.units, Trace: ans.slices}
	if ans.last != nil {
		rest.LastEvaluatedKey = ans.last.AppendJSON(nil)
	}
	if ans.slices != nil {
		rest.Asked = ask.Question(ans.in, nil)
	}
	out := []byte("{\n  \"Items\": [")
	for i, it := range ans.items {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, "\n    "...)
		if plain {
			out = item.AppendPlain(out, it)
		} else {
			out = it.AppendJSON(out)
		}
	}
	if len(ans.items) > 0 {
		out = append(out, "\n  "...)
	}
	out = append(out, "],"...)
	var b bytes.Buffer
	if err := app.WriteJSON(&b, rest); err != nil {
		return err
	}
	_, err := w.Write(append(out, b.Bytes()[1:]...)) // without its opening brace
	return err
}
