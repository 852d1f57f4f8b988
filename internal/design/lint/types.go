package lint

import "github.com/sortkey/sortkey/keys"

// parseType parses a type that the rules themselves have written.
func parseType(s string) (keys.Type, bool) {
	t, err := keys.ParseType(s)
	return t, err == nil
}

// timed reports whether the byte order of a type is chronological.
func timed(t keys.Type) bool {
	switch t.Name {
	case "year", "month", "date", "time", "millis", "micros", "nanos", "epoch", "epochms", "ulid", "ksuid":
		return true
	}
	return false
}

// moment reports whether a type is a point in time or a day.
func moment(t keys.Type) bool { return timed(t) && t.Name != "ulid" && t.Name != "ksuid" }
