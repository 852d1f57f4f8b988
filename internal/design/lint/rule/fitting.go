package rule

import (
	"fmt"
	"time"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/keys"
)

// timeLayouts are the formats of dates in which people write, for [fitting].
var timeLayouts = []string{
	time.RFC3339Nano, "2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02T15:04",
	"2006-1-2", "2006/01/02",
	"02/01/2006", "01/02/2006", "02.01.2006", "02-01-2006", "20060102T150405Z", "20060102T150405", "2 Jan 2006",
	"Jan 2, 2006", "Jan 2 2006", "January 2 2006", "January 2, 2006", "2 January 2006", "2-Jan-2006", time.RFC1123,
}

// fitting returns a value that the type accepts: the value itself, the same
// time in another format, or an example.
func fitting(t keys.Type, value string, i int) string {
	if _, err := t.Encode(value); err == nil && value != "" {
		return value
	}

	if model.Moment(t) {
		at := time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC)
		if shape, _ := ShapeOf(value); shape.Epoch() {
			var seconds int64
			fmt.Sscan(value[:10], &seconds)
			at = time.Unix(seconds, int64(len(value)-10)*1e6)
		}
		for _, layout := range timeLayouts {
			if parsed, err := time.Parse(layout, value); err == nil {
				at = parsed
				break
			}
		}
		return at.UTC().Format(time.RFC3339Nano)
	}

	switch {
	case Textual(t) && t.Width > 0:
		return fmt.Sprintf("%0*d", t.Width, i)[:t.Width]
	case Textual(t):
		return fmt.Sprintf("n%d", i)
	case t.Name == "ulid":
		return fmt.Sprintf("01KE5WGCV08GZZZZZZZZZZ%04d", i)
	case t.Name == "uuid":
		return fmt.Sprintf("123e4567-e89b-42d3-a456-42661417%04d", i)
	case Numeric(t) && t.Width > 0:
		return fmt.Sprint(i % 10)
	}
	return example(nil, t)
}
