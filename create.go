package sortkey

import (
	"context"
	"slices"
	"unicode/utf8"

	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/wire"
)

// A TableOption is an [Index], [TimeToLive] or [Stream] of a table that [DB.CreateTable] or [DB.EnsureTable] creates.
type TableOption interface{ define(*tableDefinition) error }

type tableDefinition struct {
	indexes []keyschema.IndexSpec
	expiry  string
	stream  bool
}

// An Index is a secondary index, for reading items by another key than the table's. Create one with [Global] or
// [Local], and pass it to [DB.CreateTable], [DB.EnsureTable] or [DB.AddIndex]. It projects all attributes unless
// [Index.Only] is used.
type Index struct{ spec keyschema.IndexSpec }

// Global returns a global secondary index, which has a partition key of its own and can be added to a table later.
// Write its key as in [DB.CreateTable]. Separate several attributes with commas: "country, state / city, street".
func Global(name, key string) Index { return Index{keyschema.IndexSpec{Name: name, Key: key}} }

// Local returns a local secondary index. It shares the partition key of its table, so sort is only its sort key. A
// local index is created together with its table.
func Local(name, sort string) Index {
	return Index{keyschema.IndexSpec{Name: name, Key: sort, Local: true}}
}

// Only returns a copy of the index that projects the key attributes and only these others. The rows of such an index
// are smaller, and writes of other attributes do not change them. Without arguments it projects only the keys.
func (ix Index) Only(attributes ...string) Index {
	ix.spec.Only = append([]string{}, attributes...)
	return ix
}

func (ix Index) define(d *tableDefinition) error {
	for _, text := range append(slices.Clone(ix.spec.Only), ix.spec.Name, ix.spec.Key) {
		if !utf8.ValidString(text) {
			return misuse("index %q: %q is not UTF-8", ix.spec.Name, text)
		}
	}
	d.indexes = append(d.indexes, ix.spec)
	return nil
}

type expiry string

// TimeToLive makes each item expire at the time in the given attribute, in seconds since 1970. [DB.Sweep] and
// [Options].SweepInterval delete expired items.
func TimeToLive(attribute string) TableOption { return expiry(attribute) }

func (e expiry) define(d *tableDefinition) error {
	if e == "" || len(e) > 255 || !utf8.ValidString(string(e)) {
		return misuse("TimeToLive(%q): want the name of an attribute, 1 to 255 bytes of UTF-8", string(e))
	}
	if d.expiry != "" {
		return misuse("TimeToLive(%q): the table has a time to live already, %q", string(e), d.expiry)
	}
	d.expiry = string(e)
	return nil
}

type stream struct{}

// Stream makes a table record its changes, with the items before and after, for
// [TableOf.Changes].
func Stream() TableOption { return stream{} }

func (stream) define(d *tableDefinition) error {
	if d.stream {
		return misuse("Stream is given twice; give it once")
	}
	d.stream = true
	return nil
}

// CreateTable creates a table with on-demand billing. The key names the partition key and, after a slash, the sort
// key: "artist / title". An attribute is a string unless a type follows its name: "sensor / second:N". Put a name
// that contains a slash, a comma, a colon or a backquote between backquotes. The table can be used at once unless
// [Simulation].TableDelay delays it. The error is [ErrTableExists] if there is a table of this name; see
// [DB.EnsureTable].
func (db *DB) CreateTable(ctx context.Context, name, key string, opts ...TableOption) error {
	if ctx == nil {
		return noContext("DB.CreateTable")
	}
	in, expiry, err := tableInput("DB.CreateTable", name, key, opts)
	if err != nil {
		return err
	}
	_, err = db.service.CreateExpiring(ctx, in, expiry)
	err = failed(err)
	if e, ok := err.(*Error); ok && e.Code == codeInUse {
		e.is = ErrTableExists
	}
	return err
}

// tableInput returns the request that creates a table, and the name of its time-to-live attribute, if it has one.
func tableInput(
	method, name, key string, opts []TableOption,
) (in *wire.CreateTableInput, expiry string, err error) {
	var d tableDefinition
	for i, o := range opts {
		if o == nil {
			return nil, "", misuse("%s: option %d is nil", method, i+1)
		}
		if err := o.define(&d); err != nil {
			return nil, "", err
		}
	}

	if !utf8.ValidString(key) {
		return nil, "", misuse("%s: the key %q is not UTF-8", method, key)
	}
	in = &wire.CreateTableInput{TableName: &name, BillingMode: new("PAY_PER_REQUEST")}
	if err := keyschema.Define(in, key, d.indexes); err != nil {
		return nil, "", misuse("%w", err)
	}
	if d.stream {
		in.StreamSpecification = &wire.StreamSpecification{
			StreamEnabled: new(true), StreamViewType: new(bothImages),
		}
	}
	return in, d.expiry, nil
}

// bothImages is the StreamViewType of the streams that [Stream] enables.
const bothImages = "NEW_AND_OLD_IMAGES"

// DeleteTable deletes a table with its items and indexes. The error is [ErrNoTable] if there is no table of this
// name.
func (db *DB) DeleteTable(ctx context.Context, name string) error {
	if ctx == nil {
		return noContext("DB.DeleteTable")
	}
	_, err := db.service.DeleteTable(ctx, &wire.DeleteTableInput{TableName: &name})
	return failed(err)
}

// Tables returns the names of all tables, sorted; [DB.Describe] describes one.
func (db *DB) Tables(ctx context.Context) ([]string, error) {
	if ctx == nil {
		return nil, noContext("DB.Tables")
	}
	if err := db.ended(ctx, nil); err != nil {
		return nil, err
	}
	if err := db.tables.Refresh(ctx); err != nil {
		return nil, failed(err)
	}
	names, err := db.tables.Names(ctx)
	return names, failed(err)
}
