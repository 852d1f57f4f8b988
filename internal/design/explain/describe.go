package explain

import (
	"context"
	"fmt"

	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/wire"
)

// lacking returns the attributes of a projection expression that an index does not have.
func lacking(ix *keyschema.Index, projection *expr.Projection) (missing []string) {
	if projection == nil {
		return nil
	}
	for p := range expr.Paths(projection) {
		if ix.Lacks(p[0].Name) {
			missing = append(missing, p[0].Name)
		}
	}
	return missing
}

// Describe returns the keys of a table and of its indexes, as the target describes them.
func Describe(ctx context.Context, t Target, name string) (*keyschema.Table, error) {
	out, _, err := t.Do(ctx, &wire.DescribeTableInput{TableName: &name})
	if err != nil {
		return nil, err
	}
	described, ok := out.(*wire.DescribeTableOutput)
	if !ok || described.Table == nil {
		return nil, fmt.Errorf("the endpoint did not describe table %s", name)
	}
	return keyschema.Of(described.Table)
}

// tableNames returns the first page of table names, or nil if the target returns an error.
func tableNames(ctx context.Context, t Target) []string {
	out, _, err := t.Do(ctx, new(wire.ListTablesInput))
	if list, ok := out.(*wire.ListTablesOutput); ok && err == nil {
		return list.TableNames
	}
	return nil
}
