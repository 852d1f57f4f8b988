package lint

import (
	"github.com/sortkey/sortkey/internal/design/model"
)

// A Finding is a hazard at one place of a model, with changes that may remove the hazard. Methods such as
// [Query.Finding] fill in the place.
type Finding struct {
	model.Finding
	// Proposals are changes that may remove the finding. Run tries them in order, each on a copy of the model. The
	// text of the first one that succeeds replaces Advice.
	Proposals []Proposal
	// Applied are the proposals that became the advice. Run sets them.
	Applied []Proposal
}

// A Proposal is an edit of the model that may remove a finding. Run tries the edit on a copy of the model. The
// proposal becomes the advice if the finding disappears, no other hazard appears and all patterns still return their
// rows. The advice then also says how many units the edit saves or costs.
type Proposal struct {
	Text string
	Edit Edit
}

// An Edit changes a copy of a model. It returns false if it does not apply to the model or would change nothing.
type Edit func(*model.Model) bool

func newFinding(format string, args ...any) *Finding {
	return &Finding{Finding: model.Finding{Message: sentence(format, args)}}
}

// Say appends formatted text to the message. It joins the elements of a []string in args as [listed] does.
func (f *Finding) Say(format string, args ...any) { f.Message += sentence(format, args) }

// Advise sets the general advice, formatted as by [Finding.Say].
func (f *Finding) Advise(format string, args ...any) { f.Advice = sentence(format, args) }

// Propose adds a proposal with a text.
func (f *Finding) Propose(text string, edit Edit) {
	f.Proposals = append(f.Proposals, Proposal{text, edit})
}
