package models

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/transfer"
	"github.com/sortkey/sortkey/design/examples"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/tabledef"
	"github.com/sortkey/sortkey/sdk"
)

// A Loader loads what files have into a database. It is not safe for concurrent use.
type Loader struct {
	DB *sortkey.DB
	// Definitions reads templates.
	Definitions tabledef.Reader
	// Dataset has the options of the datasets of models.
	Dataset dataset.Options

	filled map[string]bool // tables that the loader has created or put items into
}

// Load loads the example with a name, the model at a path, the tables that a template there
// defines, or data: requests that write items, or an export. It returns what it loaded, and
// what was made up for the template. It loads no data into a table that others have filled.
func (l *Loader) Load(ctx context.Context, name string) (Loaded, []tabledef.Note, error) {
	if !isModel(name) {
		loaded, notes, err := l.loadOther(ctx, name)
		if !errors.Is(err, tabledef.ErrOther) && !errors.Is(err, os.ErrNotExist) {
			return loaded, notes, err
		}
	}
	m, err := Find(name)
	if err != nil {
		return Loaded{}, nil, err
	}
	loaded, err := Ensure(ctx, sdk.Client(l.DB), m, l.Dataset)
	for _, t := range m.Tables {
		if !loaded.Found {
			l.fill(t.Name)
		}
	}
	return loaded, nil, err
}

// loadOther loads what is not a model. The error wraps [tabledef.ErrOther] if it may be one.
func (l *Loader) loadOther(ctx context.Context, path string) (loaded Loaded, notes []tabledef.Note, err error) {
	sources, err := transfer.DiscoverRequests(path)
	if err == nil && sources == nil {
		var list []*tabledef.Schema
		if list, notes, err = l.Definitions.Read(path); err == nil {
			loaded, err = l.define(ctx, list)
			return loaded, notes, err
		}
	}
	if noTemplate := err; errors.Is(noTemplate, tabledef.ErrFolder) {
		if sources, err = transfer.Discover([]string{path}, "", ""); errors.Is(err, transfer.ErrNoData) {
			err = noTemplate
		}
	}
	if err == nil {
		loaded, err = l.loadData(ctx, sources)
	}
	return loaded, notes, err
}

// define creates the tables of definitions.
func (l *Loader) define(ctx context.Context, list []*tabledef.Schema) (loaded Loaded, err error) {
	loaded = Loaded{Tables: len(list), Scale: 1}
	for _, s := range list {
		created, err := define(ctx, sdk.Client(l.DB), s)
		if err != nil {
			return loaded, fmt.Errorf("%s: table %s: %w", s.Place, s.TableName, err)
		}
		if created {
			loaded.Created++
			l.fill(s.TableName)
		}
	}
	loaded.Found = loaded.Created == 0
	return loaded, nil
}

// isModel reports whether a name is that of an example or of a folder with a model.
func isModel(name string) bool {
	_, err := os.Stat(filepath.Join(name, "model.yaml"))
	return slices.Contains(examples.Names(), name) || err == nil
}

// define creates the table of a definition unless it exists. The error wraps [ErrOther] if
// there is a table of that name with other keys or indexes.
func define(ctx context.Context, client *dynamodb.Client, s *tabledef.Schema) (created bool, err error) {
	out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &s.TableName})
	if _, missing := errors.AsType[*types.ResourceNotFoundException](err); missing {
		return true, transfer.Create(ctx, client, s.TableName, s)
	}
	if err != nil {
		return false, err
	}
	have, err := tabledef.Of(out.Table)
	if err == nil && !sameKeys(have, s) {
		err = ErrOther
	}
	return false, err
}

// sameKeys reports whether a table has the key of a definition and all of its indexes.
func sameKeys(have, want *tabledef.Schema) bool {
	is := keysOf(have)
	for name, key := range keysOf(want) {
		if is[name] != key {
			return false
		}
	}
	return true
}

// keysOf returns the keys of the indexes of a table by their names, and that of the table by the empty name.
func keysOf(s *tabledef.Schema) map[string]string {
	all := map[string]string{"": transfer.KeyOf(s, s.KeySchema).String()}
	for _, x := range slices.Concat(s.LocalSecondaryIndexes, s.GlobalSecondaryIndexes) {
		all[x.IndexName] = transfer.KeyOf(s, x.KeySchema).String()
	}
	return all
}
