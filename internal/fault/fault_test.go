package fault

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLike(t *testing.T) {
	for _, tt := range []struct {
		pattern, text string
		want          bool
	}{
		{"a", "a", true}, {"a", "ab", false}, {"a*", "ab", true}, {"*", "", true}, {"*b", "ab", true}, {"*b", "ba", false},
		{"a*c", "abc", true}, {"a*c", "ac", true}, {"a*a", "a", false}, {"a*b*c", "axbxc", true}, {"a*b*c", "axc", false}, {"**", "x", true},
		{"ORDER#*", "ORDER#1", true}, {"ORDER#*", "USER#1", false},
	} {
		require.Equal(t, tt.want, like(tt.pattern, tt.text), "%s %s", tt.pattern, tt.text)
	}
}

func TestSet(t *testing.T) {
	var s Set
	require.True(t, s.Empty())
	call := &Call{Operation: "PutItem", Tables: []string{"A", "B"}, Index: "I", Keys: func() []string { return []string{"k1"} }}
	for _, r := range []*Rule{{Operation: "GetItem"}, {Table: "C"}, {Index: "J"}, {Key: "x*"}, {Operation: "PutItem", Skip: 1}} {
		r.Code = "wrong"
		s.Add(r)
		require.Nil(t, s.Match(call), r)
		s.Remove(r)
	}
	require.True(t, s.Empty())
	twice := &Rule{Operation: "PutItem", Table: "B", Index: "I", Key: "k*", Skip: 1, Times: 2, Effect: Effect{Code: "X"}}
	s.Add(twice)
	require.False(t, s.Empty())
	var got []bool
	for range 5 {
		got = append(got, s.Match(call) != nil)
	}
	require.Equal(t, []bool{false, true, true, false, false}, got)
	require.Equal(t, 2, twice.Met())
	require.Contains(t, s.Calls(), "× PutItem A, B")
	s.Remove(twice)
	script := &Rule{Skip: 1, Script: "x.x", Effect: Effect{Code: "X"}}
	s.Add(script)
	got = nil
	for range 6 {
		got = append(got, s.Match(call) != nil)
	}
	require.Equal(t, []bool{false, true, false, true, false, false}, got)
	chance := &Rule{Chance: 0.5, Seed: 7}
	s.Add(chance)
	for range 200 {
		s.Match(call)
	}
	require.InDelta(t, 100, chance.Met(), 40)
}
