// Package expr parses, checks and evaluates the expressions of DynamoDB on items, without a table. The public package
// expr has aliases of its types.
//
// A [Condition], a [Projection] and an [Update] are immutable and safe for concurrent use. They work on
// binary items in place and allocate only the new item of an update. Their syntax trees are in package
// [ast]; a program can also make conditions and updates of trees that it has built. An [Env] parses the
// expressions of one request, which share names and values.
//
// # Errors
//
// An [Error] has the service's text and the byte where the fault lies. The parser reads an
// expression once, from left to right, and records the first fault of each
// class. It reports the fault of the class that comes first in this order, as the service does:
//
//  1. an empty or too long expression
//  2. syntax errors
//  3. redundant parentheses
//  4. too many operators
//  5. unknown functions, then misplaced functions
//  6. reserved words and list indexes out of range
//  7. within the first condition that has a fault: undefined names and values,
//     numbers of operands, operands that must differ, operand types
//
// Updates have a different order. Reserved words come before functions. After
// the functions come repeated sections, undefined names, undefined values,
// paths that overlap or conflict, operands of ADD and DELETE, and finally,
// within the first action that has a fault, numbers and types of operands.
// [Update.Apply] reports faults that depend on the item.
//
// The size of an expression, [MaxExpressionBytes], limits recursion in the
// parser; [MaxOperators] limits it in evaluation.
//
// Grammar and limits follow DG/Expressions.OperatorsAndFunctions.html,
// DG/Expressions.Attributes.html and DG/Constraints.html. Messages and their
// order were captured from the service by the authors of dynalite and of
// Scylla's alternator tests.
package expr
