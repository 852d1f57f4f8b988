package rule

import (
	"github.com/sortkey/sortkey/internal/design/model"
)

// A Finding is a hazard at one place of a model, with changes that may remove
// it. The methods of the subjects, such as [Query.Finding], fill in the place.
type Finding struct {
	model.Finding
	// Proposals are tried in order on a copy of the model. The first that
	// removes the finding becomes its advice in place of the general one.
	Proposals []Proposal
	// Applied holds the proposals that became advice. Run sets it.
	Applied []Proposal
}

// A Proposal is a change of indexes that removes a finding. It is printed as
// advice only if a changed copy of the model shows that it does, brings no other
// hazard and still answers all patterns. What it gains or costs in units is
// printed with it.
type Proposal struct {
	Text string
	Edit Edit
}

// An Edit changes a copy of a model. It reports false if it cannot, or if it
// changes nothing.
type Edit func(*model.Model) bool

func newFinding(format string, args ...any) *Finding {
	return &Finding{Finding: model.Finding{Message: sentence(format, args)}}
}

// Say appends to the message. Names among the arguments become a [List].
func (f *Finding) Say(format string, args ...any) { f.Message += sentence(format, args) }

// Advise sets the general advice, formatted as by [Finding.Say].
func (f *Finding) Advise(format string, args ...any) { f.Advice = sentence(format, args) }

// Propose adds a proposal with a text.
func (f *Finding) Propose(text string, edit Edit) {
	f.Proposals = append(f.Proposals, Proposal{text, edit})
}
