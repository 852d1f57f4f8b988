package models

import (
	"context"

	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/wire"
)

// Tables returns the names of all tables.
func Tables(ctx context.Context, from explain.Target) (names []string, err error) {
	in := &wire.ListTablesInput{}
	for {
		out, _, err := from.Do(ctx, in)
		if err != nil {
			return nil, err
		}
		page := out.(*wire.ListTablesOutput)
		names = append(names, page.TableNames...)
		if in.ExclusiveStartTableName = page.LastEvaluatedTableName; in.ExclusiveStartTableName == nil {
			return names, nil
		}
	}
}
