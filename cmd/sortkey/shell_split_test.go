package main

import (
	"strings"
	"testing"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/shell"
)

func TestSplit(t *testing.T) {
	for _, tt := range []struct {
		line, words, rest string
	}{
		{"$ query \\\n  'a'\"b\"c\\ d \\\r\n --limit 5 # five\n", "$|query|abc d|--limit|5", ""},
		{"scan --output json | jq .", "scan|--output|json", "| jq ."},
		{"get > out", "get", "> out"},
		{"get \"$'\" $x `", "get|$'|$x|`", ""},
	} {
		words, rest, err := shell.Split(tt.line)
		if got := strings.Join(words, "|"); err != nil || got != tt.words || rest != tt.rest {
			t.Errorf("Split(%q) = %q, %q, %v, want %q, %q", tt.line, got, rest, err, tt.words, tt.rest)
		}
	}
	for _, line := range []string{"query 'T", `query "T`} {
		_, _, err := shell.Split(line)
		if want := "is not closed: " + line[6:]; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Split(%s) = %v, want %s", line, err, want)
		}
	}
}

func TestSplitPartial(t *testing.T) {
	for _, tt := range []struct{ line, words, last, rest, quote string }{
		{"", "", "", "", ""},
		{"query", "", "query", "query", ""},
		{"query ", "query", "", "", ""},
		{"query Drive 'DRIVE#a", "query|Drive", "DRIVE#a", "'DRIVE#a", "'"},
		{"query Drive DRIVE#a", "query|Drive", "DRIVE#a", "DRIVE#a", ""},
		{`get "a b" "c\"d`, "get|a b", `c"d`, `"c\"d`, `"`},
		{`get \#a`, "get", "#a", `\#a`, ""},
		{`get x'y z'"w`, "get", "xy zw", `x'y z'"w`, `"`},
		{"get '' '", "get|", "", "'", "'"},
	} {
		p, ok := shell.SplitPartial(tt.line)
		words := strings.Join(p.Words, "|")
		if !ok || words != tt.words || p.Last != tt.last || tt.line[p.Start:] != tt.rest || p.Quote != tt.quote {
			t.Errorf("SplitPartial(%s) = %+v, %v", tt.line, p, ok)
		}
	}
	for _, line := range []string{"get > ", "a | b"} {
		if p, ok := shell.SplitPartial(line); ok {
			t.Errorf("SplitPartial(%s) = %+v", line, p)
		}
	}
}
