// Package export writes models in the formats of other tools. Most of these describe only tables, some also designs.
// Package convert reads the files back.
package export
