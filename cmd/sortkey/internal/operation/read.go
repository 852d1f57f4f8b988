package operation

import (
	"reflect"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/transfer"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/wire"
)

// conditions is the help about conditions on the sort key.
const conditions = `A sort condition is one of
  x            = x          the rows at x
  x*           begins_with x
  < x  <= x  > x  >= x
  between x and y           including both ends
Without it, query reads the whole partition. It is one range: there is no OR, no "not equal" and no
"contains". Quote a value that could be read as something else: "a*", between "x and y" and z. Write
numbers without quotes, and binary keys as 0x00ff or in base64.

Separate the values of an index key of several attributes with commas. Only the
last sort condition may be other than =.`

// filters is the help about filters.
const filters = `A filter has names and values written out: total > 10 AND contains(tags, "new") AND
attribute_exists(paid). Text is in double quotes. Functions: begins_with, contains, size, attribute_exists,
attribute_not_exists, attribute_type. A filter saves nothing: rows are read and paid for before it drops
them, and --limit counts them before it.`

// Query reads one range of a partition.
var Query = &Operation{
	Name:  "query",
	Short: "Read a slice of a partition",
	Does: `reads rows of one partition of a table or an index, in the order of the sort key, as DynamoDB's
Query does`,
	Notes: []string{conditions, filters},
	Command: Help{
		More: `A condition that is refused is answered with the rule that it breaks and with what to ask instead, as
by sortkey explain.`,
		Example: `  sortkey query Drive 'DRIVE#a91' 'root/photos/*' --model file-tree --trace
  sortkey query Drive 'DRIVE#a91' 'begins_with root/photos/' --desc --limit 2 --model file-tree
  sortkey query Orders 42 '>= 2024-01' --index ByDate --all
  sortkey query Orders 42 'between 2024-01 and 2024-03' --filter 'total > 10 AND contains(tags, "new")'
  sortkey query Matches 'eu,2026' 'final,>= 3' --index ByRound --json`,
	},
	Tool: Help{
		More: `The answer is JSON: "items" in plain JSON (sets are arrays, binary values base64); "read" with the
slice in words, the rows examined and returned, their bytes, the read units, "waste" (the share of the examined
rows that was not returned) and "stop" (why reading ended); and "lastEvaluatedKey" if there may be more: pass it
as cursor to go on. For waste or for an error, ask explain with the same arguments.`,
		Example: `{"table": "Shop", "partition": "CUSTOMER#C1", "sort": "ORDER#*", "filter": "total > 100",
"limit": 20}`,
	},
	Params: []*Param{
		table, partition, sort, index, filter, project, limit, descending, consistent, cursor, all,
		{
			Flag: "trace", Help: "print the slice that was read", Kind: Switch,
			To: func(v *Values) any { return &v.Trace },
		},
	},
	Rows: true, Format: "table",
	request: func(v *Values, t *keyschema.Table) (wire.Request, error) {
		in, err := v.Query.Input(t)
		if err != nil {
			return nil, err
		}
		in.ReturnConsumedCapacity = new("TOTAL")
		in.ExclusiveStartKey, err = startKey(v.Cursor)
		return in, err
	},
}

// Scan reads rows of all partitions.
var Scan = &Operation{
	Name:  "scan",
	Short: "Read all partitions of a table or an index",
	Does:  `reads rows of all partitions of a table or an index, in no useful order, as DynamoDB's Scan does`,
	Notes: []string{`Inside a partition the rows are in order. To read one partition, use query: a scan pays for every
row that it examines, whatever the filter.`},
	Command: Help{
		Lead: `It reads one page, or with --all all pages.`,
		Example: `  sortkey scan Drive --model file-tree --limit 10
  sortkey scan Drive --model file-tree --filter 'node_type = "file" AND bytes > 1000' --all
  sortkey scan Orders --index ByDate -o csv --all --data ./data > orders.csv`,
	},
	Tool: Help{
		Lead:    `Use it to see what the items of an unknown table look like.`,
		More:    `The filter and the answer are those of query.`,
		Example: `{"table": "Shop", "limit": 5}`,
	},
	Params: []*Param{table, index, filter, project, limited("20"), consistent, cursor, all},
	Rows:   true, Format: "table",
	request: func(v *Values, t *keyschema.Table) (wire.Request, error) {
		in, err := v.Query.ScanInput(t)
		if err != nil {
			return nil, err
		}
		in.ReturnConsumedCapacity = new("TOTAL")
		in.ExclusiveStartKey, err = startKey(v.Cursor)
		return in, err
	},
}

// startKey decodes the key in a cursor. It returns nil if data is nil.
func startKey(data []byte) (attr.Item, error) {
	if data == nil {
		return nil, nil
	}
	key, err := transfer.DecodeItem(data)
	if err != nil {
		return nil, advice.New("pass lastEvaluatedKey of the previous answer as it is", "cursor: %v", err)
	}
	return key, nil
}

// keys is the help about the key of an item.
const keys = `The key is the table's: its partition key and, if it has one, its sort key. Write numbers as they are, and
binary keys as 0x00ff or in base64.`

// hyphens is the help of a command about values that look like flags.
const hyphens = `Put -- before values that start with a hyphen.`

// Get reads one item.
var Get = &Operation{
	Name:  "get",
	Short: "Read one item",
	Does:  `reads the item with a key, as DynamoDB's GetItem does`,
	Notes: []string{keys + ` To read an index, use query.`},
	Command: Help{
		Lead: `The exit code is 1 if there is none.`,
		More: hyphens,
		Example: `  sortkey get Drive 'DRIVE#a91' root/photos --model file-tree
  sortkey get Orders c1 7 --consistent --json
  sortkey get Orders c1 7 --json --data ./data | sortkey put Orders -`,
	},
	Tool: Help{
		More:    `The answer is JSON: "item" in plain JSON, or null if it does not exist, and the read units.`,
		Example: `{"table": "Shop", "partition": "CUSTOMER#C1", "sort": "ORDER#O1"}`,
	},
	Params: []*Param{table, keyPartition, keySort, project, consistent},
	Format: "lines",
	request: func(v *Values, t *keyschema.Table) (wire.Request, error) {
		in := &wire.GetItemInput{TableName: &t.Name, ReturnConsumedCapacity: new("TOTAL")}
		if v.Consistent {
			in.ConsistentRead = new(true)
		}
		var err error
		if in.Key, err = v.key(t); err != nil {
			return nil, err
		}
		in.ProjectionExpression, err = ask.Projection(&v.places, v.Project...)
		in.ExpressionAttributeNames = v.places.Names()
		return in, err
	},
}

// key returns the key of an item.
func (v *Values) key(t *keyschema.Table) (attr.Item, error) {
	return ask.Key(t, slices.Concat(v.Partition, v.Sort))
}

// SQL executes a statement.
var SQL = &Operation{
	Name:  "sql",
	Short: "Execute a PartiQL statement",
	Does:  `executes a statement of PartiQL: a SELECT, or an INSERT, UPDATE or DELETE of one item`,
	Notes: []string{
		`Text is in single quotes, and names of tables and attributes are in double quotes unless they are plain
words. Lists, maps and sets are [1, 2], {'a': 1} and <<'x', 'y'>>. Each ? stands for one of the values after the
statement: a number, true, false, null, JSON such as ["x"] or {"SS": ["x"]}, or text. Text that looks like another
value is in quotes: '"42"'.`,
		`A SELECT without a condition on the partition key is a scan: sortkey explain shows what a SELECT reads.`,
	},
	Command: Help{
		Example: `  sortkey sql "SELECT SK, bytes FROM Drive WHERE PK = 'DRIVE#a91' AND SK > 'root/p'" --model file-tree
  sortkey sql "INSERT INTO Orders VALUE {'customer': 'c1', 'order': 7, 'tags': <<'new'>>}" --data ./data
  sortkey sql "UPDATE Orders SET tags = <<'paid'>> WHERE customer = 'c1' AND \"order\" = 7" --data ./data`,
	},
	Params: []*Param{
		{
			Arg: "STATEMENT", What: "a statement in quotes", Required: true,
			To: func(v *Values) any { return &v.Statement },
		},
		{Arg: "VALUE…", Kind: List, Rest: true, To: func(v *Values) any { return &v.Parameters }},
		limit, consistent, all,
	},
	Rows: true, Format: "table",
	request: func(v *Values, _ *keyschema.Table) (wire.Request, error) {
		in := &wire.ExecuteStatementInput{
			Statement: &v.Statement, Parameters: v.parameters, ReturnConsumedCapacity: new("TOTAL"),
		}
		if v.Limit != 0 {
			in.Limit = new(int64(v.Limit))
		}
		if v.Consistent {
			in.ConsistentRead = new(true)
		}
		return in, nil
	},
}

// Explain says what a request reads. Its field request is nil, because explaining takes several requests.
var Explain = &Operation{
	Name:  "explain",
	Short: "Show what a request reads, or why it is rejected",
	Does: `says in words what a Query, Scan or GetItem reads and what it costs: the key condition as one range with its
ends, the rows in the range and those just outside it, the rows that a filter drops (marked ✗), pages, read units, and
a better request if there is one`,
	Tool: Help{
		Lead: `For a request that the service refuses it names the rule that the request breaks and the nearest requests
that work, each as a call of query. Use it when a query costs more than it returns, returns not what you expect, or
fails, and before you advise somebody on a request from their code. It reads somewhat more than the request itself.
The answer is text.`,
		Example: `{"table": "Shop", "partition": "CUSTOMER#C1", "sort": "ORDER#*", "filter": "total > 100"}
{"request": "SELECT * FROM Shop WHERE begins_with(PK, 'CUSTOMER#')"}
{"request": {"TableName": "Shop", "Key": {"PK": {"S": "CUSTOMER#C1"}, "SK": {"S": "ORDER#O1"}}}}
{"pattern": "orders of a customer"}`,
	},
	Params: slices.Concat(
		optional(table, partition, sort), []*Param{
			index, filter, project, limit, descending, consistent,
			{
				Name: "request", Kind: Request,
				Help: "instead of table and partition: JSON or a SELECT",
				To:   func(v *Values) any { return &v.Request },
			},
			{
				Name: "pattern", Flag: "pattern", Help: "explain the access pattern with this `NAME` in the model",
				Tool: "; see tables", Complete: Patterns, To: func(v *Values) any { return &v.Pattern },
			},
			{
				Name: "pages", Flag: "pages", Help: "read at most `N` pages", Kind: Number,
				Command: " (default all, or one if the request has a Limit)", Tool: "; default 10",
				Least: new(1.0), To: func(v *Values) any { return &v.Pages },
			},
			{
				Name: "rows", Flag: "rows", Help: "show `N` rows at each end of the range (default 4)", Kind: Number,
				Command: "; negative for none", To: func(v *Values) any { return &v.Rows },
			},
			Skip,
		},
	),
}

// RefuseOptions returns a usage error if v has an option of a query, because [Explain] reads a request or an access
// pattern as it is.
func (v *Values) RefuseOptions() error {
	for _, p := range []*Param{index, filter, project, limit, descending, consistent} {
		if !reflect.ValueOf(p.To(v)).Elem().IsZero() {
			return ask.UsageError(
				"write it into the request, or give the table and the partition key in place of the request",
				"explain reads a request or an access pattern as it is, without %s", p.Name,
			)
		}
	}
	return nil
}
