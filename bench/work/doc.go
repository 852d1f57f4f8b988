// Package work describes workloads: the shapes of tables, the requests to them, and the responses that the requests
// must get.
//
// A [Workload] names a [Shape] and makes [Call] values for it. A call is the same request at every layer: [Call.Body]
// is its JSON, and package layer makes the other forms. The number of rows that a call must return follows from the
// shape, and each layer is checked against it.
package work
