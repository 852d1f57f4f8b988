// Package report writes what package design/check found: one HTML file with
// pictures for people ([HTML]), JSON for programs ([JSON]), and SARIF for code
// review ([SARIF]). Text for terminals is written by design/check itself.
//
// The page needs nothing but itself: pictures are SVG, styles are inside, and
// there is no script. Whatever comes from a model goes through the methods of
// one small writer, which escape it.
package report
