package diff

import (
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

// templateText describes the template or the constant of an attribute, its type and its condition.
func templateText(t *model.Template) string {
	if t == nil {
		return ""
	}
	s := text.Literal(t.Const)
	if t.Template != nil {
		s = `"` + t.Template.Explicit() + `"`
		if t.Kind != attr.String {
			s += " of type " + t.Kind.String()
		}
	}
	if c := t.Condition(); c != "" {
		s += " when " + c
	}
	return s
}
