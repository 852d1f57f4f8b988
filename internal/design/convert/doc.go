// Package convert imports designs of other tools as models. [Import] reads
// files of any [Format], which [Detect] recognizes by their content;
// [FromEndpoint] reads the tables of a running endpoint. Both return a
// [model.Model] that can be written, read back and built, and a [Loss] for
// each thing that a model cannot represent. If a design has items but no
// templates, the templates are inferred from the keys of the items: PK "C#1" in
// a facet with the alias CustomerId becomes C#{CustomerId}. A template is kept
// only if it reproduces exactly the keys that it was inferred from; an item
// that does not fit stays a raw item. If a design has no access patterns, one
// is derived for each entity and each of its indexes.
package convert
