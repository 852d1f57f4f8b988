// Package dataset makes the database that a model describes: its own items, and generated ones
// that depend on the seed, the field and the number of the item alone. A [Dataset] also has the
// rows of each table and index in order ([Dataset.Space]), and what their number and their load
// would be at the declared size.
package dataset
