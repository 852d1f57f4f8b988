// Package bench measures the layers of Sortkey beside the bare engines they
// stand on, and Sortkey beside other endpoints that speak DynamoDB.
//
// [Run] runs workloads of package work over the layers of package layer;
// [RunEndpoints] the same over HTTP on several endpoints; [Grow] one query
// against the size of its table; [RunTargets] the figures that Sortkey holds
// itself to. In each, what is compared is measured in the same run, in rounds
// that alternate, and a ratio is the median of the rounds' own ratios: a
// machine that is slow for a while is slow for both sides.
//
// The results are a [Report], which package report prints.
package bench
