package models

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/transfer"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/sdk"
)

func (l *Loader) fill(table string) {
	if l.filled == nil {
		l.filled = map[string]bool{}
	}
	l.filled[table] = true
}

// loadData imports sources. It skips a table that already has items, unless this Loader has written them: if a server
// imported the same file at each start, it would undo what clients have written in between.
func (l *Loader) loadData(ctx context.Context, sources []*transfer.Source) (Loaded, error) {
	client := sdk.Client(l.DB)
	loaded := Loaded{Scale: 1}
	var missing []*transfer.Source
	for _, s := range sources {
		if s.Table == "" {
			return loaded, advice.New(
				"serve without it, and import it with: sortkey import "+s.Name+" --table TABLE", "no table name for %s",
				s.Name,
			)
		}
		loaded.Tables++
		held, err := l.held(ctx, client, s.Table)
		if err != nil {
			return loaded, fmt.Errorf("%s: table %s: %w", s.Name, s.Table, err)
		}
		if !held {
			missing = append(missing, s)
		}
	}
	if loaded.Found = missing == nil; loaded.Found {
		return loaded, nil
	}

	res, err := transfer.Import(ctx, client, missing, transfer.ImportOptions{DB: l.DB})
	for _, t := range res.Tables {
		if l.fill(t.Table); t.Created {
			loaded.Created++
		}
		loaded.Written += int(t.Written)
		loaded.Deleted += int(t.Deleted)
	}
	for _, r := range append(res.First, res.Broken...) {
		if err == nil {
			err = fmt.Errorf("%s: line %d: %s", r.File, r.Line, r.Reason)
		}
	}
	if errors.Is(err, transfer.ErrNoTable) {
		err = advice.New(
			"load the definition of the table before it, with another --load", "%s: %w", missing[0].Name, err,
		)
	}
	return loaded, err
}

// held reports whether a table has items that the loader did not put there.
func (l *Loader) held(ctx context.Context, client *dynamodb.Client, table string) (bool, error) {
	if l.filled[table] {
		return false, nil
	}
	out, err := client.Scan(ctx, &dynamodb.ScanInput{TableName: &table, Limit: aws.Int32(1)})
	if _, missing := errors.AsType[*types.ResourceNotFoundException](err); missing {
		return false, nil
	}
	return err == nil && len(out.Items) > 0, err
}
