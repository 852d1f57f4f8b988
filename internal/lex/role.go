package lex

import (
	"errors"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/attr"
)

// A Role is what a token of [LexLiterals] means in an expression with names and values written out.
type Role uint8

// The roles.
const (
	// RolePlain tokens stay as they are: operators, functions, brackets, indexes of lists.
	RolePlain Role = iota
	// RoleName is a name in a path, and RoleQuotedName is such a name in backquotes.
	RoleName
	RoleQuotedName
	// RoleText is text in quotes, RoleNumber a number, and RoleWord true, false or null.
	RoleText
	RoleNumber
	RoleWord
	// RoleSignedNumber is an operator, + or -, followed by a number. The lexer has read both as one number with a
	// sign.
	RoleSignedNumber
	// RolePlaceholder is a placeholder of a name or of a value.
	RolePlaceholder
	// RoleComposite is a list, a map or a set.
	RoleComposite
	// RoleBad is text that cannot be in any expression.
	RoleBad
)

// A Form is the kind of an expression.
type Form uint8

// The forms.
const (
	ConditionForm Form = iota // of conditions and filters
	ProjectionForm
	UpdateForm
)

// Roles appends the role of each token of an expression. A word such as IN, SET or true can be an operator, begin a
// clause or be a value. Where the grammar allows none of these, the word has the role of a name.
func Roles(roles []Role, src string, tokens []Token, form Form) []Role {
	update := form == UpdateForm
	clause := TokEOF
	operand := false  // the previous token can be the last of an operand
	condition := true // a condition can begin here, so NOT may be an operator
	between := false  // the next AND belongs to a BETWEEN
	kindAt := func(i int) TokenKind {
		if i < 0 || i >= len(tokens) {
			return TokEOF
		}
		return tokens[i].Kind
	}

	// target reports whether the grammar allows only a path at token i.
	target := func(i int) bool {
		function := i > 1 && kindAt(i-1) == TokLeftParen && kindAt(i-2) == TokIdent
		switch {
		case form == ProjectionForm:
			return true
		case function && strings.HasSuffix(strings.ToLower(tokens[i-2].Text(src)), "exists"):
			return true // true for attribute_exists, attribute_not_exists and if_not_exists
		case clause == TokSet:
			return kindAt(i+1) == TokEqual
		case clause == TokRemove:
			return true
		}
		return update && kindAt(i-1) == clause || update && clause != TokEOF && kindAt(i-1) == TokComma
	}

	for i, tok := range tokens {
		word := tok.Text(src)
		before, after := kindAt(i-1), kindAt(i+1)
		inPath := before == TokDot || after == TokDot
		role, ends, begins := RolePlain, false, false
		switch tok.Kind {
		case TokText:
			if role, ends = RoleText, true; word[0] == '[' || word[0] == '{' {
				role = RoleComposite
			}
		case TokQuotedName:
			role, ends = RoleQuotedName, true
		case TokName, TokValue:
			role, ends = RolePlaceholder, true
		case TokNumber, TokInt:
			switch signed := word[0] == '+' || word[0] == '-'; {
			case tok.Kind == TokInt && before == TokLeftBracket:
			case update && clause == TokSet && signed && operand:
				role, ends = RoleSignedNumber, true
			default:
				role, ends = RoleNumber, true
			}
		case TokRightParen, TokRightBracket:
			ends = true
		case TokLeftParen: // the parenthesis opens a group, unless it belongs to a function or to IN
			begins = condition
		case TokAnd, TokOr, TokIn, TokBetween: // operators behind an operand
			if inPath || !operand {
				role, ends = RoleName, true
				break
			}
			begins = tok.Kind == TokOr || tok.Kind == TokAnd && !between
			between = tok.Kind == TokBetween || between && tok.Kind != TokAnd
		case TokNot: // an operator before a condition
			infix := after == TokIn && kindAt(i+2) == TokLeftParen ||
				after == TokBetween && beginsOperand(kindAt(i+2))
			if begins = true; inPath || !condition || infix || !beginsOperand(after) {
				role, ends, begins = RoleName, true, false
			}
		case TokSet, TokRemove, TokAdd, TokDelete, TokIdent:
			switch {
			case update && tok.Kind != TokIdent && beginsPath(after) && (i == 0 || operand):
				clause = tok.Kind
			case !inPath && after == TokLeftParen: // a function
			case !inPath && (word == "true" || word == "false" || word == "null") && !target(i):
				role, ends = RoleWord, true
			default:
				role, ends = RoleName, true
			}
		case TokPlus, TokMinus:
			if !update {
				role = RoleBad // only updates have arithmetic
			}
		case TokBad:
			role = RoleBad
		}

		roles = append(roles, role)
		operand, condition = ends, begins
	}

	return roles
}

// beginsPath reports whether a token of a kind can be the first name of a path.
func beginsPath(kind TokenKind) bool {
	switch kind {
	case TokIdent, TokQuotedName, TokAnd, TokOr, TokNot, TokBetween, TokIn,
		TokSet, TokRemove, TokAdd, TokDelete:
		return true
	}
	return false
}

// beginsOperand reports whether a token of a kind can be the first one of an operand, or open a
// bracket.
func beginsOperand(kind TokenKind) bool {
	switch kind {
	case TokText, TokInt, TokNumber, TokName, TokValue, TokLeftParen:
		return true
	}
	return beginsPath(kind)
}

// EndsOperand reports whether a token of a kind can be the last one of an operand.
func EndsOperand(kind TokenKind) bool {
	switch kind {
	case TokText, TokInt, TokNumber, TokRightParen, TokRightBracket:
		return true
	}
	return beginsPath(kind)
}

// errQuote is the error for text whose quotes do not match.
var errQuote = errors.New("it is not a whole quoted text")

// Unquote returns the text of a token in quotes.
func Unquote(word string) (string, error) {
	if len(word) >= 2 && word[0] == '\'' && word[len(word)-1] == '\'' {
		return strings.ReplaceAll(word[1:len(word)-1], "''", "'"), nil
	}
	s, err := strconv.Unquote(word)
	if err != nil {
		return "", errQuote
	}
	return s, nil
}

// Literal returns the value of a token that is text, a number, or one of the words true, false and null.
func Literal(role Role, word string) (attr.Value, error) {
	switch {
	case role == RoleText:
		s, err := Unquote(word)
		return attr.NewString(s), err
	case role == RoleWord && word == "null":
		return attr.NewNull(), nil
	case role == RoleWord:
		return attr.NewBool(word == "true"), nil
	}
	return attr.NewNumber(word)
}

// Operator returns the text of a plain token as requests write it: = for ==, and <> for !=.
func Operator(kind TokenKind, word string) string {
	switch kind {
	case TokEqual:
		return "="
	case TokNotEqual:
		return "<>"
	}
	return word
}
