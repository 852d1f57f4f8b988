// Package dataset builds the database that a model describes, with the items in the model and generated ones. A
// generated value depends only on the seed, the field and the number of the item. A [Dataset] also has the rows of
// each table and index in key order ([Dataset.Space]), and estimates the size of groups of rows at the declared scale
// ([Growth]).
package dataset
