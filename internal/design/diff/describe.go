package diff

import (
	"fmt"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

// fieldText describes what values a field has.
func fieldText(f *model.Field) string {
	if f == nil {
		return ""
	}

	words := []string{f.Type.String()}
	switch {
	case len(f.Values) > 0:
		words = append(words, "one of "+strings.Join(f.Values, ", "))
	case f.Distinct > 0:
		words = append(words, text.Count(f.Distinct, "value"))
	}

	if d := f.Distribution; d.Skew > 0 {
		words = append(words, fmt.Sprintf("%s(%s)", d.Name, text.Figure(d.Skew)))
	} else if d.Name != "" && d.Name != "uniform" {
		words = append(words, d.Name)
	}

	switch {
	case f.MaxSize > 0 && f.MinSize == f.MaxSize:
		words = append(words, text.Count(f.MaxSize, "byte"))
	case f.MaxSize > 0:
		words = append(words, fmt.Sprintf("%d to %d bytes", f.MinSize, f.MaxSize))
	}

	if f.From != "" || f.To != "" {
		words = append(words, "from "+f.From+" to "+f.To)
	}
	return strings.Join(words, "; ")
}

// templateText describes an attribute by all that its bytes depend on.
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
