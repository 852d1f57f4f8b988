// Package attr implements attribute values: the ten kinds, their order and
// documented sizes, the binary form of items, DynamoDB JSON, and the conversion
// of Go values.
//
// A [Value] is a kind and a view of immutable bytes. An [Item] is the binary
// form of a whole item: an offset table, then the attributes sorted by name, so
// looking up one attribute decodes no other. Maps nest in the same form. A
// number is stored as bytes whose order is numeric order; [Value.AppendNumber]
// converts it back to decimal text.
//
// [MarshalItem] and [UnmarshalItem] convert structs and maps, by the tags and rules
// of package attributevalue of the AWS SDK, so that one struct serves both.
//
// The package has no notion of tables or key schemas. All functions are safe
// for concurrent use as long as nobody changes bytes that were passed in.
package attr
