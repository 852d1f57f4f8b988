package report_test

import (
	"strings"
	"testing"

	"github.com/sortkey/sortkey/internal/design/report"
)

func TestShort(t *testing.T) {
	for _, tt := range []struct {
		in   string
		n    int
		want string
	}{
		{"root/photos", 11, "root/photos"},
		{"root/photos", 10, "root/…otos"},
		{"root/photos", 3, "r…s"},
		{"äöüäöü", 5, "äö…öü"},
		{"", 5, ""},
	} {
		if got := report.Short(tt.in, tt.n); got != tt.want {
			t.Errorf("short(%q, %d) = %q, want %q", tt.in, tt.n, got, tt.want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		in       string
		n, lines int
		want     string
	}{
		{"direct children of root/", 12, 3, "direct|children of|root/"},
		{"direct children of root/", 12, 2, "direct|children of…"},
		{"everything-under-root", 9, 3, "ever…root"},
		{"  ", 9, 3, ""},
	} {
		if got := strings.Join(report.Wrap(tt.in, tt.n, tt.lines), "|"); got != tt.want {
			t.Errorf("wrap(%q, %d, %d) = %q, want %q", tt.in, tt.n, tt.lines, got, tt.want)
		}
	}
}
