package model

// A Severity says how serious a finding is.
type Severity int

// The severities. An error fails a check, a warning fails it on request, and a
// note never does.
const (
	Note Severity = iota + 1
	Warning
	Error
)

// String returns note, warning or error, as SARIF names its levels.
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

// MarshalText returns the name of the severity.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// A Finding is a hazard or an error in a model.
type Finding struct {
	// Rule is the ID of the rule, or "expectation" for an access pattern that
	// does not meet its expectations.
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	Pos      Pos      `json:"place,omitzero"`
	// Table, Index, Entity and Pattern name the parts of the model that the finding is about. Those that do not apply
	// are "".
	Table   string `json:"table,omitempty"`
	Index   string `json:"index,omitempty"`
	Entity  string `json:"entity,omitempty"`
	Pattern string `json:"pattern,omitempty"`
	// Message says what is wrong. Keys are the keys of up to two items that show the problem. Advice says what to do.
	Message string   `json:"message"`
	Keys    []string `json:"keys"`
	Advice  string   `json:"advice,omitempty"`
	// Accepted is the reason why the model accepts the finding, or "". Accepted
	// findings are notes.
	Accepted string `json:"accepted,omitempty"`
}
