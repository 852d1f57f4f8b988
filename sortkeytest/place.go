package sortkeytest

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// place returns the file and line in the program or its tests that led to the current
// call, such as service.go:42, or "" if it came over the network.
func place() string {
	var pcs [256]uintptr // a call over the wire has more than a hundred
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		frame, more := frames.Next()
		if frame.Function == "testing.tRunner" || frame.Function == "runtime.goexit" || !more {
			return ""
		}
		if !isBetween(frame) {
			return fmt.Sprintf("%s:%d", filepath.Base(frame.File), frame.Line)
		}
	}
}

// at returns " at " and a place, or "".
func at(place string) string {
	if place == "" {
		return ""
	}
	return " at " + place
}

// between are the packages between a program and its database.
var between = []string{"github.com/aws/", "net/http.", "runtime.", "reflect.", "iter.", "sync.", "internal/"}

func isBetween(frame runtime.Frame) bool {
	if strings.HasPrefix(frame.Function, "github.com/sortkey/sortkey") {
		return !strings.HasSuffix(frame.File, "_test.go")
	}
	for _, prefix := range between {
		if strings.HasPrefix(frame.Function, prefix) {
			return true
		}
	}
	return false
}
