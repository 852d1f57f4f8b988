package life

import (
	"fmt"
	"time"

	"github.com/sortkey/sortkey/internal/table"
)

// Until returns when a state that begins now ends, the zero time if states take no
// time.
func (db *DB) Until() time.Time {
	if db.Delay <= 0 {
		return time.Time{}
	}
	return db.Clock().Add(db.Delay).UTC()
}

// The texts of changes that have to wait. Source: ack-api-quirks, DDB-TABLE-444,
// us-east-1 and us-west-2, 2026-10-09; for UPDATING, DeleteTable has one and
// UpdateTable several, of which this is the oldest (terraform-provider-aws, table.go).
const (
	msgInUse         = "Attempt to change a resource which is still in use: "
	msgBeingCreated  = msgInUse + "Table is being created: "
	msgBeingUpdated  = msgInUse + "Table is being updated: "
	msgBeingDeleted  = msgInUse + "Table is being deleted: "
	msgDeleteUpdated = msgInUse + "Table: %s is in the process of being updated."
	msgProtected     = "Resource cannot be deleted as it is currently protected against deletion. " +
		"Disable deletion protection first."
	msgDeleteIndexes = msgInUse + "Cannot delete table while indexes are being created, updated, or deleted."
	msgDeleteStream  = msgInUse + "Cannot delete table while stream is being enabled/disabled." // DDB-TABLE-002
)

// deletable refuses to delete a table that is protected or in a state that takes
// time.
func deletable(d *table.Definition, now time.Time) error {
	if err := changeable(d, now); err != nil {
		return err
	}
	if d.Protected {
		return &table.Error{Kind: table.Validation, Msg: msgProtected}
	}
	for _, ix := range d.Online() {
		if now.Before(ix.Creating) {
			return &table.Error{Kind: table.InUse, Msg: msgDeleteIndexes}
		}
	}
	if d.Status(now) == table.StatusUpdating {
		if len(d.States.Leaving) > 0 {
			return &table.Error{Kind: table.InUse, Msg: msgDeleteIndexes}
		}
		if d.States.Streaming {
			return &table.Error{Kind: table.InUse, Msg: msgDeleteStream}
		}
		return &table.Error{Kind: table.InUse, Msg: fmt.Sprintf(msgDeleteUpdated, d.Name)}
	}
	return nil
}

// changeable refuses changes of a table that is CREATING or DELETING.
func changeable(d *table.Definition, now time.Time) error {
	switch d.Status(now) {
	case table.StatusCreating:
		return &table.Error{Kind: table.InUse, Msg: msgBeingCreated + d.Name}
	case table.StatusDeleting:
		return &table.Error{Kind: table.InUse, Msg: msgBeingDeleted + d.Name}
	}
	return nil
}

// StartUpdate begins the state UPDATING in the function of an [DB.Alter]. The error
// has kind [InUse] while an earlier one lasts. A table that gets an index is UPDATING for
// the first half of the delay: while the index is filled, it is ACTIVE again.
func (db *DB) StartUpdate(d *table.Definition, newIndex bool) error {
	if d.Status(db.Clock()) == table.StatusUpdating {
		return &table.Error{Kind: table.InUse, Msg: msgBeingUpdated + d.Name}
	}
	before := d.Clone()
	d.States, before.States = table.States{}, table.States{}
	if db.Delay <= 0 {
		return nil
	}
	d.States = table.States{Updating: db.Until(), Before: before}
	if newIndex {
		d.States.Updating = d.States.Updating.Add(-db.Delay / 2)
	}
	return nil
}
