// Package export writes models in the formats of other tools: definitions of
// tables, and designs. [Export] returns the files and, for each, a [Loss] for
// each part of the model that the format cannot carry. A loss is a value, so a
// test can take from a model what its losses say: nothing else differs in the
// model that package convert makes of the file.
package export
