// Package table keeps items in tables over a store: schemas and indexes,
// writes with index maintenance, reads with paging, and what they cost. How tables
// are created, changed and deleted is package life.
//
// A [DB] has a [Set] of tables, which does not change: package life publishes another
// one when a table has changed. Updates share a lock; see package lock. Reads happen in a
// [View], which sees one moment; writes in a [Tx], which is applied whole or not at all,
// index rows included. A [Query] or [Scan] walks one [store.Range] or [store.Span], counts
// the rows and stops at the end of a page. The consumed capacity and the [Trace] come from
// the same count.
//
//	err := db.Update(ctx, func(tx *table.Tx) error {
//		drive, err := tx.Table("Drive")
//		…
//		change, err := tx.Put(drive, item, nil) // its row, and those of its indexes
//		return err
//	})
//	err = db.View(ctx, func(view *table.View) error {
//		drive, err := view.Table("Drive")
//		…
//		slice, err := keycond.Compile(drive.Key(), condition)
//		…
//		query := &table.Query{Read: table.Read{Table: drive}, Slice: slice}
//		page, err := view.Query(query, func(it attr.Item) error {
//			fmt.Println(it)
//			return nil
//		})
//		query.Start = page.Last // of the next page; nil if this is the last one
//		…
//
// Errors are [*Error] values with the text of the service. The package knows
// neither JSON nor HTTP.
package table
