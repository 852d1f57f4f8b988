package main

import (
	"context"
	"errors"

	"github.com/sortkey/sortkey/bench/contest"
)

// A store keeps readings. Reads call see for each reading that they return, in order.
type store interface {
	// load adds readings that do not exist yet, in the way in which this store adds many readings fastest.
	load(ctx context.Context, all []Reading) error
	get(ctx context.Context, sensor, at string) (Reading, error) // errMissing if there is none
	// prefix reads the readings of a sensor whose time begins with a prefix.
	prefix(ctx context.Context, sensor, prefix string, see func(Reading)) error
	// between reads the readings of a sensor from low to high, both included.
	between(ctx context.Context, sensor, low, high string, see func(Reading)) error
	// index reads the keys (sensor, time and place) of n readings at a place, from a time on.
	index(ctx context.Context, place, from string, n int, see func(Reading)) error
	// filter reads all readings, and calls see for those with a value from low to high.
	filter(ctx context.Context, low, high int, see func(Reading)) error
	put(ctx context.Context, r Reading) error
	// putIf replaces the reading with r's key if the value of that reading is below a limit.
	putIf(ctx context.Context, r Reading, below int) (done bool, err error)
	// add adds n to the value of a reading and returns the new reading.
	add(ctx context.Context, sensor, at string, n int) (Reading, error)
	// putAll puts readings in one transaction.
	putAll(ctx context.Context, all []Reading) error
	close() error
}

var errMissing = errors.New("no such reading")

// A contender is a store that the program can open, or says why it cannot.
type contender struct {
	name    string
	version func() (string, error)
	// open opens the store in an empty folder.
	open func(mode contest.Mode, dir string) (store, error)
	// skipped says why the program does not contain the store.
	skipped string
}

var contenders = []contender{sortkeyContender, bboltContender, badgerContender, modernc, mattn}
