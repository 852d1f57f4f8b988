package ask

import (
	"fmt"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/literal"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
)

// A Query is a query as a person types it.
type Query struct {
	// Index is the index to read, or "" for the table.
	Index string
	// Partition has one text for each partition key attribute. If the key has
	// several attributes, a single text is split at its commas.
	Partition []string
	// Sort has conditions on the sort key attributes, in the order of the key. There may be fewer conditions than
	// attributes, or none. If the key has several attributes, a single text is split at its commas.
	Sort []string
	// Filter is an expression with names and values written out.
	Filter string
	// Project lists the document paths to return; all attributes if empty.
	Project []string
	// Backwards, Consistent and Limit are options of the request.
	Backwards, Consistent bool
	Limit                 int32
}

// Input returns the request for a query of table t.
func (q *Query) Input(t *keyschema.Table) (*wire.QueryInput, error) {
	schema := t.Schema(q.Index)
	if schema == nil {
		return nil, noIndex(t, q.Index)
	}
	var p literal.Placeholders
	clauses, err := q.clauses(schema)
	if err != nil {
		return nil, err
	}
	return q.input(t, &p, p.KeyCondition(clauses))
}

// ScanInput returns the request for a scan of table t, or of its index, with the options of q. It ignores the
// partition and the sort conditions.
func (q *Query) ScanInput(t *keyschema.Table) (*wire.ScanInput, error) {
	if t.Schema(q.Index) == nil {
		return nil, noIndex(t, q.Index)
	}
	in, err := q.input(t, new(literal.Placeholders), "")
	if err != nil {
		return nil, err
	}
	return &wire.ScanInput{
		TableName: in.TableName, IndexName: in.IndexName, Limit: in.Limit, ConsistentRead: in.ConsistentRead,
		FilterExpression: in.FilterExpression, ProjectionExpression: in.ProjectionExpression,
		ExpressionAttributeNames:  in.ExpressionAttributeNames,
		ExpressionAttributeValues: in.ExpressionAttributeValues,
	}, nil
}

// input returns the request with a key condition and the options of the query.
func (q *Query) input(t *keyschema.Table, p *literal.Placeholders, condition string) (*wire.QueryInput, error) {
	in := &wire.QueryInput{TableName: &t.Name, KeyConditionExpression: &condition}
	if q.Index != "" {
		in.IndexName = &q.Index
	}
	if q.Limit != 0 {
		in.Limit = new(int64(q.Limit))
	}
	if q.Backwards {
		in.ScanIndexForward = new(false)
	}
	if q.Consistent {
		in.ConsistentRead = new(true)
	}

	var err error
	if in.FilterExpression, err = Expression(p, q.Filter); err != nil {
		return nil, fmt.Errorf("--filter: %w", err)
	}
	if in.ProjectionExpression, err = Projection(p, q.Project...); err != nil {
		return nil, err
	}
	in.ExpressionAttributeNames, in.ExpressionAttributeValues = p.Names(), p.Values()
	return in, nil
}

// clauses returns the typed key conditions.
func (q *Query) clauses(schema *keycond.Schema) ([]keycond.Clause, error) {
	what := "the table"
	if schema.Name() != "" {
		what = "index " + schema.Name()
	}

	partition, sort := q.Partition, q.Sort
	if len(partition) == 1 && len(schema.Partition()) > 1 {
		partition = split(partition[0])
	}
	if len(partition) != len(schema.Partition()) {
		return nil, UsageError(
			"give a value for each of "+names(schema.Partition())+"; separate values with commas",
			"the partition key of %s has %s, not %d",
			what, text.Count(len(schema.Partition()), "attribute"), len(partition),
		)
	}

	var clauses []keycond.Clause
	for i, a := range schema.Partition() {
		v, err := keyValue(a, partition[i])
		if err != nil {
			return nil, err
		}
		clauses = append(clauses, keycond.Clause{Attribute: a.Name, Op: ast.Equal, Values: []attr.Value{v}})
	}

	if len(sort) == 1 && len(schema.Sort()) > 1 {
		sort = split(sort[0])
	}
	if len(sort) > len(schema.Sort()) {
		if len(schema.Sort()) == 0 {
			return nil, UsageError("omit the sort condition", "%s has no sort key", what)
		}
		return nil, UsageError(
			"the sort key is "+names(schema.Sort()), "the sort key of %s has %s, not %d", what,
			text.Count(len(schema.Sort()), "attribute"), len(sort),
		)
	}

	for i, condition := range sort {
		c, err := ParseCondition(schema.Sort()[i].Name, condition)
		if err != nil {
			return nil, err
		}
		clause, err := c.Clause(schema.Sort()[i])
		if err != nil {
			return nil, err
		}
		if clause.Op != ast.Equal && i < len(sort)-1 {
			return nil, UsageError(
				"only the last condition may be a range; the conditions before it must be =",
				"the range condition on %s is followed by a condition on %s",
				clause.Attribute, schema.Sort()[i+1].Name,
			)
		}
		clauses = append(clauses, clause)
	}
	return clauses, nil
}

func noIndex(t *keyschema.Table, index string) error {
	if len(t.Indexes) == 0 {
		return advice.New("omit --index", "table %s has no index named %s; it has no indexes", t.Name, index)
	}
	return advice.New(
		"its indexes are "+strings.Join(t.IndexNames(), ", "), "table %s has no index named %s", t.Name, index,
	)
}

func names(attrs []keycond.Attribute) string {
	out := make([]string, len(attrs))
	for i, a := range attrs {
		out[i] = text.Name(a.Name)
	}
	return strings.Join(out, ", ")
}
