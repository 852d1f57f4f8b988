package main

import (
	"bytes"
	"path/filepath"

	"go.etcd.io/bbolt"

	"github.com/sortkey/sortkey/bench/contest"
)

var bboltContender = contender{
	name:    "bbolt",
	version: func() (string, error) { return moduleVersion("go.etcd.io/bbolt"), nil },
	open: func(mode contest.Mode, dir string) (store, error) {
		options := *bbolt.DefaultOptions
		options.NoSync = mode == contest.Memory
		db, err := bbolt.Open(filepath.Join(dir, "bbolt"), 0o600, &options)
		if err != nil {
			return nil, err
		}
		return jsonStore{bboltStore{db}}, db.Update(func(tx *bbolt.Tx) error {
			for _, sp := range []space{itemSpace, indexSpace} {
				if _, err := tx.CreateBucket([]byte{byte(sp)}); err != nil {
					return err
				}
			}
			return nil
		})
	},
}

// bboltStore has a bucket for each space.
type bboltStore struct{ db *bbolt.DB }

func (s bboltStore) close() error { return s.db.Close() }

func (s bboltStore) view(fn func(byteTx) error) error {
	return s.db.View(func(tx *bbolt.Tx) error { return fn(bboltTx{tx}) })
}

func (s bboltStore) update(fn func(byteTx) error) error {
	return s.db.Update(func(tx *bbolt.Tx) error { return fn(bboltTx{tx}) })
}

type bboltTx struct{ tx *bbolt.Tx }

func (t bboltTx) bucket(sp space) *bbolt.Bucket { return t.tx.Bucket([]byte{byte(sp)}) }

func (t bboltTx) get(sp space, key []byte, see func(value []byte) error) error {
	value := t.bucket(sp).Get(key)
	if value == nil {
		return errMissing
	}
	return see(value)
}

func (t bboltTx) walk(sp space, prefix, from []byte, see func(key, value []byte) (bool, error)) error {
	c := t.bucket(sp).Cursor()
	for key, value := c.Seek(from); key != nil && bytes.HasPrefix(key, prefix); key, value = c.Next() {
		if more, err := see(key, value); err != nil || !more {
			return err
		}
	}
	return nil
}

func (t bboltTx) set(sp space, key, value []byte) error { return t.bucket(sp).Put(key, value) }

func (t bboltTx) remove(sp space, key []byte) error { return t.bucket(sp).Delete(key) }
