package api

import (
	"context"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/api/event"
	"github.com/sortkey/sortkey/internal/item"
	"github.com/sortkey/sortkey/internal/wire"
)

// maxAnswer is the most JSON that the items of a response have together, unless it
// has one item only. The documented sizes that end a page, a batch or a transaction
// bound it for ordinary items, but a number takes up to 132 digits in JSON where its
// documented size is 2 bytes, so an item of 400 KB may have 19 MB of JSON.
const maxAnswer = 32 << 20

const (
	// maxItemJSON is a bound for the JSON of one item of 400 KB: a list of numbers.
	maxItemJSON = 20 << 20

	// uncounted is the documented size of the first items of a response, whose JSON,
	// at most 47 times that, is not counted. So small responses cost nothing more.
	uncounted = 64 << 10

	// maxUncounted is how much JSON these have.
	maxUncounted = 47 * uncounted
)

// An answer counts the JSON of the items of one response while they are gathered.
type answer struct {
	items int
	size  int // documented, of all items
	json  int // of the items beyond the first [uncounted] bytes
}

// add counts an item whose JSON has n bytes; 0 means that the caller does not know.
func (a *answer) add(it attr.Item, n int) {
	a.items++
	if a.size += it.Size(); a.size <= uncounted {
		return
	}
	if n == 0 {
		n = item.JSONLen(it)
	}
	a.json += n
}

// full reports whether another item, whatever it is, could exceed [maxAnswer].
func (a *answer) full() bool { return a.json >= maxAnswer-maxUncounted-maxItemJSON }

// fits counts an item and reports true, or does nothing and reports false if the
// response would have more than [maxAnswer]. The first item always fits.
func (a *answer) fits(it attr.Item) bool {
	with := *a
	with.add(it, 0)
	if a.items > 0 && with.json > maxAnswer-maxUncounted {
		return false
	}
	*a = with
	return true
}

// reserve reserves the memory of the response before it is encoded, and returns the error
// of a server that has no more.
func (a *answer) reserve(ctx context.Context) error {
	return reserve(event.CallOf(ctx).Reservation, a.json)
}

func reserve(reservation event.Reservation, bytes int) error {
	if reservation != nil && !reservation.Reserve(bytes) {
		return wire.ServiceUnavailable("The server is busy.")
	}
	return nil
}
