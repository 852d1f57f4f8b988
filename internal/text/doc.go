// Package text formats things for people: names and values in the syntax of
// expressions, counts, sizes, and the known name most similar to a wrong one.
// Everything it quotes is printable, whatever the bytes; [Visible] makes the rest so.
package text
