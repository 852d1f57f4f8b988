// Package keycond turns key conditions into ranges: every key condition that DynamoDB accepts is one
// contiguous slice of one partition, and everything else is refused in the service's words.
//
// A [Schema] says which attributes are the key of a table or of an index, and where an item lies in a
// [store.Store]. A [Slice] is made of clauses or of an expression, and read a [Page] at a time:
//
//	orders, err := keycond.ParseSchema("customer / placed")
//	partition, sort, err := orders.Place(item) // where to put an item
//
//	january, err := keycond.Of(orders, // or Compile, from an expression
//		keycond.Clause{Attribute: "customer", Op: "=", Values: []attr.Value{attr.NewString("ann")}},
//		keycond.Clause{Attribute: "placed", Op: "begins_with", Values: []attr.Value{attr.NewString("2026-01")}},
//	)
//	err = st.View(ctx, func(r store.Reader) error {
//		page, err := january.Page(r, space, keycond.PageOptions{Limit: 100}, func(it attr.Item) error {
//			fmt.Println(it.Get("placed"))
//			return nil
//		})
//		next := keycond.PageOptions{Start: page.Last, Limit: 100} // while page.Last is not nil
//		…
//
// Rows are in the order of DG/HowItWorks.CoreComponents.html: text by its UTF-8 bytes, numbers by
// value, binary by unsigned bytes. In an index, items with equal keys are in the order in which the
// service has them, by a hash of the table's key.
//
// Source of the rules: DG/Query.KeyConditionExpressions.html, DG/GSI.DesignPattern.MultiAttributeKeys.html.
package keycond
