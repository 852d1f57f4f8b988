package tests_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sortkey/sortkey/internal/tests/proptest"
)

func TestCheckPasses(t *testing.T) {
	cases := 0
	proptest.Check(t, 50, func(t *proptest.T) {
		cases++
		if n := t.Between(3, 7); n < 3 || n > 7 {
			t.Errorf("Between(3, 7) = %d", n)
		}
		if s := t.Text("ab", 0, 4); len(s) > 4 || strings.Trim(s, "ab") != "" {
			t.Fatalf("Text = %q", s)
		}
	})
	if want := proptest.Cases(50); cases != want {
		t.Errorf("%d cases, want %d", cases, want)
	}
}

func TestPlayReports(t *testing.T) {
	cleaned := false
	got := proptest.Play(t, []byte{5}, func(t *proptest.T) {
		t.Cleanup(func() { cleaned = true })
		t.Logf("before")
		t.Fatalf("%d is wrong", t.IntN(10))
	})
	if got != "before\n5 is wrong" || !cleaned {
		t.Errorf("Play = %q, cleaned %v", got, cleaned)
	}
	if got := proptest.Play(t, nil, func(*proptest.T) { panic("on purpose") }); !strings.HasPrefix(got, "panic: on purpose\n") {
		t.Errorf("Play of a panic = %q", got)
	}
	if got := proptest.Play(t, nil, func(t *proptest.T) { t.Logf("nothing wrong") }); got != "" {
		t.Errorf("Play of a case that passes = %q", got)
	}
}

// TestShrinks checks that a reported tape is small.
func TestShrinks(t *testing.T) {
	shortest := 1 << 30
	inner := &testing.T{}
	func() {
		defer func() { _ = recover() }() // the inner test panics, as it has no parent to report to
		proptest.CheckTapes(inner, 20, 50, 100, func(tape []byte) string {
			for _, b := range tape {
				if b > 200 {
					shortest = min(shortest, len(tape))
					return "a byte is large"
				}
			}
			return ""
		}, nil)
	}()
	if shortest > 2 {
		t.Errorf("the smallest failing tape has %d bytes, want 1 or 2", shortest)
	}
}

// TestPlayOn checks that choices come first from the tape and then from the reader.
func TestPlayOn(t *testing.T) {
	more := strings.NewReader("abcdef")
	report := proptest.PlayOn(t, []byte{1}, more, func(t *proptest.T) {
		if got := []int{t.IntN(256), t.IntN(256), t.IntN(256)}; !slices.Equal(got, []int{1, 'a', 'b'}) {
			t.Errorf("the choices are %v", got)
		}
		t.FailNow()
	})
	if report != "failed" {
		t.Errorf("PlayOn = %q", report)
	}
}

func TestAnyText(t *testing.T) {
	proptest.Check(t, 100, func(t *proptest.T) {
		if s := t.AnyText(1, 9); !utf8.ValidString(s) || s == "" || utf8.RuneCountInString(s) > 9 {
			t.Errorf("AnyText = %q", s)
		}
	})
}
