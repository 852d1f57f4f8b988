package lint

import "github.com/sortkey/sortkey/keys"

// parseType is [keys.ParseType] for types written here.
func parseType(text string) (keys.Type, bool) {
	t, err := keys.ParseType(text)
	return t, err == nil
}

// timed reports whether the byte order of a type is the order of time.
func timed(t keys.Type) bool {
	switch t.Name {
	case "year", "month", "date", "time", "millis", "micros", "nanos", "epoch", "epochms", "ulid", "ksuid":
		return true
	}
	return false
}

// moment reports whether a type is a moment or a day.
func moment(t keys.Type) bool { return timed(t) && t.Name != "ulid" && t.Name != "ksuid" }
