// Package work describes workloads: the shapes of tables, the requests sent to
// them, and the answers these must get.
//
// A [Workload] names a [Shape] and makes [Call] values for it. A call is the
// same request at every layer: [Call.Body] is its JSON, and package layer makes
// the other forms. The expected rows follow from the shape alone, so a wrong
// answer of a layer does not go unnoticed.
package work
