// Package examples holds seven key designs, each a model file with what is
// stored, under which keys, and the access patterns that the keys were made
// for, with the answers that are right.
//
// [Names] lists them, [Load] reads one and [All] reads them all. Beside each
// model.yaml is a page of text that teaches with it. The form of the files is
// that of package design, which also reads those from elsewhere.
package examples
