package transfer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/tabledef"
)

const tableWait = 5 * time.Minute

// ensure creates the table of source i if it does not exist, and sets the options for reading the source.
func (im *importer) ensure(ctx context.Context, i int) error {
	s, name := im.sources[i], im.journal.Tables[i].Table
	want := im.o.Schema
	if want == nil {
		want = s.Schema
	}

	opts := im.sourceOptions(s)
	out, err := im.retry.describe(ctx, name)
	missing, absent := errors.AsType[*types.ResourceNotFoundException](err)
	had := im.journal.Tables[i]
	switch {
	case absent && had.Written+had.Deleted > 0:
		return fail(
			errors.Join(ErrRestart, missing), "",
			"table %s was deleted, with the items that the interrupted import wrote", name,
		)
	case absent && want == nil:
		return fail(errors.Join(ErrNoTable, missing), "", "table %s does not exist", name)
	case err != nil && !absent:
		return err
	case !absent:
		have, err := tabledef.Of(out.Table)
		if err != nil {
			return fmt.Errorf("table %s: %w", name, err)
		}
		is := KeyOf(have, have.KeySchema).String()
		if want != nil && KeyOf(want, want.KeySchema).String() != is {
			return fail(
				ErrOtherKey, "", "the key of table %s is %s, not %s", name, is, KeyOf(want, want.KeySchema),
			)
		}
		want = have
	}

	if opts.Types, err = opts.Types.merge(want.KeyTypes()); err != nil {
		return err
	}
	if err := im.checkFiles(i, s, opts, keysOf(want)); err != nil {
		return err
	}
	im.readOptions = append(im.readOptions, opts)
	im.schemas = append(im.schemas, want)

	if absent {
		if err := im.retry.create(ctx, name, want); err != nil {
			return fmt.Errorf("cannot create table %s: %w", name, err)
		}
		im.journal.Tables[i].Created = true
	}
	if im.o.Journal == "" {
		return nil
	}
	if absent {
		if out, err = im.retry.describe(ctx, name); err != nil {
			return err
		}
	} else if err := im.checkResumed(i, out.Table); err != nil {
		return err
	}
	im.journal.Sources[i].Made = identityOf(out.Table)
	return nil
}

func (r *retrier) describe(ctx context.Context, table string) (*dynamodb.DescribeTableOutput, error) {
	return call(ctx, r, r.client.DescribeTable, &dynamodb.DescribeTableInput{TableName: &table})
}

// checkFiles opens the files of a source before the import creates a table or writes an item. If the import could not
// read any record of a file, it thus fails early. In an export all files have the same format, so checkFiles opens
// only the first.
func (im *importer) checkFiles(i int, s *Source, opts ReadOptions, k keys) error {
	for n, f := range s.Files {
		if n > 0 && s.export {
			return nil
		}
		if im.journal.Sources[i].Files[n].Modified.IsZero() {
			continue // a pipe is read once
		}
		in, err := openInput(f.Path)
		if err != nil {
			continue // the import reports the error when it reads the file
		}
		_, err = im.openReader(in, f, opts, k)
		if err := errors.Join(err, in.Close()); err != nil {
			if _, ok := errors.AsType[*advice.Error](err); ok {
				return err
			}
		}
	}
	return nil
}

// openReader returns a reader of a file for a table with the keys k. It returns an [*advice.Error] if the reader
// would reject every record of the file.
func (im *importer) openReader(in *input, f File, opts ReadOptions, k keys) (*Reader, error) {
	r, err := NewReader(in, strings.TrimSuffix(f.Path, stdin), opts)
	if err == nil && r.columns != nil {
		err = r.columns.check(k, im.o.Types)
	}
	if err == nil && r.columns == nil && (opts.Delimiter != 0 || opts.Columns != nil) {
		err = advice.New("leave out --delimiter and --columns", "the file is not CSV")
	}
	if _, ok := errors.AsType[*advice.Error](err); ok {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	return r, err
}

// Create creates a table from its definition, and waits until it can be used.
func Create(ctx context.Context, client *dynamodb.Client, name string, s *tabledef.Schema) error {
	return newRetrier(ctx, client, 0, nil).create(ctx, name, s)
}

func (r *retrier) create(ctx context.Context, name string, s *tabledef.Schema) error {
	// An earlier attempt may have created the table but got no response; then the table already exists.
	again := false
	if err := r.do(ctx, func() error {
		_, err := r.client.CreateTable(ctx, s.CreateTable(name), once)
		if _, done := errors.AsType[*types.ResourceInUseException](err); done && again {
			return nil
		}
		again = true
		return err
	}); err != nil {
		return err
	}

	wait := dynamodb.NewTableExistsWaiter(r.client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = 100*time.Millisecond, 5*time.Second
	})
	if err := wait.Wait(ctx, &dynamodb.DescribeTableInput{TableName: &name}, tableWait); err != nil {
		return err
	}

	ttl := s.TimeToLiveSpecification
	if ttl == nil {
		return nil
	}
	_, err := call(ctx, r, r.client.UpdateTimeToLive, &dynamodb.UpdateTimeToLiveInput{
		TableName: &name,
		TimeToLiveSpecification: &types.TimeToLiveSpecification{
			AttributeName: &ttl.AttributeName, Enabled: aws.Bool(true),
		},
	})
	return err
}
