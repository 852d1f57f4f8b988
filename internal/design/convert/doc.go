// Package convert imports the designs of other tools as models. [Import] reads files of any [Format], which [Detect]
// recognizes by their content; [FromEndpoint] reads the tables of a running endpoint. Both return a [model.Model]
// that can be written, read back and built, and a [Loss] for each thing that a model cannot represent.
//
// If a design has items but no templates, the package infers the templates from the keys of the items: PK "C#1" in a
// facet with the alias CustomerId becomes C#{CustomerId}. It keeps a template only if the template reproduces exactly
// the keys that it was inferred from. An item that does not fit stays a raw item. If a design has no access patterns,
// the package derives one for each entity and each of its indexes.
package convert
