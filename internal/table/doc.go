// Package table keeps items in tables over a store: it implements schemas and indexes, writes that maintain the
// indexes, reads with paging, and the capacity that these consume. Package life creates, changes and deletes tables.
//
// A [DB] has a [Set] of tables, which is immutable: package life publishes a new one when a table has changed.
// Updates share a lock; see package lock. Reads happen in a [View], which sees a snapshot; writes happen in a [Tx],
// which is applied whole or not at all, including index rows. A [Query] or [Scan] reads one [store.Range] or
// [store.Span], counts the rows and stops at the end of a page. That count gives both the consumed capacity and the
// [Trace].
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
// Errors are [*Error] values with the service's texts. The package does not depend on JSON or HTTP.
package table
