package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/smithy-go"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/transfer"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/item"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
)

// addReads adds the tools that read items.
func (s *Server) addReads() {
	add(s, tablesTool, s.tables)
	add(s, queryTool, s.query)
	add(s, scanTool, s.scan)
	add(s, getTool, s.get)
	add(s, explainTool, s.explain)
	add(s, requestsTool, s.requests)
}

type queryArgs struct {
	Table      word     `json:"table" jsonschema:"name of the table"`
	Partition  word     `json:"partition" jsonschema:"value of the partition key; several with commas between"`
	Sort       word     `json:"sort,omitempty" jsonschema:"condition on the sort key: 'ORDER#*', '>= 2024-01'"`
	Index      word     `json:"index,omitempty" jsonschema:"name of the index to read instead of the table"`
	Filter     string   `json:"filter,omitempty" jsonschema:"condition on any attributes, such as 'total > 10'"`
	Project    []string `json:"project,omitempty" jsonschema:"attributes to return; default all"`
	Limit      int32    `json:"limit,omitempty" jsonschema:"read at most so many rows, counted before the filter"`
	Descending bool     `json:"descending,omitempty" jsonschema:"read from the end of the range"`
	Consistent bool     `json:"consistent,omitempty" jsonschema:"read consistently; not in global indexes"`
	Cursor     document `json:"cursor,omitempty" jsonschema:"lastEvaluatedKey of the answer to go on after"`
}

// conditions is what descriptions say about the texts of conditions.
const conditions = `
sort is one of: x or = x (exactly x), x* (begins with x), < x, <= x, > x, >= x, between x and y (both ends
included). A query reads one range, so there is no OR, no "not equal" and no "contains" here. Quote a value that
could be read as something else: "a*".
filter has names and values written out: total > 10 AND contains(tags, "new") AND attribute_exists(paid). Text
is in double quotes. Functions: begins_with, contains, size, attribute_exists, attribute_not_exists,
attribute_type.`

var queryTool = tool{name: "query", title: "Query a partition", description: `
Reads items of one partition of a table or an index, in the order of the sort key, as DynamoDB's Query does.
` + conditions + `
A filter saves nothing: rows are read and paid for before it drops them, and limit counts them before it too.

The answer is JSON: "items" in plain JSON (sets are arrays, binary values base64); "read" with the slice in
words, the rows examined and returned, their bytes, the read units, "waste" (the share of the examined rows that
was not returned) and "stop" (why reading ended); and "lastEvaluatedKey" if there may be more: pass it as cursor
to go on. For waste or for an error, ask explain with the same arguments.
Example: {"table": "Shop", "partition": "CUSTOMER#C1", "sort": "ORDER#*", "filter": "total > 100", "limit": 20}`}

// query returns what the arguments select, for package ask.
func (in *queryArgs) query() (ask.Query, error) {
	if in.Limit < 0 {
		return ask.Query{}, advice.New("omit limit, or give a number from 1", "limit must not be negative")
	}
	q := ask.Query{
		Index: string(in.Index), Partition: []string{string(in.Partition)}, Filter: in.Filter, Project: in.Project,
		Backwards: in.Descending, Consistent: in.Consistent, Limit: in.Limit,
	}
	if in.Sort != "" {
		q.Sort = []string{string(in.Sort)}
	}
	return q, nil
}

func (s *Server) query(ctx context.Context, in queryArgs) (answer string, err error) {
	q, err := in.query()
	if err != nil {
		return "", err
	}
	err = s.read(func(d *side) error {
		t, err := d.describe(ctx, string(in.Table))
		if err != nil {
			return err
		}
		q.Project = withKeys(q.Project, t.Schema(q.Index))
		input, err := q.Input(t)
		if err != nil {
			return s.meant(ctx, d, &q, t, err)
		}
		if input.ExclusiveStartKey, err = cursor(in.Cursor); err != nil {
			return err
		}
		input.ReturnConsumedCapacity = new("TOTAL")
		out, traces, err := d.target.Do(ctx, input)
		if err != nil {
			s.log.add(request{Tool: "query", Request: ask.Question(input, nil), Error: codeOf(err)})
			return s.refused(ctx, d, input, t, err)
		}
		o := out.(*wire.QueryOutput)
		answer, err = s.answer("query", input, t.Schema(q.Index), &page{
			items: o.Items, last: o.LastEvaluatedKey, examined: o.ScannedCount, used: o.ConsumedCapacity,
			traces: traces, limit: in.Limit,
		})
		return err
	})
	return answer, err
}

type scanArgs struct {
	Table   word     `json:"table" jsonschema:"name of the table"`
	Index   word     `json:"index,omitempty" jsonschema:"name of the index to read instead of the table"`
	Filter  string   `json:"filter,omitempty" jsonschema:"condition on any attributes, such as 'total > 10'"`
	Project []string `json:"project,omitempty" jsonschema:"attributes to return; default all"`
	Limit   int32    `json:"limit,omitempty" jsonschema:"read at most so many rows; default 20"`
	Cursor  document `json:"cursor,omitempty" jsonschema:"lastEvaluatedKey of the answer to go on after"`
}

var scanTool = tool{name: "scan", title: "Look at items of a table", description: `
Reads items of a table or an index from all partitions, in no useful order, as DynamoDB's Scan does. Use it to
see what the items of an unknown table look like; to find items, use query, because a scan reads and pays for
everything. filter is as in query. The answer is that of query.
Example: {"table": "Shop", "limit": 5}`}

// scanned is the default limit of a scan.
const scanned = 20

func (s *Server) scan(ctx context.Context, in scanArgs) (answer string, err error) {
	if in.Limit < 0 {
		return "", advice.New("omit limit, or give a number from 1", "limit must not be negative")
	}
	if in.Limit == 0 {
		in.Limit = scanned
	}
	err = s.read(func(d *side) error {
		t, err := d.describe(ctx, string(in.Table))
		if err != nil {
			return err
		}
		q := ask.Query{Index: string(in.Index), Filter: in.Filter, Limit: in.Limit}
		q.Project = withKeys(in.Project, t.Schema(q.Index))
		input, err := q.ScanInput(t)
		if err != nil {
			return asked(err)
		}
		if input.ExclusiveStartKey, err = cursor(in.Cursor); err != nil {
			return err
		}
		input.ReturnConsumedCapacity = new("TOTAL")
		out, traces, err := d.target.Do(ctx, input)
		if err != nil {
			s.log.add(request{Tool: "scan", Request: ask.Question(input, nil), Error: codeOf(err)})
			return service(err, input)
		}
		o := out.(*wire.ScanOutput)
		answer, err = s.answer("scan", input, t.Schema(q.Index), &page{
			items: o.Items, last: o.LastEvaluatedKey, examined: o.ScannedCount, used: o.ConsumedCapacity,
			traces: traces, limit: in.Limit,
		})
		return err
	})
	return answer, err
}

type getArgs struct {
	Table      word     `json:"table" jsonschema:"name of the table"`
	Partition  word     `json:"partition" jsonschema:"value of the partition key"`
	Sort       word     `json:"sort,omitempty" jsonschema:"value of the sort key, if the table has one"`
	Project    []string `json:"project,omitempty" jsonschema:"attributes to return; default all"`
	Consistent bool     `json:"consistent,omitempty" jsonschema:"read consistently, for twice the units"`
}

var getTool = tool{name: "get", title: "Get one item", description: `
Reads the one item with a key, as DynamoDB's GetItem does. The key is the table's, not that of an index: for an
index use query. The answer is JSON with "item" in plain JSON, or null if there is none, and the read units.
Example: {"table": "Shop", "partition": "CUSTOMER#C1", "sort": "ORDER#O1"}`}

func (s *Server) get(ctx context.Context, in getArgs) (answer string, err error) {
	err = s.read(func(d *side) error {
		t, err := d.describe(ctx, string(in.Table))
		if err != nil {
			return err
		}
		input := &wire.GetItemInput{TableName: &t.Name, ReturnConsumedCapacity: new("TOTAL")}
		if input.Key, err = keyOf(t, in.Partition, in.Sort); err != nil {
			return err
		}
		if in.Consistent {
			input.ConsistentRead = new(true)
		}
		question := ask.Question(input, t.Key)
		out, _, err := d.target.Do(ctx, input)
		if err != nil {
			s.log.add(request{Tool: "get", Request: question, Error: codeOf(err)})
			return service(err, input)
		}
		it, used := out.(*wire.GetItemOutput).Item, out.(*wire.GetItemOutput).ConsumedCapacity
		s.log.add(request{Tool: "get", Request: question, Reads: units(used)})
		var o object
		o.add("asked", question)
		o.add("readUnits", units(used))
		if it == nil {
			o.add("item", nil)
		} else {
			raw, note := s.shown(it, in.Project, t.Key)
			o.add("item", raw)
			if note != "" {
				o.add("note", note)
			}
		}
		answer, err = o.text()
		return err
	})
	return answer, err
}

// keyOf returns the key of an item of a table.
func keyOf(t *keyschema.Table, partition, sort word) (attr.Item, error) {
	texts := []string{string(partition)}
	if sort != "" {
		texts = append(texts, string(sort))
	}
	key, err := ask.Key(t, texts)
	return key, asked(err)
}

// shown returns an item in plain JSON, with some of its attributes or all, or only its key if it is too
// large for an answer.
func (s *Server) shown(it attr.Item, project []string, schema *keycond.Schema) (json.RawMessage, string) {
	if len(project) > 0 {
		project = withKeys(project, schema)
		it = some(it, func(name string) bool { return slices.Contains(project, name) })
	}
	raw := item.AppendPlain(nil, it)
	if len(raw) <= s.o.MaxAnswer {
		return raw, ""
	}
	var names []string
	for name, v := range it.All() {
		if !schema.Has(string(name)) {
			names = append(names, fmt.Sprintf("%s (%s)", text.Name(string(name)), text.Size(v.Size())))
		}
	}
	note, _ := s.cut("the item is too large for an answer, so only its key is shown; get it with project and the "+
		"names of some attributes: "+strings.Join(names, ", "), 0)
	return item.AppendPlain(nil, some(it, schema.Has)), note
}

// some returns an item with some of its attributes.
func some(it attr.Item, keep func(name string) bool) attr.Item {
	var b attr.Builder
	for name, v := range it.All() {
		if keep(string(name)) {
			b.Add(string(name), v)
		}
	}
	return b.Item()
}

// withKeys adds the attributes of the key to a projection, so that an answer can be cut after any item.
func withKeys(project []string, schema *keycond.Schema) []string {
	if len(project) == 0 || schema == nil {
		return project
	}
	project = slices.Clone(project)
	attributes := schema.Attributes()
	if schema.Table() != nil {
		attributes = slices.Concat(attributes, schema.Table().Attributes())
	}
	for _, a := range attributes {
		if name := text.Name(a.Name); !slices.Contains(project, a.Name) && !slices.Contains(project, name) {
			project = append(project, name)
		}
	}
	return project
}

// cursor returns the key in a cursor, or nil without one.
func cursor(d document) (attr.Item, error) {
	if d == nil {
		return nil, nil
	}
	key, err := transfer.DecodeItem(d)
	if err != nil {
		return nil, advice.New("pass lastEvaluatedKey of the previous answer as it is", "cursor: %v", err)
	}
	return key, nil
}

// A page is what a query or a scan answered.
type page struct {
	items    []attr.Item
	last     attr.Item
	examined *int64
	used     *wire.ConsumedCapacity
	traces   []sortkey.Trace
	limit    int32
}

// reading is what an answer says about a page.
type reading struct {
	Slice    string  `json:"slice,omitempty"`
	Examined int     `json:"examined"`
	Returned int     `json:"returned"`
	Bytes    int     `json:"bytes,omitempty"`
	Units    float64 `json:"units"`
	Waste    float64 `json:"waste"`
	Stop     string  `json:"stop"`
}

// reading returns what is known about the page: from its trace, or from the answer of a service that has
// none.
func (p *page) reading() reading {
	r := reading{Examined: len(p.items), Returned: len(p.items), Units: units(p.used), Stop: sortkey.StopEnd.String()}
	if p.examined != nil {
		r.Examined = int(*p.examined)
	}
	switch {
	case len(p.traces) > 0:
		tr := p.traces[len(p.traces)-1]
		r.Slice, r.Bytes, r.Stop = tr.Slice(), tr.Bytes+tr.Fetched, tr.Stop.String()
	case p.last.Len() > 0 && p.limit > 0 && r.Examined >= int(p.limit):
		r.Stop = sortkey.StopLimit.String()
	case p.last.Len() > 0:
		r.Stop = sortkey.StopSize.String()
	}
	r.Waste = waste(r.Examined, r.Returned)
	return r
}

// much is the waste from which an answer mentions explain, and few the number of rows up to which it does
// not matter.
const (
	much = 0.5
	few  = 10
)

// answer returns the text for a page, cut at the size of an answer.
func (s *Server) answer(tool string, in wire.Request, schema *keycond.Schema, p *page) (string, error) {
	r := p.reading()
	s.log.add(request{
		Tool: tool, Request: ask.Question(in, nil), Examined: &r.Examined, Returned: &r.Returned, Reads: r.Units,
	})
	var items list
	size, last, notes := 0, p.last, []string(nil)
	for i, it := range p.items {
		raw, note := s.shown(it, nil, schema)
		if note != "" {
			notes = append(notes, note)
		}
		if size += len(raw); size > s.o.MaxAnswer && i > 0 {
			last = keyIn(p.items[i-1], schema)
			notes = append(notes, fmt.Sprintf(
				"only the first %d of %d items are shown; for the others call %s again with lastEvaluatedKey as cursor",
				i, len(p.items), tool,
			))
			break
		}
		items = append(items, raw)
	}
	if len(items) == len(p.items) && last.Len() > 0 {
		notes = append(notes, fmt.Sprintf(
			"reading stopped at %s; to go on call %s again with lastEvaluatedKey as cursor", r.Stop, tool,
		))
	}
	if tool == "query" && r.Waste >= much && r.Examined > few {
		notes = append(notes, fmt.Sprintf(
			"the filter dropped %d of %d rows that were paid for; explain with the same arguments shows them, and "+
				"whether another request reads less", r.Examined-r.Returned, r.Examined,
		))
	}

	var o object
	o.add("asked", ask.Question(in, nil))
	o.add("read", r)
	o.add("items", items)
	if last.Len() > 0 {
		o.add("lastEvaluatedKey", json.RawMessage(last.AppendJSON(nil)))
	}
	if len(notes) > 0 {
		o.add("note", strings.Join(notes, ". "))
	}
	return o.text()
}

// keyIn returns the key attributes of an item for a table or an index, and of the table.
func keyIn(it attr.Item, schema *keycond.Schema) attr.Item {
	return some(it, func(name string) bool {
		return schema.Has(name) || schema.Table() != nil && schema.Table().Has(name)
	})
}

// units returns the capacity units that a request consumed.
func units(used *wire.ConsumedCapacity) float64 {
	if used == nil || used.CapacityUnits == nil {
		return 0
	}
	return *used.CapacityUnits
}

// codeOf returns the code of an error of the service, or its text.
func codeOf(err error) string {
	if e, ok := errors.AsType[*explain.ServiceError](err); ok {
		return e.Code
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return api.ErrorCode()
	}
	return err.Error()
}
