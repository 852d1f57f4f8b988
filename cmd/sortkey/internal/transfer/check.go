package transfer

import (
	"context"
	"errors"
	"os"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/advice"
)

// CheckExport calls Mask with every item of the tables and writes nothing.
func CheckExport(ctx context.Context, client *dynamodb.Client, tables []string, o ExportOptions) error {
	o = o.withDefaults()
	o.Segments = 1
	for _, table := range tables {
		x := &exporter{o: o, retry: newRetrier(ctx, client, o.Backoff, o.Waiting), table: table}
		if _, err := x.describe(ctx); err != nil {
			return err
		}
		if err := x.scan(ctx, 0, func(attr.Item) error { return nil }); err != nil {
			return err
		}
	}
	return nil
}

// CheckImport calls Mask with every record of the sources and writes nothing. It skips what [Import] rejects
// or reports. It refuses pipes, which can be read only once.
func CheckImport(ctx context.Context, client *dynamodb.Client, sources []*Source, o ImportOptions) error {
	im := newImporter(ctx, client, sources, o)
	for _, s := range sources {
		for _, f := range s.Files {
			if _, regular, err := identify(f.Path); err == nil && !regular {
				return advice.New(
					"put the input into a file", "cannot check %s before it is written: it is not a file", s.Name,
				)
			}
		}
	}

	for _, s := range sources {
		name, err := im.table(s)
		if err != nil {
			return err
		}
		opts, err := im.checkOptions(ctx, s, name)
		if err != nil {
			return err
		}
		for _, f := range s.Files {
			if err := im.checkFile(ctx, name, f, opts); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkOptions returns the options for reading a source, whose table need not exist yet.
func (im *importer) checkOptions(ctx context.Context, s *Source, table string) (ReadOptions, error) {
	opts := im.sourceOptions(s)
	schema := im.o.Schema
	if schema == nil {
		schema = s.Schema
	}
	if schema == nil {
		x := &exporter{retry: im.retry, table: table}
		if _, err := x.describe(ctx); err != nil {
			return opts, err
		}
		schema = x.schema
	}
	if im.o.Keys != nil {
		if err := im.o.Keys(table, keysOf(schema).names); err != nil {
			return opts, err
		}
	}
	var err error
	opts.Types, err = opts.Types.merge(schema.KeyTypes())
	return opts, err
}

func (im *importer) checkFile(ctx context.Context, table string, f File, opts ReadOptions) error {
	in, err := openInput(f.Path)
	if err != nil {
		if _, system := errors.AsType[*os.PathError](err); system {
			return err
		}
		return nil // reading the file reports the error
	}
	defer in.Close()
	r, err := NewReader(in, f.Path, opts)
	if err != nil {
		if _, ok := errors.AsType[*advice.Error](err); ok {
			return err
		}
		return nil
	}

	for ctx.Err() == nil {
		rec, err := r.Next()
		if err != nil {
			return nil //nolint:nilerr // the end, or an error that Import reports
		}
		im.items++
		if im.items%256 == 0 {
			im.progress(Progress{Phase: "check", Bytes: in.packed.Load(), Items: im.items})
		}
		if rec.Err == nil {
			_, _ = im.o.Mask(table, rec.Item) // Import rejects what has no stand-in
		}
	}
	return context.Cause(ctx)
}

// sourceOptions returns the options for reading a source, without the types of its key.
func (im *importer) sourceOptions(s *Source) ReadOptions {
	opts := im.o.ReadOptions
	if opts.Table == "" {
		opts.Table = im.o.Table // of requests from a pipe
	}
	return s.reading(opts)
}
