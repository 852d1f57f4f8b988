package lint

import (
	"slices"
	"time"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/keys"
)

// plain reports whether values of a type are arbitrary text. Paths are not plain.
func plain(t keys.Type) bool { return t.Name == "" || t.Name == "string" }

// textual reports whether values of a type are arbitrary text or paths.
func textual(t keys.Type) bool { return plain(t) || t.Name == "path" }

// sortsByTime reports whether values of a type sort by time.
func sortsByTime(t keys.Type) bool { return model.Moment(t) || t.Name == "ulid" || t.Name == "ksuid" }

// precision returns the precision of a type of times, or 0 for other types.
func precision(t keys.Type) time.Duration {
	switch t.Name {
	case "time", "epoch":
		return time.Second
	case "millis", "epochms":
		return time.Millisecond
	case "micros":
		return time.Microsecond
	case "nanos":
		return time.Nanosecond
	}
	return 0
}

// timeField returns the name and the type of the first time of an entity: of a field or of a component of its key.
// Both are "" if the entity has no time.
func timeField(e *model.Entity) (name, typ string) {
	for _, f := range e.Fields {
		if model.Moment(f.Type) {
			return f.Name, f.Type.String()
		}
	}
	for _, t := range e.Attributes {
		if t.Template == nil {
			continue
		}
		for _, p := range t.Template.Parts() {
			if p.Name != "" && model.Moment(p.Type) {
				return p.Name, p.Type.String()
			}
		}
	}
	return "", ""
}

// longest returns the largest number of bytes that a template can produce. It counts 0 bytes for a value whose length
// neither the type nor the field limits.
func longest(e *model.Entity, parts []keys.Part) (n int) {
	for _, p := range parts {
		width, fixed := p.Type.Fixed()
		f := e.Field(p.Name)
		switch {
		case p.Name == "":
			n += len(p.Literal)
		case fixed:
			n += width
		case f != nil:
			longest := f.MaxSize
			for _, v := range slices.Concat(f.Values, p.Type.Values) {
				longest = max(longest, len(v))
			}
			n += longest
		}
	}
	return n
}
