package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/sdkvalue"
)

// A journal says what an import has written. Before the import resumes, it checks that the table
// still has that: somebody may have created the table anew, or restored an older state.

// A tableIdentity distinguishes a table from another one of the same name.
type tableIdentity struct {
	ID      string    `json:"id,omitempty"`
	Created time.Time `json:"created,omitzero"`
}

func identityOf(d *types.TableDescription) tableIdentity {
	return tableIdentity{ID: aws.ToString(d.TableId), Created: aws.ToTime(d.CreationDateTime).UTC()}
}

// same reports whether two identities may be those of one table. Not every endpoint returns
// both members.
func (t tableIdentity) same(o tableIdentity) bool {
	return (t.ID == "" || o.ID == "" || t.ID == o.ID) &&
		(t.Created.IsZero() || o.Created.IsZero() || t.Created.Equal(o.Created))
}

// lastWrites is how many of the last writes before a position a journal keeps.
const lastWrites = 10

// A lastWrite is one of the last writes before a position.
type lastWrite struct {
	Key     json.RawMessage `json:"key"` // DynamoDB JSON
	Deleted bool            `json:"deleted,omitempty"`
	// Hash is that of the item, unless it was deleted. Journals of older versions have none.
	Hash string `json:"sha256,omitempty"`
	// Due is when the table may expire the item, in seconds since 1970, or 0.
	Due float64 `json:"due,omitempty"`

	item  attr.Item // unless the write is complete
	key   string    // as appendKey encodes it
	order int64     // number in the file
	other bool      // the table has another item with the key
}

// A tail collects the last writes.
type tail struct {
	keys *keys
	// expires is the attribute by which the table expires items, or "". An item that is due
	// soon may be gone for a good reason, so it is not collected.
	expires string
	// reused is set if an item is valid only until the next one is added.
	reused bool
	list   []lastWrite
}

// add adds a write, which replaces an earlier one of the same item.
func (t *tail) add(it attr.Item, remove bool, key []byte, order int64) {
	t.forget(string(key))
	w := lastWrite{Deleted: remove, item: it, key: string(key), order: order}
	if !remove && t.expires != "" {
		if w.Due = dueOf(it.Get(t.expires)); w.due(time.Now().Add(dueSoon)) {
			return
		}
	}
	if t.reused {
		w.complete(t.keys)
		w.item = nil
	}
	t.list = append(t.list, w)
	t.list = t.list[max(len(t.list)-lastWrites, 0):]
}

// dueSoon is the time within which an item expires that is not collected: an import may be
// resumed days later.
const dueSoon = 7 * 24 * time.Hour

// dueOf returns when an item with a value of the attribute by which its table expires items is due.
func dueOf(v attr.Value) float64 {
	if v.Kind() != attr.Number {
		return 0
	}
	due, err := strconv.ParseFloat(string(v.AppendNumber(nil)), 64)
	if err != nil {
		return 0
	}
	return due
}

// due reports whether the table may have expired the item at a time.
func (w *lastWrite) due(at time.Time) bool { return w.Due != 0 && w.Due <= float64(at.Unix()) }

// complete sets what a journal has of a write.
func (w *lastWrite) complete(k *keys) {
	w.Key = k.of(w.item).AppendJSON(nil)
	if !w.Deleted {
		w.Hash = hashOf(w.item)
	}
}

// hashOf returns the hash of an item. Its JSON has one order of members and one form of numbers.
func hashOf(it attr.Item) string {
	sum := sha256.Sum256(it.AppendJSON(nil))
	return hex.EncodeToString(sum[:])
}

func (t *tail) forget(key string) {
	t.list = slices.DeleteFunc(t.list, func(w lastWrite) bool { return w.key == key })
}

// reject removes the writes that were rejected.
func (t *tail) reject(rejects []Reject) {
	t.list = slices.DeleteFunc(t.list, func(w lastWrite) bool {
		return slices.ContainsFunc(rejects, func(r Reject) bool { return r.order == w.order })
	})
}

// writes returns the writes as a journal has them.
func (t *tail) writes() []lastWrite {
	list := slices.Clone(t.list)
	for i := range list {
		if list[i].Key == nil {
			list[i].complete(t.keys)
		}
	}
	return list
}

// of returns the key of an item.
func (k *keys) of(it attr.Item) attr.Item {
	var b attr.Builder
	for _, name := range k.names {
		b.Add(name, it.Get(name))
	}
	return b.Item()
}

// expires returns the attribute by which a table expires items, or "".
func (im *importer) expires(ctx context.Context, table string) string {
	out, err := im.retry.client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &table}, once)
	if err != nil || out.TimeToLiveDescription == nil {
		return "" // an endpoint need not have time to live
	}
	return aws.ToString(out.TimeToLiveDescription.AttributeName)
}

// checkResumed returns an error unless the table of a source still has what an interrupted
// import wrote to it.
func (im *importer) checkResumed(ctx context.Context, i int, d *types.TableDescription) error {
	source, table := &im.journal.Sources[i], im.journal.Tables[i]
	if table.Written+table.Deleted == 0 {
		return nil
	}
	for _, later := range im.journal.Tables[i+1:] {
		if later.Table == table.Table && later.Written+later.Deleted > 0 {
			return nil // its last writes are checked: it may have replaced those of this source
		}
	}
	if now := identityOf(d); !source.Made.same(now) {
		return fail(
			ErrRestart, "", "table %s is not the one that the interrupted import wrote to: it was created at %s",
			table.Table, now.Created.Format(time.DateTime),
		)
	}

	now := time.Now()
	last := slices.DeleteFunc(slices.Clone(source.Last), func(w lastWrite) bool { return w.due(now) })
	if len(last) == 0 {
		im.result.Warnings = append(im.result.Warnings, fmt.Sprintf(
			"it could not be checked that table %s still has what the interrupted import wrote: "+
				"no item remains to compare, for example because the last ones have expired or soon will", table.Table,
		))
		return nil
	}

	lost, err := im.lost(ctx, table.Table, last)
	if err == nil && lost != nil {
		lost, err = im.written(i, lost)
	}
	if err != nil {
		return err
	}
	if lost == nil {
		return nil
	}
	key, err := attr.ParseItem(lost[0].Key)
	if err != nil {
		return err
	}
	what := "lacks the item with the key %s, which the interrupted import wrote"
	switch {
	case lost[0].other:
		what = "does not have the item with the key %s as the interrupted import wrote it"
	case lost[0].Deleted:
		what = "has the item with the key %s, which the interrupted import deleted"
	}
	return fail(
		ErrRestart, "", "table %s "+what+": it may be an older state that was restored", table.Table,
		key.AppendJSON(nil),
	)
}

// lost returns those of some writes that a table does not have.
func (im *importer) lost(ctx context.Context, table string, list []lastWrite) (lost []lastWrite, err error) {
	for _, w := range list {
		key, err := attr.ParseItem(w.Key)
		if err != nil {
			return nil, fail(ErrRestart, "", "the journal has a malformed key %s: %w", w.Key, err)
		}
		out, err := call(ctx, im.retry, im.retry.client.GetItem, &dynamodb.GetItemInput{
			TableName: &table, Key: sdkvalue.Of(key), ConsistentRead: aws.Bool(true),
		})
		if err != nil {
			return nil, err
		}
		if (len(out.Item) == 0) != w.Deleted {
			lost = append(lost, w)
			continue
		}
		if w.Deleted || w.Hash == "" {
			continue
		}
		it, err := sdkvalue.Item(out.Item)
		if err != nil {
			return nil, err
		}
		if w.other = hashOf(it) != w.Hash; w.other {
			lost = append(lost, w)
		}
	}
	return lost, nil
}

// written leaves out the writes of a source whose items a record after the position of the
// journal writes as well: the interrupted import may have done that, too. It has not come
// further than through the file after the position, as it saves the journal after every file.
func (im *importer) written(i int, lost []lastWrite) ([]lastWrite, error) {
	at, k := im.journal.At, keysOf(im.schemas[i])
	for n, w := range lost {
		key, err := attr.ParseItem(w.Key)
		if err != nil {
			return nil, err
		}
		bytes, err := k.appendKey(nil, key)
		if err != nil {
			return nil, err
		}
		lost[n].key = string(bytes)
	}

	next := position{Source: at.Source, File: at.File + 1}
	if next.File == len(im.sources[at.Source].Files) {
		next = position{Source: at.Source + 1}
	}
	for _, at := range []position{at, next} {
		if at.Source == len(im.sources) || im.journal.Tables[at.Source].Table != im.journal.Tables[i].Table {
			continue
		}
		var err error
		if lost, err = im.writtenAfter(at, i, lost); err != nil {
			return nil, err
		}
	}
	return lost, nil
}

// writtenAfter leaves out the writes to the table of source i that a record of a file writes as well.
func (im *importer) writtenAfter(at position, i int, lost []lastWrite) ([]lastWrite, error) {
	k, f := keysOf(im.schemas[i]), im.sources[at.Source].Files[at.File]
	opts := im.sourceOptions(im.sources[at.Source])
	var err error
	if opts.Types, err = opts.Types.merge(im.schemas[i].KeyTypes()); err != nil {
		return nil, err
	}

	in, err := openInput(f.Path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	r, err := openReader(in, f, opts, k)
	if err != nil {
		return nil, err
	}
	if err := r.Skip(at.Records); err != nil {
		return nil, err
	}

	var bytes []byte
	for len(lost) > 0 {
		rec, err := r.Next()
		if err != nil {
			return lost, nil //nolint:nilerr // the end, or an error that reading on reports
		}
		if rec.Err == nil && im.o.Mask != nil {
			rec.Item, rec.Err = im.o.Mask(im.journal.Tables[at.Source].Table, rec.Item)
		}
		if rec.Err == nil {
			bytes, rec.Err = k.appendKey(bytes[:0], rec.Item)
		}
		if rec.Err == nil {
			lost = slices.DeleteFunc(lost, func(w lastWrite) bool { return w.key == string(bytes) })
		}
	}
	return nil, nil
}
