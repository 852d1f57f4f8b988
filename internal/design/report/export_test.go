package report

// For tests of what has no public face.
var (
	Short  = short
	Wrap   = wrap
	Size   = size
	Figure = figure
	URI    = uri
)

// Ranks is for tests.
var Ranks = ranks
