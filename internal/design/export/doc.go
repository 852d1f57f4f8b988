// Package export writes models in the formats of other tools. Most of these formats describe only tables; some also
// describe designs. Package convert reads such files.
package export
