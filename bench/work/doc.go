// Package work describes what is measured: the shapes of tables, the requests
// sent to them, and the answers they must give.
//
// A [Workload] names a [Shape] and makes [Call] values for it. A call is the
// same request at every layer: [Call.Body] is its JSON, and package layer has
// the other forms. The rows it must return are worked out here from the shape
// alone, so that a layer that answers wrongly is found out.
package work
