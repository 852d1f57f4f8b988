package lint

import (
	"encoding/json"
	"regexp"

	"github.com/sortkey/sortkey/internal/design/model"
)

// byTime matches words in the name of a pattern that asks for rows in order of
// time.
var byTime = regexp.MustCompile(`(?i)\b(newest|latest|recent|recently|lately|oldest|chronological(ly)?|by (date|time|day)|in order of time|timeline|feed|last (\d+|few|two|three|five|ten|day|week|hour|month)s?)\b`)

// An ordering is the order in which a pattern wants its rows, as it declares
// and as its name says.
type ordering struct {
	ordered, descending, limited bool
	words                        bool
}

func orderingOf(q *query) ordering {
	w := ordering{
		ordered: q.p.Ordered, descending: q.p.Descending, limited: q.p.Limit > 0, words: byTime.MatchString(q.p.Name),
	}
	var raw struct {
		ScanIndexForward *bool
		Limit            int
	}
	if q.p.Request != nil && json.Unmarshal(q.p.Request, &raw) == nil {
		w.ordered = raw.ScanIndexForward != nil
		w.descending = w.ordered && !*raw.ScanIndexForward
		w.limited = raw.Limit > 0
	}
	return w
}

// severity returns the severity of a finding about rows in another order, or 0
// if that does not matter. Random says that their order is random, and timed
// that they have a time.
func (w ordering) severity(random, timed bool) model.Severity {
	switch {
	case w.words, random && w.ordered:
		return model.Warning
	case random && w.limited && timed, !random && w.descending && w.limited:
		return model.Note
	}
	return 0
}

// reads returns the verb phrase for the rows that the pattern reads.
func (w ordering) reads() string {
	switch {
	case w.descending && w.limited:
		return "reads the last"
	case w.limited:
		return "reads the first"
	case w.descending:
		return "reads, last row first,"
	}
	return "reads"
}
