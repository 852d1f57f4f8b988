// Package text formats text for people: names and values in the syntax of expressions, counts and sizes, and the
// known name most similar to a wrong one. Quoted text is always printable. [Visible] makes other text printable.
package text
