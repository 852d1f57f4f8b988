package lazyregexp_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/lazyregexp"
)

func TestRegexp(t *testing.T) {
	r := lazyregexp.New(`a(b+)`)
	require.True(t, r.MatchString("xabby"))
	require.Equal(t, "abb", r.FindString("xabby"))
	require.Equal(t, []string{"abb", "bb"}, r.FindStringSubmatch("xabby"))
	require.Equal(t, "x-y", r.ReplaceAllString("xabby", "-"))
	require.Equal(t, []int{1, 4}, r.FindStringIndex("xabby"))
	require.Equal(t, [][]int{{1, 4, 2, 4}}, r.FindAllStringSubmatchIndex("xabby", -1))
	require.True(t, r.Match([]byte("xabby")))
	require.Equal(t, []string{"ab", "abb"}, r.FindAllString("abcabb", -1))
	require.Equal(t, [][]string{{"ab", "b"}, {"abb", "bb"}}, r.FindAllStringSubmatch("abcabb", -1))
	require.Equal(t, "xABBy", r.ReplaceAllStringFunc("xabby", strings.ToUpper))
	require.Equal(t, "xABBy", string(r.ReplaceAllFunc([]byte("xabby"), bytes.ToUpper)))
	require.Panics(t, func() { lazyregexp.New(`(`) }, "in tests, at once")
}
