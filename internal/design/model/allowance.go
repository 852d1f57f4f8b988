package model

// An Allowance says that the author of the model accepts the findings of a rule, and why.
type Allowance struct {
	Pos Pos
	// Rule is the ID of the rule.
	Rule string
	// On is the name of the table, index, entity or pattern that the findings must be about. "" accepts findings
	// about any.
	On string
	// Why is the reason, for readers of the model.
	Why string
}

// Accepts reports whether the allowance accepts a finding.
func (a *Allowance) Accepts(f *Finding) bool {
	if a.Rule != f.Rule {
		return false
	}
	switch a.On {
	case "", f.Table, f.Index, f.Entity, f.Pattern:
		return true
	}
	return false
}
