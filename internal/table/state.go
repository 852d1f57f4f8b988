package table

import (
	"context"
	"fmt"
	"time"
)

// States are the states that take time. Each lasts until a time on the database's
// clock, so that it needs no timer and outlives a restart.
type States struct {
	Creating, Updating, Deleting time.Time `json:",omitzero"`
	// Leaving are the global indexes that are gone and described as DELETING while
	// Updating lasts.
	Leaving []string `json:",omitempty"`
}

// The statuses of tables, of global indexes and of vector indexes.
const (
	StatusActive   = "ACTIVE"
	StatusCreating = "CREATING"
	StatusUpdating = "UPDATING"
	StatusDeleting = "DELETING"
)

// Status returns the status of the table at a time.
func (d *Definition) Status(now time.Time) string {
	switch {
	case !d.States.Deleting.IsZero():
		return StatusDeleting
	case now.Before(d.States.Creating):
		return StatusCreating
	case now.Before(d.States.Updating):
		return StatusUpdating
	}
	return StatusActive
}

// Status returns the status of a global or a vector index at a time.
func (d *IndexDefinition) Status(now time.Time) string {
	if d.Building || now.Before(d.Creating) {
		return StatusCreating
	}
	return StatusActive
}

// passing reports whether the table or an index is or was in a state that takes
// time, so that somebody has to look at the clock.
func (d *Definition) passing() bool {
	if s := &d.States; !s.Creating.IsZero() || !s.Updating.IsZero() || !s.Deleting.IsZero() {
		return true
	}
	for _, ix := range d.online() {
		if !ix.Creating.IsZero() {
			return true
		}
	}
	return false
}

// until returns when a state that begins now ends, the zero time if states take no
// time.
func (db *DB) until() time.Time {
	if db.Delay <= 0 {
		return time.Time{}
	}
	return db.Clock().Add(db.Delay).UTC()
}

type settledKey struct{}

// Settled returns a context for operations that do not wait for what takes time: the
// tables that they create can be used at once, and their reads see every change.
func Settled(ctx context.Context) context.Context {
	return context.WithValue(ctx, settledKey{}, true)
}

func isSettled(ctx context.Context) bool { return ctx.Value(settledKey{}) != nil }

// gone reports whether the time for which a table is DELETING has passed.
func (db *DB) gone(t *Table) bool {
	return !t.def.States.Deleting.IsZero() && !db.Clock().Before(t.def.States.Deleting)
}

// usable reports whether items of a table can be read and written. A table that is
// CREATING or DELETING does not exist for them: ExtendDB pull request 204, which
// compared it with the service. (API_DeleteTable allows a DELETING table to answer
// for a while.)
func (db *DB) usable(t *Table) bool {
	s := t.def.Status(db.Clock())
	return s == StatusActive || s == StatusUpdating
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
	msgDeleteIndexes = msgInUse + "Cannot delete table while indexes are being created, updated, or deleted."
)

// deletable refuses to delete a table that is protected or in a state that takes
// time.
func (d *Definition) deletable(now time.Time) error {
	if err := d.changeable(now); err != nil {
		return err
	}
	if d.Protected {
		return invalid("Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.")
	}
	for _, ix := range d.online() {
		if now.Before(ix.Creating) {
			return &Error{Kind: InUse, Msg: msgDeleteIndexes}
		}
	}
	if d.Status(now) == StatusUpdating {
		if len(d.States.Leaving) > 0 {
			return &Error{Kind: InUse, Msg: msgDeleteIndexes}
		}
		return &Error{Kind: InUse, Msg: fmt.Sprintf(msgDeleteUpdated, d.Name)}
	}
	return nil
}

// changeable refuses changes of a table that is CREATING or DELETING.
func (d *Definition) changeable(now time.Time) error {
	switch d.Status(now) {
	case StatusCreating:
		return &Error{Kind: InUse, Msg: msgBeingCreated + d.Name}
	case StatusDeleting:
		return &Error{Kind: InUse, Msg: msgBeingDeleted + d.Name}
	}
	return nil
}

// StartUpdate begins the state UPDATING in the function of an [DB.Alter]. The error
// has kind [InUse] while an earlier one lasts.
func (db *DB) StartUpdate(d *Definition) error {
	if d.Status(db.Clock()) == StatusUpdating {
		return &Error{Kind: InUse, Msg: msgBeingUpdated + d.Name}
	}
	d.States.Updating, d.States.Leaving = db.until(), nil
	return nil
}

// removeDeleted removes the tables whose time of being DELETING has passed. The
// caller holds db.alter.
func (db *DB) removeDeleted(ctx context.Context) error {
	all := db.tables.Load()
	if !all.deleting {
		return nil
	}
	for _, t := range all.byName {
		if !db.gone(t) {
			continue
		}
		if err := db.remove(ctx, t, nil); err != nil {
			return err
		}
	}
	return nil
}
