package api

import (
	"context"
	"errors"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

// A Bulk puts and deletes any number of items of one table. Code of this module that fills a database uses it. It
// calls no observers, applies no faults and counts no capacity. Its errors are [*wire.Error] values.
type Bulk struct {
	service *Service
	bulk    *table.Bulk
}

// Bulk returns a Bulk that writes to the table with this name.
func (s *Service) Bulk(name string) (*Bulk, error) {
	b, err := s.db.Bulk(name)
	if err != nil {
		return nil, s.wireError(err)
	}
	return &Bulk{s, b}, nil
}

// Loads reports whether the store can load sorted rows, which makes large parts faster; see [table.Bulk.Loads].
func (b *Bulk) Loads() bool { return b.bulk.Loads() }

// A BulkPart collects puts and deletions for [Bulk.Write]. It adds the checks of PutItem and DeleteItem to a
// [table.Part].
type BulkPart struct {
	service *Service
	part    *table.Part
}

// Part returns an empty part.
func (b *Bulk) Part() *BulkPart { return &BulkPart{b.service, b.bulk.Part()} }

// Write applies parts in their order; see [table.Bulk.Write].
func (b *Bulk) Write(ctx context.Context, parts []*BulkPart) error {
	list := make([]*table.Part, len(parts))
	for i, p := range parts {
		list[i] = p.part
	}
	err := b.bulk.Write(ctx, list)
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, cause) {
		err = &interruption{ctx.Err(), cause}
	}
	if err != nil {
		return b.service.wireError(err)
	}
	return nil
}

// Reset empties the part.
func (p *BulkPart) Reset() { p.part.Reset() }

// Bytes returns roughly how many bytes of memory the part takes.
func (p *BulkPart) Bytes() int { return p.part.Bytes() }

// Put adds a put of a copy of item. It refuses items that [Service.PutItem] refuses, with the same errors.
func (p *BulkPart) Put(item attr.Item) error {
	err := checkNames(wire.OpPutItem, "Item", item)
	switch {
	case err != nil:
	case item.Size() > table.MaxItemBytes:
		err = wire.Validation(msgItemSize)
	default:
		err = p.part.Put(item)
	}
	if err != nil {
		return p.service.wireError(err)
	}
	return nil
}

// Delete adds a deletion of the item with this key. It refuses keys that [Service.DeleteItem] refuses, with the same
// errors.
func (p *BulkPart) Delete(key attr.Item) error {
	err := checkNames(wire.OpDeleteItem, "Key", key)
	if err == nil {
		err = p.part.Delete(key)
	}
	if err != nil {
		return p.service.wireError(err)
	}
	return nil
}

// checkNames returns an error if an attribute name in item is empty or too long. member is the member of the request
// that has the item, for the error. Items that were decoded from DynamoDB JSON never fail, as the decoder checks
// names.
func checkNames(op wire.Op, member string, item attr.Item) error {
	if namesValid(item) {
		return nil
	}
	_, err := attr.ParseItem(item.AppendJSON(nil))
	e, ok := errors.AsType[*attr.Error](err)
	if !ok {
		return err
	}
	return op.FaultError(wire.Faults{{Path: member, Msg: e.Msg, Older: e.Older}}, "")
}

func namesValid(item attr.Item) bool {
	for name, v := range item.All() {
		if len(name) == 0 || len(name) > attr.MaxNameBytes || !namesValidIn(v) {
			return false
		}
	}
	return true
}

func namesValidIn(v attr.Value) bool {
	switch v.Kind() {
	case attr.Map:
		return namesValid(v.Map())
	case attr.List:
		for i := range v.Len() {
			if !namesValidIn(v.Index(i)) {
				return false
			}
		}
	}
	return true
}
