package design

var (
	Power     = power
	Successor = successor
)

// MaxZipf is the most values of a zipf distribution.
const MaxZipf = maxZipf
