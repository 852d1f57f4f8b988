// Package text formats text for people: names and values in the syntax of expressions, counts and sizes, and the
// known name most similar to a wrong one. What it quotes is printable, whatever the bytes; [Visible] makes other text
// so.
package text
