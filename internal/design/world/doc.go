// Package world makes the database that a model describes: its own items, and generated ones
// that depend on the seed, the field and the number of the item alone. A [World] also has the
// rows of each table and index in order ([World.Space]), and what their number and their load
// would be at the declared size.
package world
