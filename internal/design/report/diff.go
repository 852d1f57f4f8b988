package report

import (
	"io"

	"github.com/sortkey/sortkey/internal/design/diff"
)

// Diff writes the difference of two versions of a design as a self-contained page. Title names them.
func Diff(out io.Writer, d *diff.Diff, title string) error {
	return execute(out, "diff", diffPage{d, title})
}

// A diffPage is what the template "diff" shows.
type diffPage struct {
	*diff.Diff
	Title string
}

// Top is the header of the page.
func (diffPage) Top() Top { return Top{Places: []Place{{Text: "changes of a key design"}}} }

// Hues are the further colours of the page: none.
func (diffPage) Hues() []hue { return nil }

// Policy is the content security policy of the page, which has no script.
func (diffPage) Policy() string {
	return "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
}
