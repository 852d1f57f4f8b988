package life

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/throttle"
	"github.com/sortkey/sortkey/store"
)

// A Job is the record of work that continues after its request has returned: an export, an import or a bulk put. The
// store has the record before the work begins and long after it ends, so that the work can continue after a restart
// or on another server. Only the caller interprets Value.
type Job struct {
	// Kind is the kind of work, as one word. ID is unique among the jobs of that kind.
	Kind, ID string
	Value    []byte
	// Ended is true once the work is done or given up.
	Ended bool
}

// ErrJobMoved means that the record of a job has changed since the caller read it: another server is working on the
// job or has ended it.
var ErrJobMoved = errors.New("table: another server has changed the job")

// jobsPartition of the catalogue has the records of all jobs by kind and id. runningPartition has the keys of the
// jobs that have not ended.
var (
	jobsPartition    = []byte("jobs")
	runningPartition = []byte("running")
)

// whileJob is the time until which a table that a job fills is CREATING. It is in the far future, as EndJob opens the
// table.
var whileJob = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

func (j *Job) row() []byte { return []byte(j.Kind + "/" + j.ID) }

func putJob(w store.Writer, j Job) error {
	if err := w.Put(table.CatalogueSpace, jobsPartition, j.row(), j.Value); err != nil {
		return err
	}
	if j.Ended {
		return w.Delete(table.CatalogueSpace, runningPartition, j.row())
	}
	return w.Put(table.CatalogueSpace, runningPartition, j.row(), []byte{1})
}

// readJob returns the stored record of a job, or an ended job without a value if no record is stored.
func readJob(r store.Reader, kind, id string) (Job, error) {
	j := Job{Kind: kind, ID: id, Ended: true}
	value, ok, err := r.Get(table.CatalogueSpace, jobsPartition, j.row())
	if err != nil || !ok {
		return j, err
	}
	j.Value = bytes.Clone(value)
	_, running, err := r.Get(table.CatalogueSpace, runningPartition, j.row())
	j.Ended = !running
	return j, err
}

// replaceJob replaces the record of a job by next. If the stored record is no longer equal to was, it returns
// [ErrJobMoved].
func replaceJob(w store.Writer, was, next Job) error {
	now, err := readJob(w, was.Kind, was.ID)
	switch {
	case err != nil:
		return err
	case now.Ended || !bytes.Equal(now.Value, was.Value):
		return ErrJobMoved
	}
	return putJob(w, next)
}

// readJobs returns the jobs of a kind in the order of their ids.
func readJobs(r store.Reader, kind string) (list []Job, err error) {
	span := store.Range{Lo: []byte(kind + "/"), Hi: []byte(kind + "0")} // 0 follows the slash
	for row, err := range r.Query(table.CatalogueSpace, jobsPartition, span, false) {
		if err != nil {
			return nil, err
		}
		id := string(row.Sort[len(kind)+1:])
		list = append(list, Job{Kind: kind, ID: id, Value: bytes.Clone(row.Value), Ended: true})
	}
	for row, err := range r.Query(table.CatalogueSpace, runningPartition, span, false) {
		if err != nil {
			return nil, err
		}
		id := string(row.Sort[len(kind)+1:])
		if i := slices.IndexFunc(list, func(j Job) bool { return j.ID == id }); i >= 0 {
			list[i].Ended = false
		}
	}
	return list, nil
}

// Jobs returns the jobs of a kind in the order of their ids.
func (db *DB) Jobs(ctx context.Context, kind string) ([]Job, error) {
	list, err := viewed(ctx, db, func(r store.Reader) ([]Job, error) { return readJobs(r, kind) })
	return list, cmp.Or(err, db.opened(ctx))
}

// opened waits until clients can use the table of a job that has just ended.
func (db *DB) opened(ctx context.Context) error {
	if opening := db.opening.Load(); opening != nil {
		return db.Wait(ctx, *opening)
	}
	return nil
}

// Job returns the current record of a job. If there is none, it returns an ended job without a value.
func (db *DB) Job(ctx context.Context, kind, id string) (Job, error) {
	job, err := viewed(ctx, db, func(r store.Reader) (Job, error) { return readJob(r, kind, id) })
	return job, cmp.Or(err, db.opened(ctx))
}

// UnfinishedJobs returns the jobs that have not ended, without their values.
func (db *DB) UnfinishedJobs(ctx context.Context) ([]Job, error) {
	return viewed(ctx, db, func(r store.Reader) (list []Job, err error) {
		for row, err := range table.RowsOf(r, runningPartition) {
			if err != nil {
				return nil, err
			}
			kind, id, _ := strings.Cut(string(row.Sort), "/")
			list = append(list, Job{Kind: kind, ID: id})
		}
		return list, nil
	})
}

// StartJob records a job. In the same update it calls allow with the jobs of the same kind. If allow returns an
// error, StartJob records nothing and returns that error.
//
// If def is not nil, the update also creates a table with this definition, which StartJob returns. Its errors are
// then also those of [DB.Create]. The table is CREATING until the job ends; see [DB.EndJob].
func (db *DB) StartJob(
	ctx context.Context, job Job, def *table.Definition, allow func([]Job) error,
) (t *table.Table, err error) {
	record := func(w store.Writer) error {
		list, err := readJobs(w, job.Kind)
		if err == nil {
			err = allow(list)
		}
		if err != nil {
			return err
		}
		return putJob(w, job)
	}

	if def == nil {
		return nil, db.Change(ctx, record)
	}
	err = db.exclusively(ctx, func() error {
		t, err = db.createTable(ctx, def, whileJob, record)
		return err
	})
	return t, err
}

// RunJob calls work with the record of a job, unless the job has ended. In a shared store, only one server at a time
// runs a job. While another server runs it, RunJob returns nil at once.
func (db *DB) RunJob(ctx context.Context, kind, id string, work func(context.Context, Job) error) error {
	_, err := db.aloneAt(ctx, "job "+kind+"/"+id, func(ctx context.Context) error {
		job, err := db.Job(ctx, kind, id)
		if err != nil || job.Ended {
			return err
		}
		return work(ctx, job)
	})
	return err
}

// SaveJob replaces the record of a job that has not ended, as part of a transaction. It returns [ErrJobMoved] if the
// record no longer equals was.
func SaveJob(tx *table.Tx, was, next Job) error { return replaceJob(tx.Writer(), was, next) }

// ChangeJob replaces the record of a job by the result of edit. It does not call edit if the job has ended or does
// not exist.
func (db *DB) ChangeJob(ctx context.Context, kind, id string, edit func(Job) (Job, error)) error {
	return db.Change(ctx, func(w store.Writer) error {
		job, err := readJob(w, kind, id)
		if err != nil || job.Ended {
			return err
		}
		if job, err = edit(job); err != nil {
			return err
		}
		return putJob(w, job)
	})
}

// A JobTable says what EndJob does with the table that a job has filled.
type JobTable struct {
	Name, ID string
	// Remove makes EndJob delete the table. Otherwise EndJob opens the table for clients.
	Remove bool
}

// EndJob replaces the record of a job by next, whose Ended is true. In the same update it opens or deletes the table
// that [DB.StartJob] has created, if the table still exists. of is nil for a job without a table. EndJob returns
// [ErrJobMoved] if the stored record is no longer equal to was.
func (db *DB) EndJob(ctx context.Context, was, next Job, of *JobTable) error {
	record := func(w store.Writer) error { return replaceJob(w, was, next) }
	if of == nil {
		return db.Change(ctx, record)
	}
	return db.exclusively(ctx, func() error {
		if err := db.Refresh(ctx); err != nil {
			return err
		}
		t, err := db.Describe(ctx, of.Name)
		switch {
		case err != nil || t.Definition().ID != of.ID:
			return db.Change(ctx, record)
		case of.Remove:
			return db.remove(ctx, t, record)
		}
		def := t.Definition().Clone()
		db.create(ctx, def)

		opening := make(chan struct{})
		db.opening.Store(&opening)
		defer func() {
			db.opening.Store(nil)
			close(opening)
		}()
		_, err = db.redefine(ctx, def, t, record)
		return err
	})
}

// Walk calls fn with each item of the table called name. All items are from one snapshot. Other requests continue
// meanwhile. An item is valid until fn returns. The error has kind [table.NotFound] if there is no such table or if
// its definition has another id. Walk also returns errors of fn.
func (db *DB) Walk(ctx context.Context, name, id string, fn func(attr.Item) error) error {
	if err := db.Refresh(ctx); err != nil {
		return err
	}
	t, err := db.Describe(ctx, name)
	if err == nil && t.Definition().ID != id {
		err = table.NoSuchTable()
	}
	if err != nil {
		return err
	}
	each := func(row store.Row, _ *throttle.Work) error { return fn(attr.Item(row.Value)) }
	return db.scan(ctx, sourceOf(t), each, func(store.Reader) error { return nil })
}
