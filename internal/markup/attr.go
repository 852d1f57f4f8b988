package markup

import (
	"fmt"
	"strconv"
	"strings"
)

// A constant is the name of an element or an attribute. Other packages can not
// name the type, so what they pass as one is a constant in their code.
type constant string

// An Attr is an attribute of an element. Its value is escaped when written.
type Attr struct {
	name  constant
	value string
}

// A is an attribute by name. It panics for names whose values are code or
// addresses: those are style, on… and, for which [Link] and [To] are, href and
// its like.
func A(name constant, value string) Attr {
	switch {
	case strings.HasPrefix(string(name), "on"), name == "style", name == "srcdoc":
		panic("markup: the value of " + string(name) + " is code")
	case addresses[name]:
		panic("markup: the value of " + string(name) + " is an address: use Link or To")
	}
	return Attr{name, value}
}

var addresses = map[constant]bool{
	"href": true, "xlink:href": true, "src": true, "srcset": true, "action": true, "formaction": true, "poster": true,
	"data": true, "cite": true, "background": true, "ping": true, "manifest": true,
}

// Class is the class attribute: names with spaces between them.
func Class(names string) Attr { return Attr{"class", names} }

// ID names a place in the page, by a format of package fmt.
func ID(format string, args ...any) Attr { return Attr{"id", fmt.Sprintf(format, args...)} }

// To is the href of a link to a place in the page, by a format of package fmt.
func To(format string, args ...any) Attr {
	return Attr{"href", "#" + fmt.Sprintf(format, args...)}
}

// Link is the href of a link out of the page. An address that is neither http
// nor https becomes "#".
func Link(address string) Attr {
	lower := strings.ToLower(address)
	if !strings.HasPrefix(lower, "http://") && !strings.HasPrefix(lower, "https://") {
		address = "#"
	}
	return Attr{"href", address}
}

// Num is an attribute of a picture, written as [Coordinate] does.
func Num(name constant, x float64) Attr { return A(name, Coordinate(x)) }

// Coordinate writes a number of a picture, to a tenth of a pixel.
func Coordinate(x float64) string {
	s := strconv.FormatFloat(x, 'f', 1, 64)
	return strings.TrimSuffix(s, ".0")
}
