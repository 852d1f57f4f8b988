// Package export writes models in the formats of other tools. Most of these formats contain only table definitions;
// some also contain entities and items. Package convert reads such files.
package export
