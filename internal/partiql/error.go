package partiql

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// An Error means that the service would reject the statement with a ValidationException.
type Error struct {
	// Msg is the service's message.
	Msg string
	// Pos is the byte offset in the statement of the wrong token, or -1 if the error is about the whole statement.
	Pos int
	// Table and Index are set if a SELECT calls a function where it should name attributes. Before the caller returns
	// this error, it must check that the index has no multi-attribute key, as the service reports that error first.
	Table, Index string
}

func (e *Error) Error() string { return e.Msg }

// notWellFormed is the beginning of the message for a statement that cannot be parsed. Details follow. If the text at
// the error is not a token, there are no details (conformance partiqlGrammar).
const notWellFormed = "Statement wasn't well formed, can't be processed: "

// The details that follow notWellFormed (conformance partiqlGrammar and batchExecuteStatement).
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

// malformed records a syntax error at the next token. It then skips all tokens, so that parsing stops.
func (p *parser) malformed(detail string) {
	if p.syntax == nil {
		p.syntax = &Error{Msg: notWellFormed + detail, Pos: p.tokens[p.pos].start}
	}
	p.pos = len(p.tokens) - 1
}

// fault records an error of meaning, such as a wrong type, at a token, if it is the first. The parser continues, as
// the service reports a later syntax error instead.
func (p *parser) fault(tok int, format string, args ...any) {
	if p.meaning == nil {
		p.meaning = &Error{Msg: fmt.Sprintf(format, args...), Pos: p.tokens[tok].start}
	}
}

// faultAt is fault, but adds the position of the token to the message, as line:column:length. Lines and columns are
// counted from 1. Columns and lengths are in characters (conformance partiqlFunctions).
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
