package gen_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/awscli"
)

// FuzzSplit holds that Split reads back a quoted word, and that no line panics.
func FuzzSplit(f *testing.F) {
	f.Add(`aws dynamodb query --table-name T --expression-attribute-values ':a={S="x, y"}' --limit 5 | jq`)
	f.Add("scan --table-name \"a\\\"b\" \\\n --cli-input-json '{}' # end")
	f.Add("query $'it\\'s' `ls` $x \"$y\"")
	f.Fuzz(func(t *testing.T, line string) {
		words, _, err := awscli.Split(line)
		if err != nil {
			return
		}
		quoted := make([]string, len(words))
		for i, word := range words {
			quoted[i] = awscli.Quote(word)
		}
		again, rest, err := awscli.Split(strings.Join(quoted, " "))
		if err != nil || rest != "" || !slices.Equal(words, again) {
			t.Errorf("Split(%q) = %q, and quoted it is %q, %q, %v", line, words, again, rest, err)
		}
	})
}

func TestSplit(t *testing.T) {
	for _, tt := range []struct {
		line, words, rest string
	}{
		{"$ query \\\n  'a'\"b\"c\\ d \\\r\n --limit 5 # five\n", "$|query|abc d|--limit|5", ""},
		{"scan --output json | jq .", "scan|--output|json", "| jq ."},
		{"get > out", "get", "> out"},
		{`get "$'"`, "get|$'", ""},
	} {
		words, rest, err := awscli.Split(tt.line)
		if got := strings.Join(words, "|"); err != nil || got != tt.words || rest != tt.rest {
			t.Errorf("Split(%q) = %q, %q, %v, want %q, %q", tt.line, got, rest, err, tt.words, tt.rest)
		}
	}
	for _, tt := range []struct{ line, want, todo string }{
		{`query 'T`, "the quote ' is not closed: 'T", ""},
		{`query "T`, `the quote " is not closed: "T`, ""},
		{`query $'\t'`, `variables and commands are not expanded: $'\t'`, "single quotes"},
		{"query `ls`", "not expanded: `ls`", "single quotes"},
		{`query $TABLE`, `variables and commands are not expanded: $TABLE`, ""},
		{"query \"`date`\"", `variables and commands are not expanded`, ""},
	} {
		_, _, err := awscli.Split(tt.line)
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(advice.Of(err), tt.todo) {
			t.Errorf("Split(%s) = %v (%s), want %s (%s)", tt.line, err, advice.Of(err), tt.want, tt.todo)
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
		p, ok := awscli.SplitPartial(tt.line)
		words := strings.Join(p.Words, "|")
		if !ok || words != tt.words || p.Last != tt.last || tt.line[p.Start:] != tt.rest || p.Quote != tt.quote {
			t.Errorf("SplitPartial(%s) = %+v, %v", tt.line, p, ok)
		}
	}
	for _, line := range []string{"get > ", "get $x", "a | b", `get "$x`} {
		if p, ok := awscli.SplitPartial(line); ok {
			t.Errorf("SplitPartial(%s) = %+v", line, p)
		}
	}
}
