package ask

import (
	"context"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/literal"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
)

const (
	pageRows = 250 // rows in the page that Keys reads from a server
	// hopRows is the number of rows that Keys reads from a database in this process before it skips the rest of a
	// partition. A request costs as much as reading some tens of rows, so skipping pays only in larger partitions.
	hopRows = 50
)

// Keys reads the keys of a table or an index, to complete what somebody types in a shell or a page of the console.
// Its methods return no errors: if a request fails or the context ends, they return what they have read.
type Keys struct {
	Target explain.Target
	// InProcess reports whether the database is in this process, where it is cheap to visit each partition.
	InProcess bool
	Table     *keyschema.Table
	Index     string // "" for the table
}

// Schema returns the key of the table or index.
func (k *Keys) Schema() *keycond.Schema { return k.Table.Schema(k.Index) }

// Partitions scans the table or index and calls visit with the keys of rows, at least once per partition. It stops
// when visit returns false or a read fails. If k.InProcess is set, it reads to the end, but skips most rows of large
// partitions. Otherwise it reads one page. It reports whether it has reached the end.
func (k *Keys) Partitions(ctx context.Context, visit func(row attr.Item) bool) (whole bool) {
	var p literal.Placeholders
	var names []string
	for _, a := range slices.Concat(k.Table.Key.Attributes(), k.Schema().Attributes()) {
		if place := p.Name(a.Name); !slices.Contains(names, place) {
			names = append(names, place)
		}
	}
	in := &wire.ScanInput{
		TableName: &k.Table.Name, Limit: new(int64(pageRows)), ProjectionExpression: new(strings.Join(names, ", ")),
		ExpressionAttributeNames: p.Names(),
	}
	if k.InProcess {
		in.Limit = new(int64(hopRows))
	}
	if k.Index != "" {
		in.IndexName = &k.Index
	}
	for {
		page, ok := k.Scan(ctx, in)
		if !ok {
			return false
		}
		for _, row := range page.Items {
			if !visit(row) {
				return false
			}
		}
		if page.LastEvaluatedKey.Len() == 0 {
			return true
		}
		if !k.InProcess {
			return false
		}
		in.ExclusiveStartKey = EndOfPartition(page.LastEvaluatedKey, k.Schema())
	}
}

// Scan returns a page of a scan. It returns false if the scan fails or ctx ends.
func (k *Keys) Scan(ctx context.Context, in *wire.ScanInput) (*wire.ScanOutput, bool) {
	out, _, err := k.Target.Do(ctx, in)
	if err != nil {
		return nil, false
	}
	return out.(*wire.ScanOutput), true
}

// Rows returns the first page of a query, and whether more rows follow. It returns no rows if the query fails.
func (k *Keys) Rows(ctx context.Context, q Query) (rows []attr.Item, more bool) {
	q.Index = k.Index
	in, err := q.Input(k.Table)
	if err != nil {
		return nil, false
	}
	out, _, err := k.Target.Do(ctx, in)
	if err != nil {
		return nil, false
	}
	page := out.(*wire.QueryOutput)
	return page.Items, page.LastEvaluatedKey.Len() > 0
}

// EndOfPartition returns a key that sorts after all rows of key's partition.
func EndOfPartition(key attr.Item, schema *keycond.Schema) attr.Item {
	var b attr.Builder
	for name, v := range key.All() {
		if !slices.ContainsFunc(schema.Partition(), func(a keycond.Attribute) bool { return a.Name == string(name) }) {
			v = highest(v.Kind())
		}
		b.Add(string(name), v)
	}
	return b.Item()
}

// highest returns the highest value that a sort key of a kind can have.
func highest(kind attr.Kind) attr.Value {
	const most = 1024 // bytes
	switch kind {
	case attr.Number:
		v, err := attr.NewNumber(strings.Repeat("9", 38) + "e88")
		if err != nil {
			panic(err) // it is the highest number
		}
		return v
	case attr.Binary:
		return attr.NewBinary([]byte(strings.Repeat("\xff", most)))
	}
	return attr.NewString(strings.Repeat("\U0010FFFF", most/4))
}
