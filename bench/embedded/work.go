package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/bench/contest"
)

// A call is one operation with its arguments. It calls see for each reading that it returns.
type call func(ctx context.Context, s store, see func(Reading)) error

// A work is an operation to measure.
type work struct {
	contest.Work
	writes bool
	// unordered is set when stores may return readings in any order.
	unordered bool
	// call returns a call of the work that concerns item i.
	call func(d dataset, i int) call
}

const (
	prefixRows = perHour
	rangeRows  = 1000
	indexRows  = 10
	filterPart = 100 // the filter keeps one of this many items
	together   = 4   // items in a transaction
)

// works returns the works on a dataset.
func works(d dataset) []work {
	return []work{
		{
			Work: contest.Work{Name: "get", About: "Get of an item into a struct", Rows: 1, Below: tableGet.Name},
			call: callGet,
		},
		{
			Work: contest.Work{Name: "query-10", About: "Query of 10 items by prefix", Rows: prefixRows},
			call: callPrefix,
		},
		{
			Work: contest.Work{Name: "query-1000", About: "Query of 1,000 items by range", Rows: rangeRows},
			call: callRange,
		},
		{
			Work: contest.Work{
				Name: "index-10", About: "Query of the keys of 10 items through an index", Rows: indexRows,
			},
			call: callIndex,
		},
		{
			Work: contest.Work{
				Name: "filter", About: "Scan with a filter that keeps 1 of 100", Rows: d.items / filterPart,
			},
			unordered: true, call: callFilter,
		},
		{
			Work:   contest.Work{Name: "put", About: "Put that changes an item and its place in the index"},
			writes: true, call: callPut,
		},
		{
			Work:   contest.Work{Name: "put-if", About: "The same put with a condition that holds"},
			writes: true, call: callPutIf,
		},
		{Work: contest.Work{Name: "counter", About: "Update of a counter", Rows: 1}, writes: true, call: callAdd},
		{Work: contest.Work{Name: "transact-4", About: "Transaction of 4 such puts"}, writes: true, call: callTransact},
	}
}

// tableGet is the same work as get, but uses the layer below the operations and does not make a struct.
var tableGet = work{Work: contest.Work{Name: "table-get"}, call: callTableGet}

func callGet(d dataset, i int) call {
	key := d.reading(i)
	return func(ctx context.Context, s store, see func(Reading)) error {
		r, err := s.get(ctx, key.Sensor, key.At)
		if err == nil && r.At != key.At {
			return fmt.Errorf("got the reading at %s, want that at %s", r.At, key.At)
		}
		see(r)
		return err
	}
}

// callTableGet reads an item in its stored form, so it does not call see.
func callTableGet(d dataset, i int) call {
	key := d.reading(i)
	return func(ctx context.Context, s store, _ func(Reading)) error {
		return s.(*sortkeyStore).tableGet(ctx, key.Sensor, key.At, func(it attr.Item) error {
			if it.Len() != 5 {
				return fmt.Errorf("the item has %d attributes", it.Len())
			}
			return nil
		})
	}
}

func callPrefix(d dataset, i int) call {
	key := d.reading(i)
	prefix := key.At[:len("2026-01-02T15")]
	return func(ctx context.Context, s store, see func(Reading)) error {
		return s.prefix(ctx, key.Sensor, prefix, see)
	}
}

func callRange(d dataset, i int) call {
	from := i % (perSensor - rangeRows)
	sensor, low, high := d.reading(i).Sensor, at(from), at(from+rangeRows-1)
	return func(ctx context.Context, s store, see func(Reading)) error {
		return s.between(ctx, sensor, low, high, see)
	}
}

func callIndex(d dataset, i int) call {
	place, from := d.reading(i).Place, at(i%(perSensor-indexRows))
	return func(ctx context.Context, s store, see func(Reading)) error {
		return s.index(ctx, place, from, indexRows, see)
	}
}

// callMoved reads the index at the place to which puts move item i.
func callMoved(d dataset, i int) call {
	place, from := d.moved(i).Place, d.reading(i).At
	return func(ctx context.Context, s store, see func(Reading)) error {
		return s.index(ctx, place, from, indexRows, see)
	}
}

func callFilter(d dataset, i int) call {
	keep := d.items / filterPart
	low := i % (d.items - keep)
	return func(ctx context.Context, s store, see func(Reading)) error {
		return s.filter(ctx, low, low+keep-1, see)
	}
}

func callPut(d dataset, i int) call {
	shift := d.shift(i)
	return func(ctx context.Context, s store, _ func(Reading)) error { return s.put(ctx, shift.next()) }
}

func callPutIf(d dataset, i int) call {
	shift := d.shift(i)
	return func(ctx context.Context, s store, _ func(Reading)) error {
		done, err := s.putIf(ctx, shift.next(), math.MaxInt32)
		if err == nil && !done {
			err = errors.New("the condition does not hold")
		}
		return err
	}
}

func callAdd(d dataset, i int) call {
	key := d.reading(i)
	return func(ctx context.Context, s store, see func(Reading)) error {
		r, err := s.add(ctx, key.Sensor, key.At, 1)
		see(r)
		return err
	}
}

func callTransact(d dataset, i int) call {
	var shifts [together]shift
	for n := range shifts {
		shifts[n] = d.shift(d.partner(i, n))
	}
	return func(ctx context.Context, s store, _ func(Reading)) error {
		var all [together]Reading
		for n := range shifts {
			all[n] = shifts[n].next()
		}
		return s.putAll(ctx, all[:])
	}
}

// checked is how many calls of each work are compared between stores.
const checked = 5

// answers runs some calls of each work, and returns a line for each with what the store returned.
func answers(ctx context.Context, s store, d dataset) (lines []string, err error) {
	record := func(w work, i int, call call) error {
		seen := []Reading{}
		if err := call(ctx, s, func(r Reading) { seen = append(seen, r) }); err != nil {
			return fmt.Errorf("%s of item %d: %w", w.Name, i, err)
		}
		if w.unordered {
			slices.SortFunc(seen, func(a, b Reading) int { return cmp.Compare(a.Value, b.Value) })
		}
		data, err := json.Marshal(seen)
		lines = append(lines, fmt.Sprintf("%s of item %d: %s", w.Name, i, data))
		return err
	}

	named := func(name string) work { return work{Work: contest.Work{Name: name}} }
	get, index, away := named("then get"), named("then index"), named("then index of the other place")
	for _, w := range works(d) {
		for k := range checked {
			i := d.item(k)
			if err := record(w, i, w.call(d, i)); err != nil {
				return nil, err
			}
			if !w.writes {
				continue
			}
			for n := range together { // a transaction writes them all
				i := d.partner(i, n)
				err := errors.Join(
					record(get, i, callGet(d, i)), record(index, i, callIndex(d, i)), record(away, i, callMoved(d, i)),
					s.put(ctx, d.reading(i)),
				)
				d.away[i] = false
				if err != nil {
					return nil, err
				}
			}
		}
	}
	err = record(named("moved"), 1, func(ctx context.Context, s store, see func(Reading)) error {
		return moved(ctx, s, d, see)
	})
	return lines, errors.Join(err, refused(ctx, s, d))
}

// moved puts a reading at another place, and then reads the index at the old and at the new place.
func moved(ctx context.Context, s store, d dataset, see func(Reading)) error {
	r := d.reading(1)
	old := r.Place
	r.Place = "nowhere"
	return errors.Join(
		s.put(ctx, r), s.index(ctx, old, r.At, indexRows, see), s.index(ctx, r.Place, r.At, indexRows, see),
		s.put(ctx, d.reading(1)), s.index(ctx, old, r.At, indexRows, see), s.index(ctx, r.Place, r.At, indexRows, see),
	)
}

// refused checks that operations fail for conditions that do not hold, and for readings that do not exist.
func refused(ctx context.Context, s store, d dataset) error {
	r := d.reading(1)
	if done, err := s.putIf(ctx, r, r.Value); done || err != nil {
		return fmt.Errorf("a put whose condition does not hold: done is %v, the error %w", done, err)
	}
	missing := r
	missing.At = "never"
	if done, err := s.putIf(ctx, missing, 1); done || err != nil {
		return fmt.Errorf("a conditional put of a missing reading: done is %v, the error %w", done, err)
	}
	if _, err := s.get(ctx, missing.Sensor, missing.At); !errors.Is(err, errMissing) {
		return fmt.Errorf("get of a missing reading: the error is %w", err)
	}
	return nil
}
