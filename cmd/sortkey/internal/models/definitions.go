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

// A Loader loads models, templates and data from files into a database. It is not safe for concurrent use.
type Loader struct {
	DB *sortkey.DB
	// Definitions reads templates.
	Definitions tabledef.Reader
	// Dataset has the options for building the datasets of models.
	Dataset dataset.Options

	filled map[string]bool // tables that the loader has created or put items into
}

// Load loads the example called name, or the file or folder at the path name. This is a model, a template with
// tables, or data, which means an export or requests that write items. Load does not load data into a table that
// already has items, unless l has written them. It returns what it loaded, and notes on what it assumed about a
// template.
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
	loaded, err := Ensure(ctx, l.DB, m, l.Dataset)
	for _, t := range m.Tables {
		if !loaded.Found {
			l.fill(t.Name)
		}
	}
	return loaded, nil, err
}

// loadOther loads a template or data. Its error wraps [tabledef.ErrOther] if the file may be a model.
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

// define creates the tables in list that do not exist.
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

// isModel reports whether a name is the name of an example or a folder with a model.yaml.
func isModel(name string) bool {
	_, err := os.Stat(filepath.Join(name, "model.yaml"))
	return slices.Contains(examples.Names(), name) || err == nil
}

// define creates the table of s unless it exists. Its error wraps [ErrOther] if the existing table has another key,
// or does not have each index of s with the same key.
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

// sameKeys reports whether have has the key of want, and each index of want with the same key.
func sameKeys(have, want *tabledef.Schema) bool {
	is := keysOf(have)
	for name, key := range keysOf(want) {
		if is[name] != key {
			return false
		}
	}
	return true
}

// keysOf returns the keys of a table's indexes by name, and the key of the table itself under "".
func keysOf(s *tabledef.Schema) map[string]string {
	all := map[string]string{"": transfer.KeyOf(s, s.KeySchema).String()}
	for _, x := range slices.Concat(s.LocalSecondaryIndexes, s.GlobalSecondaryIndexes) {
		all[x.IndexName] = transfer.KeyOf(s, x.KeySchema).String()
	}
	return all
}
