package transfer

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/design/tabledef"
)

// Defaults of [ImportOptions].
const (
	DefaultWorkers = 8
	DefaultEvery   = 20_000
	DefaultGrace   = 10 * time.Second
	// DefaultRejectsBytes is 64 MiB.
	DefaultRejectsBytes = 64 << 20
)

// ImportOptions configure [Import]. The zero value keeps neither a journal nor
// a report.
type ImportOptions struct {
	ReadOptions
	// Table is the table to write to. Default: the source's.
	Table string
	// Schema creates a missing table. Default: the source's.
	Schema *tabledef.Schema
	// Workers is the number of concurrent requests. Default: DefaultWorkers.
	Workers int

	// Journal is the file that records the progress of the import. A complete
	// import removes it. Default: none.
	Journal string
	// Resume continues an interrupted import at the position in its journal, if
	// there is one. Restart ignores the journal. With neither, a journal is an
	// error.
	Resume, Restart bool
	// Target names the endpoint in the journal. An import can be resumed only
	// with the same one.
	Target string
	// Rejects is the file for rejected records, a [Reject] as JSON on each line.
	// If no record was rejected, the file is removed. By default no file is written.
	Rejects string
	// RejectsBytes is the size limit of the file for rejected records. Those
	// after it are only counted.
	// Default: DefaultRejectsBytes.
	RejectsBytes int64
	// Every is the number of records between two writes of the journal. The
	// journal counts records that the endpoint has acknowledged; they are as
	// durable as the endpoint makes them. Default: DefaultEvery, or as many as are
	// written at once if DB takes them.
	Every int64
	// DB is the database of the client, if it is in this process. If its store takes
	// many sorted rows at once, items are handed to it, and Workers has no effect.
	// Default: items are sent to the client.
	DB *sortkey.DB

	// Grace is the time that requests in flight have to end after an
	// interruption. Default: DefaultGrace.
	Grace time.Duration
	// Backoff is the pause before the first retry of a request; later pauses are
	// longer. Default: DefaultBackoff.
	Backoff time.Duration
	// Waiting is called before such a pause, from one goroutine at a time. It
	// may be nil.
	Waiting func(Wait)
	// Progress is called now and then, from one goroutine. It may be nil.
	Progress func(Progress)
}

// Progress is the progress of an import or export.
type Progress struct {
	// Phase is "verify", "import" or "export".
	Phase string
	// Bytes of Total have been read, as stored in files; Total is 0 if it is
	// unknown.
	Bytes, Total int64
	// Items have been read.
	Items int64
}

// A TableResult counts the records of one table.
type TableResult struct {
	Table string `json:"table"`
	// Created is set if the import created the table.
	Created bool `json:"created"`
	// Read = Written + Deleted + Rejected in a complete import. Written and
	// Deleted include records that were not sent because a later one with the
	// same key replaces them.
	Read     int64 `json:"read"`
	Written  int64 `json:"written"`
	Deleted  int64 `json:"deleted,omitempty"`
	Rejected int64 `json:"rejected"`
}

// An ImportResult is the result of an import. For a resumed import the counts of
// tables include the records before the interruption.
type ImportResult struct {
	Tables []TableResult `json:"tables"`
	// Read is the number of records that this call read, and Bytes the size that
	// they have in files.
	Read  int64 `json:"read"`
	Bytes int64 `json:"bytes"`
	// First are the first records that this call rejected.
	First []Reject `json:"firstRejected,omitempty"`
	// Broken are the files that could not be read to the end, each with its last
	// readable line. The records up to that line were imported.
	Broken []Reject `json:"broken,omitempty"`
	// Rejects is the file with the report, if there is one.
	Rejects string `json:"rejects,omitempty"`
	// Unreported is the number of rejected records that the report leaves out
	// because it has reached its size limit.
	Unreported int64 `json:"unreported,omitempty"`
	// Journal is the file of the journal if the import can be resumed: all
	// records up to Line of File are done.
	Journal string `json:"journal,omitempty"`
	File    string `json:"file,omitempty"`
	Line    int64  `json:"line,omitempty"`
}

// Sum adds up the results of all tables.
func (r *ImportResult) Sum() (t TableResult) {
	for _, x := range r.Tables {
		t.Read += x.Read
		t.Written += x.Written
		t.Deleted += x.Deleted
		t.Rejected += x.Rejected
	}
	return t
}

// firstRejects is the number of rejected records in a result.
const firstRejects = 5

// Import writes sources into tables. It counts rejected records and continues;
// any other error ends the import. The result is never nil and counts what was
// written.
//
// When ctx ends, reading stops, the records that were read are written, and the
// journal holds the exact position. Requests to an endpoint that does not answer
// are not retried then.
func Import(ctx context.Context, client *dynamodb.Client, sources []*Source, o ImportOptions) (*ImportResult, error) {
	im := newImporter(ctx, client, sources, o)
	return im.finish(im.run(ctx))
}

func newImporter(ctx context.Context, client *dynamodb.Client, sources []*Source, o ImportOptions) *importer {
	if o.Workers <= 0 {
		o.Workers = DefaultWorkers
	}
	if o.RejectsBytes <= 0 {
		o.RejectsBytes = DefaultRejectsBytes
	}
	if o.Grace <= 0 {
		o.Grace = DefaultGrace
	}
	return &importer{
		o: o, retry: newRetrier(ctx, client, o.Backoff, o.Waiting), sources: sources,
		result: &ImportResult{},
	}
}

// finish completes the result of an import.
func (im *importer) finish(err error) (*ImportResult, error) {
	if im.report != nil {
		err = errors.Join(err, im.report.close())
		if im.report.size > 0 {
			im.result.Rejects = im.report.path
		}
		im.result.Unreported = im.report.unreported
	}
	im.result.Tables, im.result.Broken = im.journal.Tables, im.journal.Broken
	return im.result, err
}
