package lint

import (
	"encoding/json"

	"regexp"

	"github.com/sortkey/sortkey/internal/design"
)

// byTime are words in names of patterns that want rows in order of time.
var byTime = regexp.MustCompile(`(?i)\b(newest|latest|recent|recently|lately|oldest|chronological(ly)?|by (date|time|day)|in order of time|timeline|feed|last (\d+|few|two|three|five|ten|day|week|hour|month)s?)\b`)

// A wish is what a pattern says of the order of its rows: what it declares, and
// the words of its name.
type wish struct {
	ordered, descending, limited bool
	words                        bool
}

func wishOf(q *query) wish {
	w := wish{ordered: q.p.Ordered, descending: q.p.Descending, limited: q.p.Limit > 0, words: byTime.MatchString(q.p.Name)}
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

// severity returns how bad it is that rows with a time, or without one, come in
// another order; 0 is not at all.
func (w wish) severity(random, timed bool) design.Severity {
	switch {
	case w.words, random && w.ordered:
		return design.Warning
	case random && w.limited && timed, !random && w.descending && w.limited:
		return design.Note
	}
	return 0
}

// reads says what the pattern reads.
func (w wish) reads() string {
	switch {
	case w.descending && w.limited:
		return "reads the last"
	case w.limited:
		return "reads the first"
	case w.descending:
		return "reads, from the last back,"
	}
	return "reads"
}
