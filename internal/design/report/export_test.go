package report

// Exported for tests.
var (
	Short = short
	Wrap  = wrap
)
