// Package text writes things for people: names and values as expressions spell
// them, counts, sizes, lines that fit, and the known name nearest to a wrong
// one. Everything it quotes is printable, whatever bytes it is given.
package text
