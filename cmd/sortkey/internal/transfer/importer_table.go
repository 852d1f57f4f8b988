package transfer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

const tableWait = 5 * time.Minute

// ensure makes the table of a source unless it is there, and settles the types
// of its attributes.
func (im *importer) ensure(ctx context.Context, i int) error {
	s, name := im.sources[i], im.journal.Tables[i].Table
	want := im.o.Schema
	if want == nil {
		want = s.Schema
	}
	opts := im.o.ReadOptions
	if (opts.Format == Auto || opts.Format == "") && s.Format != "" {
		opts.Format = s.Format
	}
	opts.Types = Types{}
	maps.Copy(opts.Types, s.Types)
	maps.Copy(opts.Types, im.o.Types)
	var out *dynamodb.DescribeTableOutput
	err := im.retry.do(ctx, func() (err error) {
		out, err = im.client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name}, once)
		return err
	})
	missing, absent := errors.AsType[*types.ResourceNotFoundException](err)
	switch had := im.journal.Tables[i]; {
	case absent && had.Written+had.Deleted > 0:
		return &Error{
			Msg: fmt.Sprintf("the table %s is gone, and with it what the interrupted import wrote", name), Err: missing,
			Hint: "start over with --restart",
		}
	case absent && want == nil:
		return &Error{
			Msg: "there is no table " + name, Err: missing,
			Hint: "have it made: give its key with --key, such as --key pk:S,sk:N, or its definition with --schema",
		}
	case err != nil && !absent:
		return err
	case absent:
		if opts.Types, err = opts.Types.merge(want.keyTypes()); err != nil {
			return err
		}
		if err := im.probe(i, s, opts, want.keys()); err != nil {
			return err
		}
		if err := im.create(ctx, name, want); err != nil {
			return fmt.Errorf("creating table %s: %w", name, err)
		}
		im.journal.Tables[i].Created = true
	case im.o.Create && !im.kept && !im.madeBefore(i, name):
		return fail("leave --create out to write to it as it is", "there is a table %s already", name)
	default:
		have, err := SchemaOf(out.Table)
		if err != nil {
			return fmt.Errorf("table %s: %w", name, err)
		}
		if want != nil && !have.keys().equal(want.keys()) {
			return fail("import into another table with --table", "the key of the table %s is %s, not %s", name, have.keys(), want.keys())
		}
		want = have
		if opts.Types, err = opts.Types.merge(want.keyTypes()); err != nil {
			return err
		}
		if err := im.probe(i, s, opts, want.keys()); err != nil {
			return err
		}
	}
	im.reading = append(im.reading, opts)
	im.schemas = append(im.schemas, want)
	return nil
}

// probe refuses files whose beginning tells that nothing of them can be read,
// before anything is made or written. Those of an export are all alike.
func (im *importer) probe(i int, s *Source, opts ReadOptions, k *keys) error {
	for n, f := range s.Files {
		if n > 0 && s.export {
			return nil
		}
		if im.journal.Sources[i].Files[n].Head == "" {
			continue // a pipe is read once
		}
		in, err := openInput(f.Path)
		if err != nil {
			continue // that is told when it is read
		}
		_, err = openReader(in, f, opts, k)
		if err := errors.Join(err, in.Close()); err != nil {
			if e, ok := errors.AsType[*Error](err); ok {
				return e
			}
		}
	}
	return nil
}

// openReader returns a reader of a file of records with the keys k. An [*Error]
// says what is wrong with all of it.
func openReader(in *input, f File, opts ReadOptions, k *keys) (*Reader, error) {
	r, err := NewReader(in, strings.TrimSuffix(f.Path, stdin), opts)
	if err == nil && r.columns != nil {
		err = r.columns.check(k, r.cells.comma)
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return nil, fail(e.Hint, "%s: %w", f.Path, err)
	}
	return r, err
}

func (im *importer) madeBefore(i int, name string) bool {
	for _, t := range im.journal.Tables[:i] {
		if t.Table == name && t.Created {
			return true
		}
	}
	return false
}

func (im *importer) create(ctx context.Context, name string, s *Schema) error {
	again := false // a request without an answer may have been done
	if err := im.retry.do(ctx, func() error {
		_, err := im.client.CreateTable(ctx, s.CreateTable(name), once)
		if _, done := errors.AsType[*types.ResourceInUseException](err); done && again {
			return nil
		}
		again = true
		return err
	}); err != nil {
		return err
	}
	wait := dynamodb.NewTableExistsWaiter(im.client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = 100*time.Millisecond, 5*time.Second
	})
	if err := wait.Wait(ctx, &dynamodb.DescribeTableInput{TableName: &name}, tableWait); err != nil {
		return err
	}
	if ttl := s.TimeToLiveSpecification; ttl != nil {
		return im.retry.do(ctx, func() error {
			_, err := im.client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
				TableName:               &name,
				TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: &ttl.AttributeName, Enabled: aws.Bool(true)},
			}, once)
			return err
		})
	}
	return nil
}
