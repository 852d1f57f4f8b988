// Package convert makes models of designs that other tools wrote.
//
// [Import] reads files of any [Format], which [Detect] tells from their
// content, and [FromEndpoint] the tables of a running endpoint. Both give a
// [design.Model] that can be written, read back and built, and a [Loss] for
// each thing that a model has no place for.
//
// Where a design has items and no templates, the templates are inferred from
// the keys of the items: PK "C#1" in a facet whose alias is CustomerId becomes
// C#{CustomerId}. A template is kept only if it makes exactly the keys it was
// inferred from; an item that it does not fit stays as it is. Where a design
// has no access patterns, one is derived for each entity and each of its
// indexes, so that there is something to run.
package convert
