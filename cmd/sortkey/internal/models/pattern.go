package models

import (
	"errors"
	"strings"

	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

// PatternNames returns the names of the access patterns of a model.
func PatternNames(m *model.Model) (names []string) {
	for _, p := range m.Patterns {
		names = append(names, p.Name)
	}
	return names
}

// Pattern returns the access pattern called name. If no pattern has that name, it returns the only one whose name
// contains it.
func Pattern(m *model.Model, name string) (*model.Pattern, error) {
	if p := m.Pattern(name); p != nil {
		return p, nil
	}
	var like []*model.Pattern
	for _, p := range m.Patterns {
		if strings.Contains(strings.ToLower(p.Name), strings.ToLower(name)) {
			like = append(like, p)
		}
	}
	if len(like) == 1 {
		return like[0], nil
	}

	found := "no"
	if len(like) > 1 {
		found = "more than one"
	}
	names := PatternNames(m)
	help := "the patterns are:\n  " + strings.Join(names, "\n  ")
	if nearest, ok := text.Nearest(name, names); ok {
		help = "did you mean " + nearest + "? " + help
	}
	return nil, advice.New(help, "model %s has %s pattern named %q", m.Name, found, name)
}

// Refused adds advice to the error of [compile.Split] or [compile.Pattern] for a pattern that cannot be compiled into
// one request. It returns other errors unchanged.
func Refused(p *model.Pattern, err error) error {
	refused, ok := errors.AsType[*compile.Error](err)
	if !ok {
		return err
	}
	return &advice.Error{Msg: p.Name + " is not one request: " + refused.Msg, Advice: refused.Advice, Err: err}
}

// PatternRequest returns the request of the access pattern that [Pattern] finds. If the pattern sends several
// requests, such as one for each month, PatternRequest returns the first, and a note that says so.
func PatternRequest(m *model.Model, name string) (q explain.Question, err error) {
	p, err := Pattern(m, name)
	if err != nil {
		return q, err
	}
	parts, err := compile.Split(p)
	if err != nil {
		return q, Refused(p, err)
	}
	if q.Input, err = compile.Pattern(parts[0]); err != nil {
		return q, Refused(p, err)
	}
	q.Text = compile.JSON(q.Input)
	if n := len(parts); n > 1 {
		q.Note = "the pattern sends " + text.Count(n, "request") + ", and this is the first of them; " +
			"sortkey design check counts all"
	}
	return q, nil
}
