package api_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	faults "github.com/sortkey/sortkey/internal/api/fault"
)

// TestFaultKeys tests the patterns of keys, in which * stands for any text.
func TestFaultKeys(t *testing.T) {
	for _, tt := range []struct {
		pattern, text string
		want          bool
	}{
		{"a", "a", true}, {"a", "ab", false}, {"a*", "ab", true}, {"*", "", true}, {"*b", "ab", true},
		{"*b", "ba", false},
		{"a*c", "abc", true}, {"a*c", "ac", true}, {"a*a", "a", false}, {"a*b*c", "axbxc", true},
		{"a*b*c", "axc", false}, {"**", "x", true}, {"ORDER#*", "ORDER#1", true}, {"ORDER#*", "USER#1", false},
	} {
		var s faults.Set
		s.Add(&faults.Rule{Fault: faults.Fault{Key: tt.pattern}})
		got := s.Match(&faults.Call{Operation: "GetItem", Keys: func(string) []string { return []string{tt.text} }}) != nil
		require.Equal(t, tt.want, got, "%s %s", tt.pattern, tt.text)
	}
}

func TestFaultSet(t *testing.T) {
	var s faults.Set
	require.True(t, s.Empty())
	call := &faults.Call{
		Operation: "PutItem", Tables: []string{"A", "B"}, Index: "I", Keys: func(string) []string { return []string{"k1"} },
	}
	for _, f := range []faults.Fault{
		{Operation: "GetItem"}, {Table: "C"}, {Index: "J"}, {Key: "x*"}, {Operation: "PutItem", Skip: 1},
	} {
		f.Code = "wrong"
		r := &faults.Rule{Fault: f}
		s.Add(r)
		require.Nil(t, s.Match(call), r)
		s.Remove(r)
	}
	require.True(t, s.Empty())
	twice := &faults.Rule{Fault: faults.Fault{Operation: "PutItem", Table: "B", Index: "I", Key: "k*", Skip: 1, Times: 2, Code: "X"}}
	s.Add(twice)
	require.False(t, s.Empty())
	var got []bool
	for range 5 {
		got = append(got, s.Match(call) != nil)
	}
	require.Equal(t, []bool{false, true, true, false, false}, got)
	require.Equal(t, 2, twice.Met())
	require.Equal(t, "the calls were 5 × PutItem A, B", twice.Calls())
	s.Remove(twice)
	script := &faults.Rule{Fault: faults.Fault{Skip: 1, Nth: []int{1, 3}, Code: "X"}}
	s.Add(script)
	got = nil
	for range 6 {
		got = append(got, s.Match(call) != nil)
	}
	require.Equal(t, []bool{false, true, false, true, false, false}, got)
	chance := &faults.Rule{Fault: faults.Fault{Chance: 0.5, Seed: 7}}
	s.Add(chance)
	for range 200 {
		s.Match(call)
	}
	require.InDelta(t, 100, chance.Met(), 40)
}

// If an earlier rule makes a call fail, a later rule counts the call as passed.
func TestFaultsOverlap(t *testing.T) {
	var s faults.Set
	first, second := &faults.Rule{Fault: faults.Fault{Times: 2, Code: "A"}}, &faults.Rule{Fault: faults.Fault{Times: 1, Code: "B"}}
	s.Add(first)
	s.Add(second)
	var got []string
	for range 4 {
		code := ""
		if e := s.Match(&faults.Call{Operation: "GetItem"}); e != nil {
			code = e.Code
		}
		got = append(got, code)
	}
	require.Equal(t, []string{"A", "A", "B", ""}, got)
	require.Equal(t, 1, second.Met())
	require.Equal(t, "the calls were 4 × GetItem", second.Calls())
}

// A rule whose effect is for some operations does not match other operations.
func TestEffectsOfOperations(t *testing.T) {
	for operation, want := range map[string][2]bool{
		"PutItem": {}, "Query": {}, "BatchExecuteStatement": {},
		"TransactWriteItems": {true, false}, "TransactGetItems": {true, false}, "ExecuteTransaction": {true, false},
		"BatchWriteItem": {false, true}, "BatchGetItem": {false, true},
	} {
		for i, r := range []*faults.Rule{{Fault: faults.Fault{Reasons: []string{"X"}}}, {Fault: faults.Fault{Unprocessed: 1}}} {
			var s faults.Set
			s.Add(r)
			require.Equal(t, want[i], s.Match(&faults.Call{Operation: operation}) != nil, "%s %s", operation, r)
		}
	}
}

// A rule does not report calls made before it was added.
func TestFaultCalls(t *testing.T) {
	var s faults.Set
	early, late := &faults.Rule{
		Fault: faults.Fault{Operation: "Scan", Skip: 1},
	}, &faults.Rule{Fault: faults.Fault{Operation: "PutItem", Reasons: []string{"X"}}}
	s.Add(early)
	s.Match(&faults.Call{Operation: "GetItem", Tables: []string{"A"}})
	s.Add(late)
	s.Match(&faults.Call{Operation: "ListTables"})
	require.Equal(t, "Scan, after one call; the calls were 1 × GetItem A; 1 × ListTables",
		early.String()+"; "+early.Calls())
	require.Equal(t, "PutItem, transactions only; the calls were 1 × ListTables", late.String()+"; "+late.Calls())
	require.Equal(t, "no calls were made", new(faults.Rule).Calls())
}
