package markup

import (
	"fmt"
	"strconv"
	"strings"
)

// A constant is the name of an element or an attribute. Other packages cannot
// name this type, so they can only pass constants.
type constant string

// An Attr is an attribute of an element. Writing it escapes its value.
type Attr struct {
	name  constant
	value string
}

// A returns an attribute. It panics for names whose values are code, style and
// on…, and for names whose values are addresses, such as href: use [Link] and
// [To] for those.
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

// Class returns the class attribute, with names separated by spaces.
func Class(names string) Attr { return Attr{"class", names} }

// ID returns the id of a place in the page, formatted by fmt.Sprintf.
func ID(format string, args ...any) Attr { return Attr{"id", fmt.Sprintf(format, args...)} }

// To returns the href of a link to a place in the page, formatted by
// fmt.Sprintf.
func To(format string, args ...any) Attr {
	return Attr{"href", "#" + fmt.Sprintf(format, args...)}
}

// Link returns the href of a link to another page. An address that is neither
// http nor https becomes "#".
func Link(address string) Attr {
	lower := strings.ToLower(address)
	if !strings.HasPrefix(lower, "http://") && !strings.HasPrefix(lower, "https://") {
		address = "#"
	}
	return Attr{"href", address}
}

// Num returns a numeric attribute of a picture in the form of [Coordinate].
func Num(name constant, x float64) Attr { return A(name, Coordinate(x)) }

// Coordinate formats a number of a picture, rounded to a tenth of a pixel.
func Coordinate(x float64) string {
	s := strconv.FormatFloat(x, 'f', 1, 64)
	return strings.TrimSuffix(s, ".0")
}
