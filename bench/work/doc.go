// Package work describes workloads: the shapes of tables, the requests to them, and the responses that these must
// get.
//
// A [Workload] names a [Shape] and makes [Call] values for it. A call is the same request at every layer: [Call.Body]
// is its JSON, and package layer makes the other forms. The expected rows follow from the shape alone, so a layer
// cannot return wrong rows unnoticed.
package work
