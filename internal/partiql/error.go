package partiql

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// An Error describes a statement that the service refuses with a
// ValidationException.
type Error struct {
	// Msg is the service's message.
	Msg string
	// Pos is the byte offset in the statement of the token at fault, or -1 if no
	// token is.
	Pos int
	// Table and Index are what a SELECT reads that calls a function instead of naming attributes: the
	// service looks at the key of the index first.
	Table, Index string
}

func (e *Error) Error() string { return e.Msg }

// notWellFormed begins the message about a statement that cannot be parsed.
// Nothing follows it if the text has something that is not a token (conformance
// partiqlGrammar).
const notWellFormed = "Statement wasn't well formed, can't be processed: "

// Details after notWellFormed (conformance partiqlGrammar and
// batchExecuteStatement).
const (
	msgStatement = "Expected data manipulation"
	msgLeftover  = "Unexpected token after expression"
	msgTerm      = "Unexpected term"
	msgComponent = "Invalid path dot component"
)

// invalid returns an error about the whole statement.
func invalid(format string, args ...any) error {
	return &Error{Msg: fmt.Sprintf(format, args...), Pos: -1}
}

// malformed records that the statement cannot be parsed at the next token, and
// skips to the end, so that parsing stops.
func (p *parser) malformed(detail string) {
	if p.syntax == nil {
		p.syntax = &Error{Msg: notWellFormed + detail, Pos: p.tokens[p.pos].start}
	}
	p.pos = len(p.tokens) - 1
}

// fault records the first thing wrong with a statement that can be parsed. The
// service parses a statement to its end before it looks at what it means.
func (p *parser) fault(tok int, format string, args ...any) {
	if p.meaning == nil {
		p.meaning = &Error{Msg: fmt.Sprintf(format, args...), Pos: p.tokens[tok].start}
	}
}

// faultAt is fault with the place of the token after the message, as
// line:column:length, counted in characters from 1 (conformance
// partiqlFunctions).
func (p *parser) faultAt(tok int, format string, args ...any) {
	t := p.tokens[tok]
	before := p.src[:t.start]
	line := 1 + strings.Count(before, "\n")
	column := 1 + utf8.RuneCountInString(before[1+strings.LastIndexByte(before, '\n'):])
	p.fault(
		tok, "%s at %d:%d:%s", fmt.Sprintf(format, args...), line, column,
		strconv.Itoa(utf8.RuneCountInString(p.src[t.start:t.end])),
	)
}
