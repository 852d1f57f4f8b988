package design

var (
	Power     = power
	Successor = successor
)

// MaxZipf is the largest number of values of a zipf distribution.
const MaxZipf = maxZipf
