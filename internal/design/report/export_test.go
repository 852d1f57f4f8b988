package report

// Exported for tests.
var (
	Short = short
	Wrap  = wrap
	URI   = uri
)

// Ranks is for tests.
var Ranks = ranks
