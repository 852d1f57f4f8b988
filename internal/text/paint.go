package text

// Paint colours text for a terminal. The zero Paint does not.
type Paint bool

// Good colours what is right.
func (p Paint) Good(s string) string { return p.wrap("32", s) }

// Bad colours what is wrong.
func (p Paint) Bad(s string) string { return p.wrap("31", s) }

// Warn colours what deserves a look.
func (p Paint) Warn(s string) string { return p.wrap("33", s) }

// Strong marks headings.
func (p Paint) Strong(s string) string { return p.wrap("1", s) }

// Faint marks asides.
func (p Paint) Faint(s string) string { return p.wrap("2", s) }

func (p Paint) wrap(code, s string) string {
	if !p || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}
