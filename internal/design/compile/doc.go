// Package compile makes the request of an access pattern from the templates of keys: the
// smallest range that contains what the pattern asks for. [Pattern] returns a typed request,
// or an [*Error] that says which component stands in the way and what works instead.
package compile
