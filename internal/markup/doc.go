// Package markup writes HTML pages and SVG pictures. A [Writer] has no method
// that writes raw text. It escapes every text and every attribute value, and
// closes every element, so the result is both HTML and well-formed XML. The
// compiler ensures that names of elements and attributes are constants.
//
// It replaces html/template, which uses reflect's MethodByName. The linker then
// keeps every exported method of every type, which made the command a quarter
// larger.
//
//	var w markup.Writer
//	w.Doctype()
//	w.Open("p", markup.Class("note"))
//	w.Text(anything)
//	w.Close()
//	_, err := w.WriteTo(out)
package markup
