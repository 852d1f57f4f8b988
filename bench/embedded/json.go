package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
)

// A space is one of the two sets of keys in a byteStore: items and index entries.
type space byte

const (
	itemSpace  space = 'i' // readings as JSON, by their keys
	indexSpace space = 'x' // the keys of readings, by place, time and sensor
)

// A byteTx is a transaction of a byteStore. The keys and values that it passes to functions are valid until these
// return.
type byteTx interface {
	// get calls see with the value of a key, or returns errMissing.
	get(sp space, key []byte, see func(value []byte) error) error
	// walk calls see with the pairs whose keys begin with prefix, starting at the key from, until see returns false
	// or an error.
	walk(sp space, prefix, from []byte, see func(key, value []byte) (bool, error)) error
	set(sp space, key, value []byte) error
	remove(sp space, key []byte) error
}

// A byteStore is a store of keys and values that are bytes.
type byteStore interface {
	view(fn func(byteTx) error) error
	update(fn func(byteTx) error) error
	close() error
}

// A jsonStore keeps readings in a byteStore as a program for such a store would: as JSON, with an index that it
// maintains itself. A zero byte ends each part of a key except the last.
type jsonStore struct{ byteStore }

func itemKey(sensor, at string) []byte { return []byte(sensor + "\x00" + at) }

func indexKey(r Reading) []byte { return []byte(r.Place + "\x00" + r.At + "\x00" + r.Sensor) }

func decode(data []byte) (r Reading, err error) {
	err = json.Unmarshal(data, &r)
	return r, err
}

func getItem(tx byteTx, key []byte) (r Reading, err error) {
	err = tx.get(itemSpace, key, func(data []byte) (err error) {
		r, err = decode(data)
		return err
	})
	return r, err
}

// replaceItem puts the reading r and updates the index. old is the reading that r replaces, or nil.
func replaceItem(tx byteTx, key []byte, old *Reading, r Reading) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := tx.set(itemSpace, key, data); err != nil || old != nil && old.Place == r.Place {
		return err
	}
	if old != nil {
		if err := tx.remove(indexSpace, indexKey(*old)); err != nil {
			return err
		}
	}
	return tx.set(indexSpace, indexKey(r), key)
}

func putItem(tx byteTx, r Reading) error {
	key := itemKey(r.Sensor, r.At)
	old, err := getItem(tx, key)
	switch {
	case errors.Is(err, errMissing):
		return replaceItem(tx, key, nil, r)
	case err != nil:
		return err
	default:
		return replaceItem(tx, key, &old, r)
	}
}

func (s jsonStore) get(_ context.Context, sensor, at string) (r Reading, err error) {
	err = s.view(func(tx byteTx) (err error) {
		r, err = getItem(tx, itemKey(sensor, at))
		return err
	})
	return r, err
}

func (s jsonStore) prefix(_ context.Context, sensor, prefix string, see func(Reading)) error {
	from := itemKey(sensor, prefix)
	return s.walk(from, from, nil, see)
}

func (s jsonStore) between(_ context.Context, sensor, low, high string, see func(Reading)) error {
	return s.walk(itemKey(sensor, ""), itemKey(sensor, low), itemKey(sensor, high), see)
}

// walk calls see for the readings whose keys begin with prefix and lie between the keys from and last, both included.
// A nil last means no upper bound.
func (s jsonStore) walk(prefix, from, last []byte, see func(Reading)) error {
	return s.view(func(tx byteTx) error {
		return tx.walk(itemSpace, prefix, from, func(key, data []byte) (bool, error) {
			if last != nil && bytes.Compare(key, last) > 0 {
				return false, nil
			}
			r, err := decode(data)
			see(r)
			return true, err
		})
	})
}

func (s jsonStore) index(_ context.Context, place, from string, n int, see func(Reading)) error {
	return s.view(func(tx byteTx) error {
		return tx.walk(indexSpace, itemKey(place, ""), itemKey(place, from), func(_, key []byte) (bool, error) {
			sensor, at, _ := strings.Cut(string(key), "\x00")
			see(Reading{Sensor: sensor, At: at, Place: place})
			n--
			return n > 0, nil
		})
	})
}

func (s jsonStore) filter(_ context.Context, low, high int, see func(Reading)) error {
	return s.walk(nil, nil, nil, func(r Reading) {
		if low <= r.Value && r.Value <= high {
			see(r)
		}
	})
}

func (s jsonStore) put(_ context.Context, r Reading) error {
	return s.update(func(tx byteTx) error { return putItem(tx, r) })
}

func (s jsonStore) putIf(_ context.Context, r Reading, below int) (done bool, err error) {
	err = s.update(func(tx byteTx) error {
		key := itemKey(r.Sensor, r.At)
		old, err := getItem(tx, key)
		if errors.Is(err, errMissing) {
			return nil
		}
		if err != nil || old.Value >= below {
			return err
		}
		done = true
		return replaceItem(tx, key, &old, r)
	})
	return done, err
}

func (s jsonStore) add(_ context.Context, sensor, at string, n int) (r Reading, err error) {
	err = s.update(func(tx byteTx) error {
		key := itemKey(sensor, at)
		if r, err = getItem(tx, key); err != nil {
			return err
		}
		old := r
		r.Value += n
		return replaceItem(tx, key, &old, r)
	})
	return r, err
}

func (s jsonStore) load(ctx context.Context, all []Reading) error { return s.putAll(ctx, all) }

func (s jsonStore) putAll(_ context.Context, all []Reading) error {
	return s.update(func(tx byteTx) error {
		for _, r := range all {
			if err := putItem(tx, r); err != nil {
				return err
			}
		}
		return nil
	})
}
