package designtest_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/sortkey/sortkey/design"
	"github.com/sortkey/sortkey/design/designtest"
)

func TestRun(t *testing.T) {
	designtest.Run(t, "../../internal/design/modelfile/testdata/shop.yaml", design.Options{MaxItems: 500})
}

// TestFailing is run by TestFailures in a separate process.
func TestFailing(t *testing.T) {
	if os.Getenv("DESIGNTEST_FAILING") == "" {
		t.Skip("run by TestFailures")
	}
	designtest.Run(t, "testdata/failing.yaml", design.Options{})
}

func TestFailures(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestFailing$", "-test.v")
	cmd.Env = append(os.Environ(), "DESIGNTEST_FAILING=1")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Error("a model that reads too much passes")
	}
	for _, want := range []string{
		"--- PASS: TestFailing/what_is_in_drive_a",
		"--- FAIL: TestFailing/one_file",
		"testdata/failing.yaml:16:13: expected 1 row, got 2",
		`key "D#a", "F#one#x"`,
		"--- FAIL: TestFailing/lint",
		"component-order: SK has its components in the wrong order",
		"--- FAIL: TestFailing/no_range",
		"testdata/failing.yaml:18:35: the pattern is not one request: name comes after kind in SK",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the output has no %s:\n%s", want, out)
		}
	}
}
