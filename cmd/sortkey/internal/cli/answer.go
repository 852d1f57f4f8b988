package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/operation"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
)

// An answer is the result of a command. It combines the pages that the command has read.
type answer struct {
	in       wire.Request
	items    []attr.Item
	item     attr.Item       // the item, if the command is on one item
	last     *operation.Page // the page that was read last
	pages    int
	examined *int // nil if the service does not say
	units    float64
	wrote    bool // the units are write units
	slices   []sortkey.Trace
}

// readPages sends in and returns its page. If v.All is set, it also reads all later pages.
func readPages(ctx context.Context, src *app.Source, in wire.Request, v *operation.Values) (*answer, error) {
	ans := &answer{in: in}
	for {
		page, err := operation.Send(ctx, src.Target, in)
		if err != nil {
			return nil, err
		}
		ans.add(page)
		if v.Trace {
			ans.slices = append(ans.slices, page.Traces...)
		}
		if !v.All || !page.More() {
			return ans, nil
		}
		in = operation.After(in, page)
	}
}

// add adds a page.
func (ans *answer) add(p *operation.Page) {
	ans.pages++
	ans.items = append(ans.items, p.Items...)
	ans.item, ans.last = p.Item, p
	if p.Examined != nil {
		if ans.examined == nil {
			ans.examined = new(int)
		}
		*ans.examined += int(*p.Examined)
	}
	ans.units += p.Units
}

// write writes the answer in the format of the flags. Schema is the key of the table or index that the command has
// read, or nil if it is unknown.
func (ans *answer) write(env *app.Env, f *outputFlags, schema *keycond.Schema, trace bool) error {
	switch f.format {
	case formatJSON, formatPlainJSON:
		return ans.writeJSON(env.Data(text.VisibleJSON), f)
	case formatCSV:
		err := f.writeItems(env, ans.items, schema)
		if err == nil && ans.last.More() {
			fmt.Fprintln(env.Stderr, "sortkey: "+moreRows)
		}
		return err
	}
	return ans.print(env, f, schema, trace)
}

// print writes the answer for people.
func (ans *answer) print(env *app.Env, f *outputFlags, schema *keycond.Schema, trace bool) error {
	w, p := env.Stdout, env.Style().Paint
	if asked := ask.Question(ans.in, nil); asked != "" && (trace || len(ans.items) == 0) {
		fmt.Fprintf(w, "%s %s\n", p.Faint("asked"), asked)
		for _, s := range ans.slices {
			fmt.Fprintf(w, "%s %s\n", p.Faint("slice"), s.Slice())
			fmt.Fprintf(w, "%s  %s\n", p.Faint("read"), s.Cost())
		}
		fmt.Fprintln(w)
	}

	if err := f.writeItems(env, ans.items, schema); err != nil {
		return err
	}
	if len(ans.items) > 0 {
		fmt.Fprintln(w)
	}
	_, err := fmt.Fprintln(w, p.Faint(ans.summary()))
	return err
}

const moreRows = "there may be more: --all reads all pages"

func (ans *answer) summary() string {
	var b strings.Builder
	if len(ans.items) == 0 {
		b.WriteString("no rows")
	} else {
		b.WriteString(text.Count(len(ans.items), "row"))
	}
	b.WriteString(" (")
	if ans.examined != nil {
		fmt.Fprintf(&b, "%d examined, ", *ans.examined)
	}
	unit := "read"
	if ans.wrote {
		unit = "write"
	}
	b.WriteString(text.Amount(fmt.Sprint(ans.units), unit+" unit"))
	if ans.pages > 1 {
		fmt.Fprintf(&b, ", %d pages", ans.pages)
	}
	b.WriteString(")")
	if ans.last.More() {
		b.WriteString("; " + moreRows)
	}
	return b.String()
}

// writeJSON writes the answer as one JSON document. It has the members of the service's response, each item on a line
// of its own, and the capacity units.
func (ans *answer) writeJSON(w io.Writer, f *outputFlags) error {
	rest := struct {
		Count            int
		ScannedCount     *int            `json:",omitempty"`
		ReadUnits        *float64        `json:",omitempty"`
		WriteUnits       *float64        `json:",omitempty"`
		LastEvaluatedKey json.RawMessage `json:",omitempty"`
		NextToken        *string         `json:",omitempty"`
		Asked            string          `json:",omitempty"`
		Trace            []sortkey.Trace `json:",omitempty"`
	}{Count: len(ans.items), ScannedCount: ans.examined, NextToken: ans.last.Token, Trace: ans.slices}
	if ans.wrote {
		rest.WriteUnits = &ans.units
	} else {
		rest.ReadUnits = &ans.units
	}

	if ans.last.Last != nil {
		rest.LastEvaluatedKey = ans.last.Last.AppendJSON(nil)
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
		out = f.appendItem(out, it)
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
