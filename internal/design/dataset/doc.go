// Package dataset builds the database that a model describes. It contains the items of the model and generated ones.
// A generated value depends only on the seed, the field and the number of the item. A [Dataset] also has the rows of
// each table and index in key order ([Dataset.Space]). It estimates how large groups of rows would be if all declared
// items had been generated: at the declared scale ([Growth]).
package dataset
