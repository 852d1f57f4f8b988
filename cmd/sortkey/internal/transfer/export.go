package transfer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/staging"
	"github.com/sortkey/sortkey/internal/api/s3files"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/tabledef"
	"github.com/sortkey/sortkey/internal/engine"
	"github.com/sortkey/sortkey/internal/sdkvalue"
	"github.com/sortkey/sortkey/internal/throttle"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
)

// DefaultSegments is the number of segments of a table that an export reads in parallel.
const DefaultSegments = 4

// ExportOptions configure [Export] and [ExportTo].
type ExportOptions struct {
	// Segments is the number of segments of a table that an export reads in parallel, each into its own file.
	// Default: DefaultSegments.
	Segments int
	// Still is the caller's promise that nobody writes to the tables during the export, so that all items are from
	// one point in time. Default: there may be concurrent writes, and the export may include some of them.
	Still bool
	// Mask returns an item for Export to write instead of it, an item of the table. Default: Export writes the items
	// of the table.
	Mask func(table string, it attr.Item) (attr.Item, error)
	// Keys checks the names of a table's key attributes. Export calls it before Mask. If Keys returns an error, the
	// export fails. Default: no check.
	Keys func(table string, names []string) error
	// DB is the database behind the client, if it is in this process. The export then reads its rows directly.
	// Default: the export requests pages from the client.
	DB *sortkey.DB
	// Clock returns the time for the manifests. Default: the zero time.
	Clock func() time.Time
	// Backoff is the pause before the first retry of a request. Each later pause is twice as long, up to 10 s.
	// Default: DefaultBackoff.
	Backoff time.Duration
	// Export calls Waiting before it pauses, but not before the first pauses of a request. There is only one call at
	// a time. Waiting may be nil.
	Waiting func(Wait)
	// Export calls Progress after each page of items. There is only one call at a time. Progress may be nil.
	Progress func(Progress)
}

func (o ExportOptions) withDefaults() ExportOptions {
	if o.Segments <= 0 {
		o.Segments = DefaultSegments
	}
	if o.Clock == nil {
		o.Clock = func() time.Time { return time.Time{} }
	}
	return o
}

// An ExportResult is the result of the export of one table.
type ExportResult struct {
	Table string `json:"table"`
	Items int64  `json:"items"`
	// Bytes is the size of the data files.
	Bytes int64  `json:"bytes"`
	Dir   string `json:"dir,omitempty"`
	// PointInTime reports whether all items are from one point in time. It equals the option Still, because the
	// export cannot detect concurrent writes.
	PointInTime bool `json:"pointInTime"`
}

// Export writes tables into the folder dir, which must be new or empty. If into is set, it writes each table into a
// folder in dir that has the table's name. Otherwise it writes the only table into dir itself. Export first writes to
// a folder beside dir, makes the files durable and then renames the folder. After an error, dir therefore has no
// incomplete export.
func Export(
	ctx context.Context, client *dynamodb.Client, tables []string, dir string, into bool, o ExportOptions,
) ([]ExportResult, error) {
	o = o.withDefaults()
	dir = filepath.Clean(dir)
	if into {
		for _, table := range tables { // names are from the endpoint
			if !filepath.IsLocal(table) || table != filepath.Base(table) || table == "." {
				return nil, advice.New(
					"export the other tables one by one",
					"table %q cannot be exported to a folder of this name; nothing was written", table,
				)
			}
		}
	}

	if err := checkNew(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return nil, err
	}
	temp, err := staging.New(dir)
	if err != nil {
		return nil, err
	}
	defer temp.Remove()
	part := filepath.Join(temp.Path, "export")
	var results []ExportResult
	var items int64
	retry := newRetrier(ctx, client, o.Backoff, o.Waiting)
	for _, table := range tables {
		to := part
		final := dir
		if into {
			to, final = filepath.Join(part, table), filepath.Join(dir, table)
		}
		x := &exporter{o: o, retry: retry, table: table, dir: to}
		x.items.Store(items)
		r, err := x.run(ctx)
		if err != nil {
			return nil, err
		}
		items += r.Items
		r.Dir = final
		results = append(results, r)
	}

	if err := SyncFolder(part); err != nil {
		return nil, err
	}
	_ = os.Remove(dir) // if it is an empty folder
	if err := os.Rename(part, dir); err != nil {
		if made := checkNew(dir); made != nil { // another export may have written to dir meanwhile
			err = made
		}
		return nil, err
	}
	return results, SyncFolder(filepath.Dir(dir))
}

// checkNew returns an error if a folder exists and is not empty.
func checkNew(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case isFile(dir):
		return advice.New("name a new folder", "%s is a file", dir)
	case err != nil:
		return err
	case len(entries) > 0:
		return advice.New("name a new folder", "%s already exists and is not empty", dir)
	}
	return nil
}

// ExportTo writes the items of a table to w in DynamoDB JSON, one on each line.
func ExportTo(
	ctx context.Context, client *dynamodb.Client, table string, w io.Writer, o ExportOptions,
) (ExportResult, error) {
	o = o.withDefaults()
	o.Segments = 1
	x := &exporter{o: o, retry: newRetrier(ctx, client, o.Backoff, o.Waiting), table: table}
	return x.stream(ctx, w)
}

// exporter exports one table.
type exporter struct {
	o      ExportOptions
	retry  *retrier
	table  string
	dir    string
	schema *tabledef.Schema
	items  atomic.Int64
	mu     sync.Mutex // held during calls of Progress
}

// describe requests the definition of the table, and calls the option Keys.
func (x *exporter) describe(ctx context.Context) (*types.TableDescription, error) {
	out, err := x.retry.describe(ctx, x.table)
	if missing, ok := errors.AsType[*types.ResourceNotFoundException](err); ok {
		return nil, &advice.Error{Msg: fmt.Sprintf("table %s does not exist", x.table), Err: missing}
	}
	if err != nil {
		return nil, err
	}
	if x.schema, err = tabledef.Of(out.Table); err != nil {
		return nil, fmt.Errorf("table %s: %w", x.table, err)
	}
	if x.o.Keys != nil {
		partition, sort := tabledef.KeyNames(x.schema.KeySchema)
		return out.Table, x.o.Keys(x.table, append(partition, sort...))
	}
	return out.Table, nil
}

func (x *exporter) run(ctx context.Context) (r ExportResult, err error) {
	r.Table, r.PointInTime = x.table, x.o.Still
	start := x.o.Clock().UTC()
	d, err := x.describe(ctx)
	if err != nil {
		return r, err
	}
	ttl, err := call(
		ctx, x.retry, x.retry.client.DescribeTimeToLive, &dynamodb.DescribeTimeToLiveInput{TableName: &x.table},
	)
	if err != nil {
		return r, err
	}
	enabled := []types.TimeToLiveStatus{types.TimeToLiveStatusEnabled, types.TimeToLiveStatusEnabling}
	if t := ttl.TimeToLiveDescription; t != nil && slices.Contains(enabled, t.TimeToLiveStatus) {
		x.schema.TimeToLiveSpecification = &tabledef.TimeToLive{
			AttributeName: aws.ToString(t.AttributeName), Enabled: true,
		}
	}
	if err := os.MkdirAll(filepath.Join(x.dir, s3files.DataFolder), 0o700); err != nil {
		return r, err
	}
	files, err := x.data(ctx)
	if err != nil {
		return r, err
	}
	var manifest []byte
	for _, f := range files {
		r.Items += f.Items
		r.Bytes += f.Size()
		line, err := f.DataFile(s3files.DataFolder + "/" + f.name).Encode(s3files.Guided)
		if err != nil {
			return r, err
		}
		manifest = append(manifest, line...)
	}
	definition, err := json.MarshalIndent(x.schema, "", "  ")
	if err != nil {
		return r, err
	}
	if err := x.write(schemaFile, append(definition, '\n')); err != nil {
		return r, err
	}
	if err := s3files.WriteManifest(s3files.FilesFile, manifest, x.write); err != nil {
		return r, err
	}

	began := s3files.Time(start)
	id := sha256.Sum256([]byte(aws.ToString(d.TableArn) + began))
	sum := s3files.Summary{
		Version: s3files.Version,
		ExportArn: fmt.Sprintf(
			"%s/export/%014d-%s", aws.ToString(d.TableArn), max(start.UnixMilli(), 0), hex.EncodeToString(id[:4]),
		),
		StartTime: began, EndTime: s3files.Time(x.o.Clock()), ExportTime: began,
		TableArn: aws.ToString(d.TableArn), TableID: aws.ToString(d.TableId),
		ManifestFilesS3Key: s3files.FilesFile, BilledSizeBytes: aws.ToInt64(d.TableSizeBytes), ItemCount: r.Items,
		OutputFormat: s3files.FormatDynamoDB, ExportType: s3files.FullExport, PointInTime: &r.PointInTime,
	}
	text, err := sum.Encode(s3files.Guided)
	if err != nil {
		return r, err
	}
	return r, s3files.WriteManifest(s3files.SummaryFile, text, x.write)
}

func (x *exporter) write(name string, data []byte) error {
	f, err := openOwn(filepath.Join(x.dir, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// data writes the data files, one for each segment.
func (x *exporter) data(ctx context.Context) ([]*dataWriter, error) {
	files := make([]*dataWriter, x.o.Segments)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for i := range files {
		wg.Go(func() {
			f, err := x.create(i)
			if err == nil {
				files[i] = f
				err = x.scan(ctx, i, f.WriteItem)
				if err == nil {
					err = f.finish()
				} else {
					_ = f.file.Close()
				}
			}
			if err != nil {
				cancel(err)
			}
		})
	}

	wg.Wait()
	return files, context.Cause(ctx)
}

// scan calls fn with each item of a segment. The item is valid until fn returns.
func (x *exporter) scan(ctx context.Context, segment int, fn func(attr.Item) error) error {
	if x.o.Mask != nil {
		next, k := fn, keysOf(x.schema)
		var key []byte
		fn = func(it attr.Item) error {
			it, err := x.o.Mask(x.table, it)
			if err == nil {
				key, err = k.appendKey(key[:0], it) // the mask may have removed a key attribute
			}
			if err != nil {
				return fmt.Errorf("table %s: cannot mask an item: %w", x.table, err)
			}
			return next(it)
		}
	}

	page := x.request
	if x.o.DB != nil {
		page = x.read
	}
	in := &wire.ScanInput{TableName: &x.table, ConsistentRead: new(true)}
	if x.o.Segments > 1 {
		in.Segment, in.TotalSegments = new(int64(segment)), new(int64(x.o.Segments))
	}

	for {
		n, next, err := page(ctx, in, fn)
		if err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return err
		}
		x.progress(n)
		if in.ExclusiveStartKey = next; next.Len() == 0 {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// read reads a page of a scan directly from the database. It returns the number of items, and the key after which the
// next page begins.
func (x *exporter) read(
	ctx context.Context, in *wire.ScanInput, fn func(attr.Item) error,
) (n int, next attr.Item, err error) {
	var failed error           // of fn
	ctx = throttle.Exempt(ctx) // fn may block, so this scan must not occupy one of the slots for heavy reads
	out, err := engine.Of(x.o.DB).Service.Scan(ctx, in, func(it attr.Item) (int, error) {
		n++
		if failed = fn(it); failed != nil {
			return 0, keycond.ErrEndPage
		}
		return 0, nil
	})
	if err := cmp.Or(failed, err); err != nil {
		return n, nil, err
	}
	return n, out.LastEvaluatedKey, nil
}

// request requests a page of a scan from the client. It returns the same results as read.
func (x *exporter) request(
	ctx context.Context, in *wire.ScanInput, fn func(attr.Item) error,
) (n int, next attr.Item, err error) {
	request := &dynamodb.ScanInput{TableName: in.TableName, ConsistentRead: in.ConsistentRead}
	if in.Segment != nil {
		request.Segment, request.TotalSegments = new(int32(*in.Segment)), new(int32(*in.TotalSegments))
	}
	if in.ExclusiveStartKey != nil {
		request.ExclusiveStartKey = sdkvalue.Of(in.ExclusiveStartKey)
	}

	out, err := call(ctx, x.retry, x.retry.client.Scan, request)
	if err != nil {
		return 0, nil, err
	}

	for _, m := range out.Items {
		it, err := sdkvalue.Item(m)
		if err != nil {
			return 0, nil, fmt.Errorf("table %s: %w", x.table, err)
		}
		if err := fn(it); err != nil {
			return 0, nil, err
		}
	}

	if len(out.LastEvaluatedKey) > 0 {
		next, err = sdkvalue.Item(out.LastEvaluatedKey)
	}
	return len(out.Items), next, err
}

func (x *exporter) progress(n int) {
	items := x.items.Add(int64(n))
	if x.o.Progress != nil {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.o.Progress(Progress{Phase: "export", Items: items})
	}
}

// stream writes the items to w.
func (x *exporter) stream(ctx context.Context, w io.Writer) (r ExportResult, err error) {
	r.Table, r.PointInTime = x.table, x.o.Still
	if _, err := x.describe(ctx); err != nil {
		return r, err
	}
	out := s3files.NewWriter(w, false)
	err = x.scan(ctx, 0, out.WriteItem)
	if closed := out.Close(); err == nil {
		err = closed
	}
	r.Items, r.Bytes = out.Items, out.Size()
	return r, err
}
