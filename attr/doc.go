// Package attr holds attribute values: the ten kinds, their order, their
// documented sizes, the binary item and DynamoDB JSON.
//
// A [Value] is a view on immutable bytes. An [Item] is those bytes for a whole
// item: attributes sorted by name behind an offset table, so that looking one
// up decodes nothing else. Maps nest in the same form. Numbers are kept as
// bytes whose order is their numeric order; see [AppendNumberText] for the way
// back to decimal text.
//
// Nothing here knows about tables or keys of a particular schema. All
// functions are safe for concurrent use as long as nobody changes bytes that
// were handed in.
package attr
