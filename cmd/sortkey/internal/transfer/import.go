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
	// Table is the table to write to. Default: the table that the source names.
	Table string
	// Schema is the definition with which Import creates a missing table. Default: the definition in the source.
	Schema *tabledef.Schema
	// Workers is the number of concurrent requests. Default: DefaultWorkers.
	Workers int

	// Journal is the file that records the progress of the import. A complete
	// import removes it. Default: none.
	Journal string
	// Resume continues an interrupted import from the position in its journal, if there is a journal. Restart ignores
	// a journal and starts from the beginning. If neither is set and there is a journal, Import returns an error.
	Resume, Restart bool
	// Target is the name of the database that Import writes to. The journal contains it. An interrupted import can be
	// resumed only with the same Target.
	Target string
	// Rejects is the path of the report of rejected records, which has a [Reject] as JSON on each line. Import
	// removes the report if it rejected no record. By default there is no report.
	Rejects string
	// RejectsBytes bounds the size of the report. When the report is full, Import only counts the rejected records.
	// Default: DefaultRejectsBytes.
	RejectsBytes int64
	// Every is the maximum number of records between two writes of the journal. The journal counts a record only
	// after the endpoint has acknowledged it; the endpoint decides whether the record is then durable. Default:
	// DefaultEvery, or no limit if Import writes directly to DB.
	Every int64
	// DB is the database behind the client, if it is in this process. If its store can load many sorted rows at once,
	// Import writes items directly to DB, and Workers has no effect. Default: Import sends items to the client.
	DB *sortkey.DB

	// Grace is the time that requests in progress have to finish after an interruption. Default: DefaultGrace.
	Grace time.Duration
	// Backoff is the pause before the first retry of a request. Each later pause is twice as long, up to 10 s.
	// Default: DefaultBackoff.
	Backoff time.Duration
	// Import calls Waiting before it pauses, but not before the first pauses of a request. There is only one call at
	// a time. Waiting may be nil.
	Waiting func(Wait)
	// Import calls Progress after each part of a file that it verifies and each block that it imports, from one
	// goroutine. Progress may be nil.
	Progress func(Progress)
}

// Progress is the progress of an import or export.
type Progress struct {
	// Phase is "verify", "import" or "export".
	Phase string
	// Bytes is the number of bytes read from the files, before decompression. Total is their size, or 0 if it is
	// unknown.
	Bytes, Total int64
	// Items is the number of items so far.
	Items int64
}

// A TableResult counts the records of one table.
type TableResult struct {
	Table string `json:"table"`
	// Created is set if the import created the table.
	Created bool `json:"created"`
	// After a complete import, Read = Written + Deleted + Rejected. If several records have the same key, Written and
	// Deleted count all of them, although Import may write only the last one.
	Read     int64 `json:"read"`
	Written  int64 `json:"written"`
	Deleted  int64 `json:"deleted,omitempty"`
	Rejected int64 `json:"rejected"`
}

// An ImportResult is the result of an import. If the import was resumed, the results of the tables include the
// records before the interruption.
type ImportResult struct {
	Tables []TableResult `json:"tables"`
	// Read is the number of records that this call read, and Bytes is the number of bytes, before decompression.
	Read  int64 `json:"read"`
	Bytes int64 `json:"bytes"`
	// First are the first records that this call rejected, at most 5.
	First []Reject `json:"firstRejected,omitempty"`
	// Broken has an element for each file that Import could not read to the end, with the last line that it could
	// read. Import has written the records up to that line.
	Broken []Reject `json:"broken,omitempty"`
	// Rejects is the path of the report, or "" if the import has written no report.
	Rejects string `json:"rejects,omitempty"`
	// Unreported is the number of rejected records that are not in the report, because the report has reached its
	// size limit.
	Unreported int64 `json:"unreported,omitempty"`
	// Journal is the path of the journal, or "" if the import cannot be resumed. A resumed import continues after
	// Line of File.
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

// firstRejects is the maximum number of rejected records in a result.
const firstRejects = 5

// Import writes sources into tables. It counts rejected records and continues after them. Any other error ends the
// import. The result is never nil, and says how much Import has written.
//
// When ctx ends, Import stops reading, writes the records that it has read, and saves the exact position in the
// journal. From then on it does not retry requests.
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

// finish fills the result of an import. It joins err with the error of closing the report.
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
