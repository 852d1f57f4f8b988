package api

import (
	"context"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/api/event"
	"github.com/sortkey/sortkey/internal/item"
	"github.com/sortkey/sortkey/internal/wire"
)

// maxAnswer is the maximum length in bytes of the JSON of all items of a response. A response with a single item may
// exceed it. The documented size limits of pages, batches and transactions do not limit the JSON enough: a number
// whose documented size is 2 bytes takes up to 132 digits, so the JSON of a 400 KB item may have 19 MB.
const maxAnswer = 32 << 20

const (
	// maxItemJSON is the maximum length of the JSON of a 400 KB item. The worst case is a list of numbers.
	maxItemJSON = 20 << 20

	// uncounted is how many bytes of items, by their documented size, an [answer] takes before it measures the JSON
	// of items. So it measures nothing for a small response.
	uncounted = 64 << 10

	// maxUncounted is the maximum length of the JSON of the items that an answer does not measure. An item has at
	// most 47 bytes of JSON for each byte of its documented size.
	maxUncounted = 47 * uncounted
)

// An answer adds up the size of the JSON of a response's items while an operation collects them.
type answer struct {
	items int
	size  int // documented, of all items
	json  int // bytes of JSON of the measured items
}

// add counts an item whose JSON has n bytes. If n is 0, add measures the item itself.
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

// full reports whether the response could exceed [maxAnswer] with one more item of the largest size.
func (a *answer) full() bool { return a.json >= maxAnswer-maxUncounted-maxItemJSON }

// fits counts an item and returns true. If the response would exceed [maxAnswer] with this item, fits does not count
// the item and returns false. The first item always fits.
func (a *answer) fits(it attr.Item) bool {
	with := *a
	with.add(it, 0)
	if a.items > 0 && with.json > maxAnswer-maxUncounted {
		return false
	}
	*a = with
	return true
}

// reserve reserves memory for the response before it is encoded. It returns an error if the server has no memory
// left.
func (a *answer) reserve(ctx context.Context) error {
	return reserve(event.CallOf(ctx).Reservation, a.json)
}

func reserve(reservation event.Reservation, bytes int) error {
	if reservation != nil && !reservation.Reserve(bytes) {
		return wire.ServiceUnavailable("The server is busy.")
	}
	return nil
}
