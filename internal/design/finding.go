package design

// A Severity says how much a finding matters.
type Severity int

// The severities. An error fails a check, a warning does when asked to, and a
// note never does.
const (
	Note Severity = iota + 1
	Warning
	Error
)

// String returns note, warning or error, the words of SARIF's levels.
func (s Severity) String() string {
	switch s {
	case Note:
		return "note"
	case Warning:
		return "warning"
	case Error:
		return "error"
	}
	return "none"
}

// A Finding is something in a model that its author should look at.
type Finding struct {
	// Rule is the id of the lint, lower-case words joined by hyphens, or
	// "expectation" for an access pattern that did not do what is expected.
	Rule     string
	Severity Severity
	Pos      Pos
	// Table, Index, Entity and Pattern say what it is about, as far as they
	// apply.
	Table, Index, Entity, Pattern string
	// Message says what is wrong, Keys two real keys of the model's data that
	// show it (or as many as there are), Advice what to do.
	Message string
	Keys    []string
	Advice  string
	// Accepted is why the author of the model accepts it; "" if nothing does.
	// What is accepted is a Note.
	Accepted string
}
