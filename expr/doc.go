// Package expr parses, checks and evaluates the expressions of requests.
//
// An [Env] holds the names and values a request substitutes. It turns the text
// of a condition, filter or key condition into a [Condition], that of a
// projection into a [Projection], and that of an update into an [Update]; all
// are immutable, safe for concurrent use, and work on binary items in place
// without allocating, but for the new item an update makes. Parameters from
// before expressions become the same trees: see [FromLegacy], [FromExpected]
// and [FromAttributeUpdates].
//
// One lexer, one parser and one tree serve all of them. The parser reads an
// expression once, left to right, and notes the first fault of every class on
// its way; the class decides which one is reported, as the service does. In
// order:
//
//  1. the expression is empty or too long
//  2. syntax
//  3. redundant parentheses
//  4. too many operators
//  5. unknown functions, then functions where they may not stand
//  6. reserved words and list indexes out of range
//  7. within the first condition that has any: undefined names and values,
//     numbers of operands, operands that must differ, operand types
//
// In an update the order is another: reserved words go before functions, and
// after these come sections given twice, undefined names, undefined values,
// paths that overlap or conflict, what ADD and DELETE are given, and last,
// within the first action that has any, numbers and types of operands. What
// only the item shows to be wrong is found by [Update.Apply].
//
// Recursion is bounded by the size of an expression, [MaxExpressionBytes], and
// that of evaluation by [MaxOperators].
//
// Grammar and limits are those of DG/Expressions.OperatorsAndFunctions.html,
// DG/Expressions.Attributes.html and DG/Constraints.html; message texts and
// their order are as captured from the service by the authors of dynalite and
// of Scylla's alternator tests.
package expr
