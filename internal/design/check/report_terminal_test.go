package check_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/terminal"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

func TestLines(t *testing.T) {
	require.Equal(t, 4, terminal.Width("漢字"))
	require.Equal(t, "ab  ", terminal.Pad("ab", 4))
	require.Equal(t, "abc", terminal.Clip("abc", 3))
	require.Equal(t, "ab…", terminal.Clip("abcd", 3))
	require.Equal(t, "漢…", terminal.Clip("漢字漢字", 4))
	require.Equal(t, "ORDE…6-01", terminal.ClipMiddle("ORDER#2026-01", 9))
	long := strings.Repeat("x", 40)
	for _, tt := range []struct {
		in   string
		want []string
	}{
		{"", []string{""}},
		{"one two three", []string{"one two", "three"}},
		{"one  two\nthree", []string{"one two", "three"}},
		{long + " a", []string{long, "a"}},
		{`a "key with spaces", b`, []string{"a", `"key with spaces",`, "b"}},
		{`a "k \" q r" b`, []string{"a", `"k \" q r"`, "b"}},
		{`an inch is 1" of it`, []string{"an inch", `is 1" of`, "it"}},
	} {
		require.Equal(t, tt.want, terminal.Wrap(tt.in, 9), tt.in)
	}
	proptest.Check(t, 200, func(t *proptest.T) {
		s, width := t.Text("ab漢é\U0001f600", 0, 30), t.Between(3, 20)
		require.LessOrEqual(t, terminal.Width(terminal.Clip(s, width)), width)
		require.LessOrEqual(t, terminal.Width(terminal.ClipMiddle(s, width)), width)
	})
}

func TestCaret(t *testing.T) {
	require.Equal(t, "a = :v AND\n       ^", terminal.Caret("a = :v AND", 7))
	require.Equal(t, "second line\n       ^", terminal.Caret("first\nsecond line\nthird", 13))
	require.Equal(t, "\n^", terminal.Caret("", 5))
}
