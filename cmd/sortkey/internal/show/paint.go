package show

// A Paint colours text, if there is somebody to see it. The zero value does
// not.
type Paint bool

// Good, Bad, Strong and Faint colour what is right, what is wrong, headings
// and asides.
func (p Paint) Good(s string) string   { return p.wrap("32", s) }
func (p Paint) Bad(s string) string    { return p.wrap("31", s) }
func (p Paint) Strong(s string) string { return p.wrap("1", s) }
func (p Paint) Faint(s string) string  { return p.wrap("2", s) }

func (p Paint) wrap(code, s string) string {
	if !p || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}
