// Package compile compiles an access pattern into a request, using the templates of keys. The request reads the
// smallest range that contains the pattern's items. [Pattern] returns the request, or an [*Error] that names the
// component that prevents a range and says what works instead.
package compile
