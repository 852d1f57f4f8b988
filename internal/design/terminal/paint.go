package terminal

// A Paint adds ANSI colours to text. Paint(false) returns text unchanged.
type Paint bool

// Good colours correct results.
func (p Paint) Good(s string) string { return p.wrap("32", s) }

// Bad colours errors.
func (p Paint) Bad(s string) string { return p.wrap("31", s) }

// Warn colours warnings.
func (p Paint) Warn(s string) string { return p.wrap("33", s) }

// Strong emphasises headings.
func (p Paint) Strong(s string) string { return p.wrap("1", s) }

// Faint dims secondary text.
func (p Paint) Faint(s string) string { return p.wrap("2", s) }

func (p Paint) wrap(code, s string) string {
	if !p || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}
