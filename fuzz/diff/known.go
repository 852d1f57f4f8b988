package main

// known is a difference whose reason is understood.
type known struct {
	peer   string // "" for all
	op     string // "" for all
	match  func(kind string, ours, peer answer) bool
	reason string
}

// explain returns the reason of a difference, or "".
func explain(peer, op, kind string, ours, theirs answer) string {
	for _, k := range knownDifferences {
		if (k.peer == "" || k.peer == peer) && (k.op == "" || k.op == op) && k.match(kind, ours, theirs) {
			return k.reason
		}
	}
	return ""
}

var knownDifferences = []known{}
