package life

import (
	"fmt"
	"time"

	"github.com/sortkey/sortkey/internal/table"
)

// Until returns the time until which a status that begins now lasts, or the zero time if db.Delay is not set.
func (db *DB) Until() time.Time {
	if db.Delay <= 0 {
		return time.Time{}
	}
	return db.Clock().Add(db.Delay).UTC()
}

// Messages for changes that must wait. Source: ack-api-quirks, DDB-TABLE-444, us-east-1 and us-west-2, 2026-10-09.
// While a table is UPDATING, DeleteTable has one message. UpdateTable has several; this package uses the oldest
// (terraform-provider-aws, table.go).
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

func inUse(msg string) error { return &table.Error{Kind: table.InUse, Msg: msg} }

// deletable returns an error for a table that is protected, or is CREATING, UPDATING or DELETING.
func deletable(d *table.Definition, now time.Time) error {
	if err := changeable(d, now); err != nil {
		return err
	}
	if d.Protected {
		return &table.Error{Kind: table.Validation, Msg: msgProtected}
	}
	for _, ix := range d.Online() {
		if now.Before(ix.Creating) {
			return inUse(msgDeleteIndexes)
		}
	}
	if d.Status(now) == table.StatusUpdating {
		if len(d.States.Leaving) > 0 {
			return inUse(msgDeleteIndexes)
		}
		if d.States.Streaming {
			return inUse(msgDeleteStream)
		}
		return inUse(fmt.Sprintf(msgDeleteUpdated, d.Name))
	}
	return nil
}

// changeable returns an error for a table that is CREATING or DELETING.
func changeable(d *table.Definition, now time.Time) error {
	switch d.Status(now) {
	case table.StatusCreating:
		return inUse(msgBeingCreated + d.Name)
	case table.StatusDeleting:
		return inUse(msgBeingDeleted + d.Name)
	}
	return nil
}

// StartUpdate sets the status UPDATING in a definition that [DB.Alter] is changing. The error has kind [table.InUse]
// if the table is still UPDATING from an earlier change. If the change adds an index, the table is UPDATING only for
// the first half of db.Delay. Then it is ACTIVE, while the index is still CREATING.
func (db *DB) StartUpdate(d *table.Definition, newIndex bool) error {
	if d.Status(db.Clock()) == table.StatusUpdating {
		return inUse(msgBeingUpdated + d.Name)
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
