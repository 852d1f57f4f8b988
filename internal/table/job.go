package table

import (
	"context"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/store"
)

// A Job is the record of an export or an import. What is in Value is the caller's
// matter.
type Job struct {
	ID    string
	Value []byte
}

// The jobs partition of the catalogue has the jobs by kind and id.
var jobsPartition = []byte("jobs")

// PutJob adds or replaces a job of a kind, which is a word.
func (db *DB) PutJob(ctx context.Context, kind string, job Job) error {
	return db.change(ctx, func(w store.Writer) error {
		return w.Put(catalogueSpace, jobsPartition, []byte(kind+"/"+job.ID), job.Value)
	})
}

// Jobs returns the jobs of a kind in the order of their ids.
func (db *DB) Jobs(ctx context.Context, kind string) (list []Job, err error) {
	err = db.store.View(ctx, func(r store.Reader) error {
		span := store.Range{Lo: []byte(kind + "/"), Hi: []byte(kind + "0")} // 0 follows the slash
		for row, err := range r.Query(catalogueSpace, jobsPartition, span, false) {
			if err != nil {
				return err
			}
			list = append(list, Job{string(row.Sort[len(kind)+1:]), append([]byte(nil), row.Value...)})
		}
		return nil
	})
	return list, err
}

// Walk calls fn with the items of a table as they are at one moment. Everything else
// continues meanwhile. An item is valid until fn returns. The error has kind [NotFound] for a missing table, or is that of fn.
func (db *DB) Walk(ctx context.Context, name string, fn func(attr.Item) error) error {
	if err := db.Refresh(ctx); err != nil {
		return err
	}
	t, err := db.Describe(name)
	if err != nil {
		return err
	}
	return db.store.View(ctx, func(r store.Reader) error {
		if err := db.tableAt(name, t.def.Space)(r); err != nil {
			return err
		}
		for row, err := range r.Scan(t.def.Space, store.Everything()) {
			if err != nil {
				return err
			}
			if err := fn(itemOf(row.Value)); err != nil {
				return err
			}
		}
		return nil
	})
}
