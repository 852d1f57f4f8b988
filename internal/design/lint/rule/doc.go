// Package rule is the framework for the rules of package lint. A [Rule] describes a hazard: it has texts, and
// functions that examine one subject each, such as a [Query] or a [Slot]. A [Study] divides a dataset into these
// subjects, and [Run] calls the rules with them. A rule reports a [Finding], which may have [Proposal] values. Run
// tries the proposals on small copies of the model. The rules themselves are in package lint.
package rule
