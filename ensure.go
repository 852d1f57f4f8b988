package sortkey

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

// EnsureTable makes sure that a table is as [DB.CreateTable] would create it, so a program can call EnsureTable at
// each start. It creates the table, or adds the global indexes, the stream and the time to live that the table lacks,
// all in one change. It leaves additional indexes and settings of the table as they are. If anything else differs,
// such as the key of the table or of an index, EnsureTable changes nothing and returns an [ErrTableExists] that lists
// every difference.
//
// EnsureTable returns when the table and its indexes can be used. So it waits until new indexes are built, and for
// the delay that [Simulation].TableDelay simulates, on the clock of the database. If the context ends first, the
// database continues to build; [DB.Describe] shows its progress. Several programs and goroutines may call EnsureTable
// at the same time.
func (db *DB) EnsureTable(ctx context.Context, name, key string, opts ...TableOption) error {
	if ctx == nil {
		return noContext("DB.EnsureTable")
	}
	in, expiry, err := tableInput("DB.EnsureTable", name, key, opts)
	if err != nil {
		return err
	}
	for {
		err := db.alter(ctx, func() error { return db.service.EnsureTable(ctx, in, expiry) })
		refusal, _ := err.(*Error)
		differs, _ := errors.AsType[*api.DifferenceError](err)
		switch {
		case differs != nil:
			return &usageError{differs, ErrTableExists}
		case refusal != nil && refusal.Code == codeInUse: // another call is creating, changing or deleting the table
		case err != nil:
			return err
		}
		if settled := db.settled(ctx, name); settled != nil || err == nil {
			return settled
		}
	}
}

// AddIndex adds a global index to a table and returns when the index is built. Reads and writes go on meanwhile. If
// the context ends first, the database goes on building; [DB.Describe] shows its progress. AddIndex refuses local
// indexes, which are created together with their table. The error is [ErrIndexExists] if the table has an index of
// this name, even one that another caller is still building; [DB.EnsureTable] waits for such an index.
func (db *DB) AddIndex(ctx context.Context, name string, index Index) error {
	if ctx == nil {
		return noContext("DB.AddIndex")
	}
	if index.spec.Local {
		return misuse("table %s: local index %s can only be made by CreateTable: add a global one",
			name, index.spec.Name)
	}
	var d tableDefinition
	if err := index.define(&d); err != nil {
		return err
	}
	input := func() (*wire.UpdateTableInput, error) { return db.indexInput(ctx, name, index.spec) }
	return db.changeIndex(ctx, name, input, func(info *TableInfo) error {
		if info.index(index.spec.Name) == nil {
			return nil
		}
		err := fmt.Errorf("sortkey: table %s has an index %s already: delete it, or use another name",
			name, index.spec.Name)
		return &usageError{err, ErrIndexExists}
	})
}

// changeIndex sends the request that adds or deletes an index, and waits until the change is complete. check returns
// an error if the table has the index already, or lacks it. If the service refuses the request, changeIndex calls
// check again, as another caller may have changed the table meanwhile.
func (db *DB) changeIndex(
	ctx context.Context, name string, input func() (*wire.UpdateTableInput, error), check func(*TableInfo) error,
) error {
	info, err := db.Describe(ctx, name)
	if err == nil {
		err = check(info)
	}
	if err != nil {
		return err
	}
	in, err := input()
	if err != nil {
		return err
	}
	err = db.alter(ctx, func() error {
		_, err := db.service.UpdateTable(ctx, in)
		return err
	})
	if _, refused := err.(*Error); refused {
		if info, failed := db.Describe(ctx, name); failed == nil {
			err = cmp.Or(check(info), err)
		}
	}
	if err != nil {
		return err
	}
	return db.settled(ctx, name)
}

// indexInput returns the request that adds an index.
func (db *DB) indexInput(ctx context.Context, name string, index keyschema.IndexSpec) (*wire.UpdateTableInput, error) {
	t, err := db.tables.Describe(ctx, name)
	if err != nil {
		return nil, noTable()
	}
	def := t.Definition()
	var attributes []wire.AttributeDefinition
	for _, a := range def.Attributes {
		attributes = append(attributes, wire.AttributeDefinition{
			AttributeName: &a.Name, AttributeType: new(a.Kind.String()),
		})
	}
	in, err := keyschema.Addition(name, attributes, index)
	if err != nil {
		return nil, misuse("%w", err)
	}
	if !def.OnDemandBilling() {
		in.GlobalSecondaryIndexUpdates[0].Create.ProvisionedThroughput = &wire.ProvisionedThroughput{
			ReadCapacityUnits: &def.Throughput.Read, WriteCapacityUnits: &def.Throughput.Write,
		}
	}
	return in, nil
}

// DeleteIndex deletes a global index of a table and returns when all rows of the index are deleted.
func (db *DB) DeleteIndex(ctx context.Context, name, index string) error {
	if ctx == nil {
		return noContext("DB.DeleteIndex")
	}
	input := func() (*wire.UpdateTableInput, error) {
		return &wire.UpdateTableInput{
			TableName: &name, GlobalSecondaryIndexUpdates: []wire.GlobalSecondaryIndexUpdate{
				{Delete: &wire.DeleteGlobalSecondaryIndexAction{IndexName: &index}},
			},
		}, nil
	}
	return db.changeIndex(ctx, name, input, func(info *TableInfo) error {
		switch ix := info.index(index); {
		case ix == nil:
			return misuse("table %s has no index %q, only %s", name, index, info.indexNames())
		case ix.Local:
			return misuse("table %s: local index %s cannot be deleted: it goes with its table", name, index)
		}
		return nil
	})
}

// alter calls change in a new goroutine and returns when change has returned. change changes a table. If ctx ends
// first, alter returns the error of ctx, and change continues in the background.
func (db *DB) alter(ctx context.Context, change func() error) error {
	// Refuse at once, without a goroutine: a transaction cannot change the definition of a table.
	if err := db.tables.OutsideTx(ctx); err != nil {
		return failed(err)
	}
	done := make(chan error, 1)
	go func() { done <- change() }()
	select {
	case err := <-done:
		return failed(err)
	case <-ctx.Done():
		return interrupted(ctx)
	}
}

// settled waits until a table and its indexes can be used and no index is being deleted. It returns nil if the table
// does not exist.
func (db *DB) settled(ctx context.Context, name string) error {
	for busy := ""; ; {
		info, err := db.Describe(ctx, name)
		switch {
		case errors.Is(err, ErrNoTable): // somebody has deleted the table, perhaps during the wait
			return nil
		case err != nil && ctx.Err() != nil && busy != "":
			return fmt.Errorf("sortkey: table %s: %s: %w", name, busy, interrupted(ctx))
		case err != nil:
			return err
		}
		if busy = info.busy(); busy == "" {
			return nil
		}
		if err := capability.Health(ctx, db.store); err != nil { // an unhealthy store will not finish the change
			return err
		}
		_ = table.Sleep(ctx, poll) // the next Describe returns the end of ctx
	}
}

// A TableInfo describes a table. [DB.Describe] returns it.
type TableInfo struct {
	// Name and Key are the arguments that [DB.CreateTable] takes.
	Name, Key string
	// Indexes are the local and global indexes, local ones first. Vector indexes are not among them.
	Indexes []IndexInfo
	// Stream says whether the table records its changes; see the option [Stream].
	Stream bool
	// TimeToLive is the attribute of the option [TimeToLive], or "".
	TimeToLive string
	// Status is ACTIVE or, while [Simulation].TableDelay lasts, CREATING, UPDATING or DELETING.
	Status string
	// Items and Bytes are the number of items and their size. After a crash, and on a store that several programs
	// share, they may lag behind by a few seconds of writes.
	Items, Bytes int64
}

// An IndexInfo describes an index of a table, in a [TableInfo].
type IndexInfo struct {
	// Name and Key are the arguments that [Global] or [Local] takes.
	Name, Key string
	Local     bool
	// Only has the sorted attributes that [Index.Only] names. It is nil for an index that projects all attributes,
	// and empty for one that projects only the keys.
	Only []string
	// Status is ACTIVE. While the index is being built and cannot be read, it is CREATING.
	Status string
	// Items and Bytes are the number of items in the index and their size. An item that lacks an attribute of the
	// index's key is not in the index.
	Items, Bytes int64
	// Examined is how many items of the table this program has examined to build the index, out of [TableInfo].Items.
	// It is 0 if the index is built, or if another program is building it. An interrupted build starts again at 0.
	Examined int64
}

// Describe returns the key, the indexes, the settings, the status and the counts of a table. The error is
// [ErrNoTable] if no table has this name.
func (db *DB) Describe(ctx context.Context, name string) (*TableInfo, error) {
	if ctx == nil {
		return nil, noContext("DB.Describe")
	}
	if err := db.ended(ctx, nil); err != nil {
		return nil, err
	}
	if err := db.tables.Refresh(ctx); err != nil {
		return nil, finished(ctx, err)
	}
	t, err := db.tables.Describe(ctx, name)
	if err != nil {
		return nil, noTable()
	}

	def, now := t.Definition(), db.opts.Clock()
	info := &TableInfo{
		Name: def.Name, Key: def.KeyText(def.Key), TimeToLive: def.Expiry, Status: def.Status(now),
		Stream: def.Stream != nil && def.Stream.View == bothImages,
	}
	info.Items, info.Bytes = t.Items()
	for _, local := range []bool{true, false} {
		for _, ix := range t.Indexes() {
			if ix.Local() == local && ix.Definition().Vector == nil {
				info.Indexes = append(info.Indexes, describeIndex(def, ix, now))
			}
		}
	}
	return info, nil
}

func describeIndex(def *table.Definition, ix *table.Index, now time.Time) IndexInfo {
	x := ix.Definition()
	info := IndexInfo{Name: x.Name, Key: def.KeyText(x.Key), Local: ix.Local(), Status: x.Status(now)}
	if info.Local {
		info.Key = def.KeyText(x.Key[1:])
	}
	if x.Projection.Type != table.ProjectAll {
		info.Only = append([]string{}, x.Projection.Include...)
		slices.Sort(info.Only)
	}
	info.Items, info.Bytes = ix.Items()
	if x.Building {
		info.Examined = ix.Examined()
	}
	return info
}

// Options returns the options for [DB.CreateTable] or [DB.EnsureTable] that create a table like this one.
func (i *TableInfo) Options() (opts []TableOption) {
	for _, ix := range i.Indexes {
		index := Global(ix.Name, ix.Key)
		if ix.Local {
			index = Local(ix.Name, ix.Key)
		}
		if ix.Only != nil {
			index = index.Only(ix.Only...)
		}
		opts = append(opts, index)
	}
	if i.Stream {
		opts = append(opts, Stream())
	}
	if i.TimeToLive != "" {
		opts = append(opts, TimeToLive(i.TimeToLive))
	}
	return opts
}

func (i *TableInfo) index(name string) *IndexInfo {
	at := slices.IndexFunc(i.Indexes, func(ix IndexInfo) bool { return ix.Name == name })
	if at < 0 {
		return nil
	}
	return &i.Indexes[at]
}

func (i *TableInfo) indexNames() string {
	if len(i.Indexes) == 0 {
		return "none"
	}
	names := make([]string, len(i.Indexes))
	for n, ix := range i.Indexes {
		names[n] = ix.Name
	}
	return strings.Join(names, ", ")
}

// busy returns the reason why the table or one of its indexes cannot be used yet. It returns "" if all of them can be
// used.
func (i *TableInfo) busy() string {
	if i.Status != table.StatusActive {
		return "it is " + i.Status
	}
	for _, ix := range i.Indexes {
		if ix.Status != table.StatusActive {
			return fmt.Sprintf("index %s is %s: %d of %d items examined", ix.Name, ix.Status, ix.Examined, i.Items)
		}
	}
	return ""
}
