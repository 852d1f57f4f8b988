package transfer

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/sortkey/sortkey/attr"
)

// CheckExport reads all items of the tables and calls the option Mask with each of them, as Export does, but it
// writes nothing.
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

// sourceOptions returns the options for reading a source, except the types of its key attributes.
func (im *importer) sourceOptions(s *Source) ReadOptions {
	opts := im.o.ReadOptions
	if opts.Table == "" {
		opts.Table = im.o.Table // selects requests from a pipe
	}
	return s.reading(opts)
}
