package transfer

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Defaults of [ImportOptions].
const (
	DefaultWorkers = 8
	DefaultEvery   = 20_000
	DefaultGrace   = 10 * time.Second
)

// ImportOptions configure [Import]. The zero value keeps neither a journal nor
// a report.
type ImportOptions struct {
	ReadOptions
	// Table is the table to write to. Default: the one the source tells.
	Table string
	// Schema makes the table when there is none. Default: the source's.
	Schema *Schema
	// Create refuses to write to a table that is there already.
	Create bool
	// Workers is how many requests are made at a time. Default: DefaultWorkers.
	Workers int

	// Journal is the file that tells how far the import has come. It is removed
	// when all is done. Default: none.
	Journal string
	// Resume goes on where the journal says; it is no error if there is none.
	// Restart ignores it. With neither, a journal is an error.
	Resume, Restart bool
	// Target names the endpoint in the journal: one import cannot go on with
	// another.
	Target string
	// Rejects is the file for records that were refused, a [Reject] as JSON in
	// each line. It is made when there are any. Default: none.
	Rejects string
	// Every is the number of records after which the journal is written. It
	// counts what the endpoint has answered for, which is as durable as that is.
	// Default: DefaultEvery.
	Every int64

	// NoVerify leaves out the checks against the checksums and counts of
	// manifests.
	NoVerify bool
	// Grace is how long writes under way may take to end after an
	// interruption. Default: DefaultGrace.
	Grace time.Duration
	// Backoff is the first pause before a request that failed is made again; the
	// next are longer. Default: DefaultBackoff.
	Backoff time.Duration
	// Waiting is called with each such pause, from one goroutine at a time. It
	// may be nil.
	Waiting func(Wait)
	// Progress is called now and then, from one goroutine. It may be nil.
	Progress func(Progress)
}

// Progress is how far an import or export has come.
type Progress struct {
	// Phase is "verify", "import" or "export".
	Phase string
	// Bytes of Total have been read, as they lie in files; Total is 0 when that
	// is not known.
	Bytes, Total int64
	// Items have been read.
	Items int64
}

// A TableResult is what became of the records of one table.
type TableResult struct {
	Table string `json:"table"`
	// Created says that the table was made.
	Created bool `json:"created"`
	// Read = Written + Deleted + Rejected once all is done.
	Read     int64 `json:"read"`
	Written  int64 `json:"written"`
	Deleted  int64 `json:"deleted,omitempty"`
	Rejected int64 `json:"rejected"`
}

// An ImportResult is what an import did, the parts before it was interrupted
// included.
type ImportResult struct {
	Tables []TableResult `json:"tables"`
	// Read is how many records were read by this call, and Bytes how much of
	// files.
	Read  int64 `json:"read"`
	Bytes int64 `json:"bytes"`
	// First are the first refused records of this call.
	First []Reject `json:"firstRejected,omitempty"`
	// Broken are the files that could not be read to their end, with the last
	// line that could. What came before it was imported.
	Broken []Reject `json:"broken,omitempty"`
	// Rejects is the report's file, if there is one.
	Rejects string `json:"rejects,omitempty"`
	// Journal is the journal's file, if it was left behind: File and Line are
	// up to where all is done.
	Journal string `json:"journal,omitempty"`
	File    string `json:"file,omitempty"`
	Line    int64  `json:"line,omitempty"`
}

// Sum returns the results of all tables together.
func (r *ImportResult) Sum() (t TableResult) {
	for _, x := range r.Tables {
		t.Read += x.Read
		t.Written += x.Written
		t.Deleted += x.Deleted
		t.Rejected += x.Rejected
	}
	return t
}

// firstRejects is how many refused records a result has.
const firstRejects = 5

// Import writes sources into tables. Records that are refused do not end it,
// the result counts them. An error ends it; the result, which is never nil,
// then says what was written.
//
// When ctx ends, reading stops, what has been read is written, and the journal
// tells exactly how far that was. An endpoint that does not answer is not
// waited for any longer then.
func Import(ctx context.Context, client *dynamodb.Client, sources []*Source, o ImportOptions) (*ImportResult, error) {
	if o.Workers <= 0 {
		o.Workers = DefaultWorkers
	}
	if o.Every <= 0 {
		o.Every = DefaultEvery
	}
	if o.Grace <= 0 {
		o.Grace = DefaultGrace
	}
	im := &importer{o: o, client: client, retry: newRetrier(ctx, client, o.Backoff, o.Waiting), sources: sources, result: &ImportResult{}}
	err := im.run(ctx)
	if im.report != nil {
		err = errors.Join(err, im.report.close())
		if im.report.size > 0 {
			im.result.Rejects = im.report.path
		}
	}
	im.result.Tables, im.result.Broken = im.journal.Tables, im.journal.Broken
	return im.result, err
}
