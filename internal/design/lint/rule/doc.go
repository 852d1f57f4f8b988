// Package rule is what the rules of package lint are made of. A [Rule] is a
// hazard: its texts, and a function that looks at one subject, such as a [Query]
// or a [Slot]. A [Study] holds a dataset as these subjects; [Run] shows them to
// rules. A rule reports a [Finding] with [Proposal] values, and Run tries these
// on small copies of the model. The package knows no rule.
package rule
