package keys

import "time"

// A Timestamp is a time as the text of a key attribute: in UTC, with nine digits after the second, such as
// 2026-01-05T10:00:00.500000000Z. Timestamps sort as their times do. The text of a time.Time does not: it drops
// trailing zeros, so 10:00:00.5Z sorts before 10:00:00Z. Give a key attribute's field the type Timestamp, which is a
// string, so every client stores it unchanged. In a template, use the types time or millis.
type Timestamp string

const timestampLayout = "2006-01-02T15:04:05.000000000Z"

// TimestampOf returns the text of a time. For a time before the year 0 or after the year 9999 in UTC it returns "",
// which DynamoDB refuses as a key.
func TimestampOf(t time.Time) Timestamp {
	t = t.UTC()
	if t.Year() < 0 || t.Year() > 9999 {
		return ""
	}
	return Timestamp(t.Format(timestampLayout))
}

// Time returns the time, in UTC. For text that [TimestampOf] cannot return, the error is an [*Error].
func (t Timestamp) Time() (time.Time, error) {
	at, err := time.Parse(timestampLayout, string(t))
	if err != nil || TimestampOf(at) != t {
		return time.Time{}, &Error{
			Value: string(t), Msg: clip(string(t)) + " is not a Timestamp",
			Advice: "write it as " + string(TimestampOf(sample)) + ", or make one with TimestampOf",
		}
	}
	return at, nil
}
