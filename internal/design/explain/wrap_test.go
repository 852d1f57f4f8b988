package explain_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/explain"
)

func TestWrap(t *testing.T) {
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
		{"\x1b[32m1.\x1b[0m 34567 9", []string{"\x1b[32m1.\x1b[0m 34567", "9"}},
	} {
		require.Equal(t, tt.want, explain.Wrap(tt.in, 9), tt.in)
	}
}
