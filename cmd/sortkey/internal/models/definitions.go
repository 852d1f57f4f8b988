package models

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/design/examples"
	"github.com/sortkey/sortkey/internal/design/tabledef"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/keycond"
)

// Load loads the example with a name, the model at a path, or the tables that a template
// there defines. It returns what it loaded, and what was made up for the template. Options are those of
// the world of a model.
func Load(
	ctx context.Context, client *dynamodb.Client, name string, r tabledef.Reader, o world.Options,
) (Loaded, []tabledef.Note, error) {
	if !isModel(name) {
		list, notes, err := r.Read(name)
		if !errors.Is(err, tabledef.ErrOther) && !errors.Is(err, os.ErrNotExist) {
			for i := 0; err == nil && i < len(list); i++ {
				err = define(ctx, client, list[i])
			}
			return Loaded{Tables: len(list), Scale: 1}, notes, err
		}
	}
	m, err := Find(name)
	if err != nil {
		return Loaded{}, nil, err
	}
	l, err := Ensure(ctx, client, m, o)
	return l, nil, err
}

// isModel reports whether a name is that of an example or of a folder with a model.
func isModel(name string) bool {
	_, err := os.Stat(filepath.Join(name, "model.yaml"))
	return slices.Contains(examples.Names(), name) || err == nil
}

// define creates the table of a definition unless it exists. The error wraps [ErrOther] if
// there is a table of that name with other keys or indexes.
func define(ctx context.Context, client *dynamodb.Client, s *tabledef.Schema) error {
	fail := func(err error) error { return fmt.Errorf("%s: table %s: %w", s.Place, s.TableName, err) }
	have, err := Describe(ctx, client, s.TableName)
	if _, missing := errors.AsType[*types.ResourceNotFoundException](err); !missing {
		if err == nil && !sameKeys(have, s) {
			err = ErrOther
		}
		if err != nil {
			return fail(err)
		}
		return nil
	}

	if _, err := client.CreateTable(ctx, s.CreateTable(s.TableName)); err != nil {
		return fail(err)
	}
	if err := waitFor(ctx, client, s.TableName); err != nil {
		return fail(err)
	}

	if ttl := s.TimeToLiveSpecification; ttl != nil {
		if _, err := client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
			TableName: &s.TableName,
			TimeToLiveSpecification: &types.TimeToLiveSpecification{
				AttributeName: &ttl.AttributeName,
				Enabled:       aws.Bool(true),
			},
		}); err != nil {
			return fail(err)
		}
	}
	return nil
}

// waitFor waits until a new table is active.
func waitFor(ctx context.Context, client *dynamodb.Client, table string) error {
	wait := dynamodb.NewTableExistsWaiter(client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = 10*time.Millisecond, 5*time.Second
	})
	return wait.Wait(ctx, &dynamodb.DescribeTableInput{TableName: &table}, tableWait)
}

// sameKeys reports whether a table has the key of a definition and all of its indexes.
func sameKeys(have *keyschema.Table, s *tabledef.Schema) bool {
	kinds := s.KeyTypes()
	attributes := func(list []types.KeySchemaElement, role types.KeyType) (all []keycond.Attribute) {
		for _, e := range list {
			if kind, _ := attr.ParseKind(kinds[aws.ToString(e.AttributeName)]); e.KeyType == role {
				all = append(all, keycond.Attribute{Name: aws.ToString(e.AttributeName), Kind: kind})
			}
		}
		return all
	}
	same := func(k *keycond.Schema, list []types.KeySchemaElement) bool {
		return k != nil && slices.Equal(k.Partition(), attributes(list, types.KeyTypeHash)) &&
			slices.Equal(k.Sort(), attributes(list, types.KeyTypeRange))
	}
	for _, x := range slices.Concat(s.LocalSecondaryIndexes, s.GlobalSecondaryIndexes) {
		if !same(have.Schema(x.IndexName), x.KeySchema) {
			return false
		}
	}
	return same(have.Key, s.KeySchema)
}
