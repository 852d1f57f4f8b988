package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/sdktarget"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
)

// An answer combines the pages of a query, a scan or a statement.
type answer struct {
	in       wire.Request
	items    []attr.Item
	last     attr.Item // start of the next page, nil at the end
	token    *string   // start of the next page of a statement, nil at the end
	pages    int
	examined *int // nil if the service does not say
	units    float64
	wrote    bool // the units are write units
	slices   []sortkey.Trace
}

// readPages sends a Query, Scan or ExecuteStatement, and with all reads all pages.
func readPages(ctx context.Context, src *app.Source, in wire.Request, all bool) (*answer, error) {
	ans := &answer{in: in}
	for {
		if err := ans.read(ctx, src.Client); err != nil {
			return nil, err
		}
		if !all || !ans.more() {
			return ans, nil
		}
	}
}

// read reads the next page.
func (ans *answer) read(ctx context.Context, client *dynamodb.Client) error {
	switch in := ans.in.(type) {
	case *wire.QueryInput:
		page := *in
		page.ReturnConsumedCapacity, page.ExclusiveStartKey = new("TOTAL"), ans.last
		var out wire.QueryOutput
		if err := sdktarget.Send(ctx, client, &page, &out); err != nil {
			return err
		}
		ans.add(out.Items, out.LastEvaluatedKey, out.ScannedCount, out.ConsumedCapacity)
	case *wire.ScanInput:
		page := *in
		page.ReturnConsumedCapacity, page.ExclusiveStartKey = new("TOTAL"), ans.last
		var out wire.ScanOutput
		if err := sdktarget.Send(ctx, client, &page, &out); err != nil {
			return err
		}
		ans.add(out.Items, out.LastEvaluatedKey, out.ScannedCount, out.ConsumedCapacity)
	case *wire.ExecuteStatementInput:
		page := *in
		page.ReturnConsumedCapacity, page.NextToken = new("TOTAL"), ans.token
		var out wire.ExecuteStatementOutput
		if err := sdktarget.Send(ctx, client, &page, &out); err != nil {
			return err
		}
		ans.add(out.Items, out.LastEvaluatedKey, nil, out.ConsumedCapacity)
		ans.token = out.NextToken
	}
	return nil
}

// more reports whether there may be another page.
func (ans *answer) more() bool { return ans.last != nil || ans.token != nil }

// add adds a page.
func (ans *answer) add(items []attr.Item, last attr.Item, examined *int64, used *wire.ConsumedCapacity) {
	ans.pages++
	ans.items = append(ans.items, items...)
	ans.last = nil
	if last.Len() > 0 {
		ans.last = last
	}
	if examined != nil {
		if ans.examined == nil {
			ans.examined = new(int)
		}
		*ans.examined += int(*examined)
	}
	ans.units += units(used)
}

// units returns the capacity units that a request consumed.
func units(used *wire.ConsumedCapacity) float64 {
	if used == nil || used.CapacityUnits == nil {
		return 0
	}
	return *used.CapacityUnits
}

// write writes the answer in the format of the flags. The schema is that of the table or
// index, or nil if it is not known.
func (ans *answer) write(env *app.Env, f *outputFlags, schema *keycond.Schema, trace bool) error {
	switch f.format {
	case formatJSON, formatPlainJSON:
		return ans.writeJSON(env.Stdout, f)
	case formatCSV:
		_, err := f.writeItems(env, ans.items, schema)
		if err == nil && ans.more() {
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

	hidden, err := f.writeItems(env, ans.items, schema)
	if err != nil {
		return err
	}
	if len(ans.items) > 0 {
		fmt.Fprintln(w)
	}
	if hidden > 0 {
		verb := "do"
		if hidden == 1 {
			verb = "does"
		}
		fmt.Fprintln(w, p.Faint(fmt.Sprintf(
			"%s %s not fit: --json and -o lines show all", text.Count(hidden, "attribute"), verb,
		)))
	}
	_, err = fmt.Fprintln(w, p.Faint(ans.summary()))
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
	if ans.more() {
		b.WriteString("; " + moreRows)
	}
	return b.String()
}

// writeJSON writes the answer as one JSON document with the members of the service's
// response, and each item on a line.
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
	}{Count: len(ans.items), ScannedCount: ans.examined, NextToken: ans.token, Trace: ans.slices}
	if ans.wrote {
		rest.WriteUnits = &ans.units
	} else {
		rest.ReadUnits = &ans.units
	}
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
