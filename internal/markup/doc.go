// Package markup writes HTML pages and SVG pictures. A [Writer] has no method
// that writes a value as it is: every text and every attribute is escaped, and
// every element is closed, so the result is HTML and well-formed XML at once.
// Names of elements and attributes are constants of the code that writes, which
// the compiler sees to.
//
// It does the work of html/template, which reaches reflect's MethodByName: a
// program that can reach that keeps every exported method of every type it
// links, which made the command larger by a quarter.
//
//	var w markup.Writer
//	w.Doctype()
//	w.Open("p", markup.Class("note"))
//	w.Text(anything)
//	w.Close()
//	_, err := w.WriteTo(out)
package markup
