package convert

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/design"
)

// An Endpoint runs an operation, such as Scan, with a JSON request.
type Endpoint func(ctx context.Context, op string, request []byte) (response []byte, err error)

// FromEndpoint imports the tables of a running endpoint with up to
// Options.Items items of each. It only reads. Name is the endpoint's name in
// places.
func FromEndpoint(ctx context.Context, name string, call Endpoint, o Options) (*design.Model, []Loss, error) {
	im := newImporter(o)
	im.derived = true
	ask := func(op string, request any) (*document, error) {
		body, err := json.Marshal(request)
		if err != nil {
			return nil, err
		}
		out, err := call(ctx, op, body)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", op, err)
		}
		return read(name, out)
	}
	type start struct {
		ExclusiveStartTableName string `json:",omitempty"`
	}
	type tableName struct{ TableName string }
	var names []string
	for next := ""; ; {
		d, err := ask("ListTables", start{next})
		if err != nil {
			return nil, nil, err
		}
		for _, m := range d.roots[0].get("TableNames").elems() {
			names = append(names, m.text)
		}
		last := d.roots[0].str("LastEvaluatedTableName")
		if last == "" || last == next || len(names) > maxTables {
			break
		}
		next = last
	}
	if len(names) == 0 {
		return nil, nil, &Error{Pos: design.Pos{File: name}, Msg: "the endpoint has no tables", Hint: "sortkey serve --load file-tree loads some"}
	}
	if o.Table != "" && !slices.Contains(names, o.Table) {
		return nil, nil, &Error{Pos: design.Pos{File: name}, Msg: "no table " + o.Table, Hint: "the tables are " + clip(strings.Join(names, ", "))}
	}
	for _, table := range names {
		if o.Table != "" && table != o.Table {
			continue
		}
		d, err := ask("DescribeTable", tableName{table})
		if err != nil {
			return nil, nil, err
		}
		t := im.createTable(d.roots[0].get("Table"))
		if t == nil {
			continue
		}
		if err := im.scan(t, table, ask); err != nil {
			return nil, nil, err
		}
	}
	for i := range im.losses {
		im.losses[i].Pos.Line, im.losses[i].Pos.Col = 0, 0
	}
	return im.finish(ctx, name)
}

// scan reads the first items of a table.
func (im *importer) scan(t *design.Table, name string, ask func(string, any) (*document, error)) error {
	type scan struct {
		TableName         string
		Limit             int             `json:",omitempty"`
		ExclusiveStartKey json.RawMessage `json:",omitempty"`
	}
	request := scan{TableName: name}
	for left := im.o.Items; left > 0; {
		request.Limit = min(left, 1000)
		d, err := ask("Scan", request)
		if err != nil {
			return err
		}
		list := d.roots[0].get("Items").elems()
		for _, m := range list {
			if it, ok := im.item(m); ok {
				im.put(t, it, nil, m)
			}
		}
		left -= len(list)
		next := d.roots[0].get("LastEvaluatedKey")
		if next == nil || !next.isObject() {
			return nil
		}
		key, ok := im.item(next)
		if !ok {
			return nil
		}
		if request.ExclusiveStartKey = key.AppendJSON(nil); left <= 0 {
			im.add(Loss{What: "items of table " + name, Why: fmt.Sprintf("only the first %d were read", im.o.Items), Hint: "--items N reads more"})
		}
	}
	return nil
}
