// Package export writes models in the formats of other tools: definitions of
// tables, and designs. What a format has, package convert reads back.
package export
