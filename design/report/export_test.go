package report

// For tests of what has no public face.
var (
	Short   = short
	Wrap    = wrap
	Visible = visible
	Size    = size
	Figure  = figure
	URI     = uri
)

// Markup writes one element with text and an attribute.
func Markup(text string) string {
	m := &markup{}
	m.leaf("p", text, at{"title", text})
	return m.out.String()
}
