// Package rule is the framework for the rules of package lint. A [Rule] is a hazard: its texts, and a function that
// looks at one subject, such as a [Query] or a [Slot]. A [Study] holds a dataset as these subjects; [Run] shows them
// to rules. A rule reports a [Finding], which may have [Proposal] values. Run tries these on small copies of the
// model. The rules themselves are in package lint.
package rule
