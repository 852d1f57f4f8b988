// Package lazyregexp compiles regular expressions when they are first used. A
// command pays for those at the top level of all its packages at every start
// otherwise, in time and in memory that stays, while it uses few or none.
//
// A [Regexp] is declared like one of package regexp, with [New] for
// MustCompile. In tests it is compiled at once, so one that does not compile
// fails them all.
package lazyregexp

import (
	"os"
	"regexp"
	"strings"
	"sync"
)

// A Regexp is a regular expression that is compiled when it is first used. It
// is safe for concurrent use.
type Regexp struct{ compiled func() *regexp.Regexp }

// New returns the regular expression of a pattern of package regexp. The first
// use panics if the pattern is none.
func New(pattern string) *Regexp {
	r := &Regexp{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })}
	if len(os.Args) > 0 && strings.HasSuffix(strings.TrimSuffix(os.Args[0], ".exe"), ".test") {
		r.compiled()
	}
	return r
}

// MatchString is that of package regexp.
func (r *Regexp) MatchString(s string) bool { return r.compiled().MatchString(s) }

// FindString is that of package regexp.
func (r *Regexp) FindString(s string) string { return r.compiled().FindString(s) }

// FindStringSubmatch is that of package regexp.
func (r *Regexp) FindStringSubmatch(s string) []string { return r.compiled().FindStringSubmatch(s) }

// FindAllString is that of package regexp.
func (r *Regexp) FindAllString(s string, n int) []string { return r.compiled().FindAllString(s, n) }

// FindAllStringSubmatch is that of package regexp.
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.compiled().FindAllStringSubmatch(s, n)
}

// ReplaceAllString is that of package regexp.
func (r *Regexp) ReplaceAllString(s, repl string) string {
	return r.compiled().ReplaceAllString(s, repl)
}

// ReplaceAllStringFunc is that of package regexp.
func (r *Regexp) ReplaceAllStringFunc(s string, repl func(string) string) string {
	return r.compiled().ReplaceAllStringFunc(s, repl)
}

// ReplaceAllFunc is that of package regexp.
func (r *Regexp) ReplaceAllFunc(b []byte, repl func([]byte) []byte) []byte {
	return r.compiled().ReplaceAllFunc(b, repl)
}

// FindStringIndex is that of package regexp.
func (r *Regexp) FindStringIndex(s string) []int { return r.compiled().FindStringIndex(s) }

// FindAllStringSubmatchIndex is that of package regexp.
func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.compiled().FindAllStringSubmatchIndex(s, n)
}

// Match is that of package regexp.
func (r *Regexp) Match(b []byte) bool { return r.compiled().Match(b) }
