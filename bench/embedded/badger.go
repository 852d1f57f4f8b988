package main

import (
	"errors"

	"github.com/dgraph-io/badger/v4"

	"github.com/sortkey/sortkey/bench/contest"
)

var badgerContender = contender{
	name:    "badger",
	version: func() (string, error) { return moduleVersion("github.com/dgraph-io/badger/v4"), nil },
	open: func(mode contest.Mode, dir string) (store, error) {
		options := badger.DefaultOptions(dir).WithSyncWrites(true)
		if mode == contest.Memory {
			options = badger.DefaultOptions("").WithInMemory(true)
		}
		db, err := badger.Open(options.WithLogger(nil))
		if err != nil {
			return nil, err
		}
		return jsonStore{badgerStore{db}}, nil
	},
}

// badgerStore puts the byte of the space before each key.
type badgerStore struct{ db *badger.DB }

func (s badgerStore) close() error { return s.db.Close() }

func (s badgerStore) view(fn func(byteTx) error) error {
	return s.db.View(func(tx *badger.Txn) error { return fn(badgerTx{tx}) })
}

func (s badgerStore) update(fn func(byteTx) error) error {
	return s.db.Update(func(tx *badger.Txn) error { return fn(badgerTx{tx}) })
}

type badgerTx struct{ tx *badger.Txn }

func in(sp space, key []byte) []byte { return append([]byte{byte(sp)}, key...) }

func (t badgerTx) get(sp space, key []byte, see func(value []byte) error) error {
	item, err := t.tx.Get(in(sp, key))
	if errors.Is(err, badger.ErrKeyNotFound) {
		return errMissing
	}
	if err != nil {
		return err
	}
	return item.Value(see)
}

// walk does not prefetch, because Badger stores values of this size beside their keys.
func (t badgerTx) walk(sp space, prefix, from []byte, see func(key, value []byte) (bool, error)) error {
	it := t.tx.NewIterator(badger.IteratorOptions{Prefix: in(sp, prefix)})
	defer it.Close()
	for it.Seek(in(sp, from)); it.Valid(); it.Next() {
		more := false
		err := it.Item().Value(func(value []byte) (err error) {
			more, err = see(it.Item().Key()[1:], value)
			return err
		})
		if err != nil || !more {
			return err
		}
	}
	return nil
}

func (t badgerTx) set(sp space, key, value []byte) error { return t.tx.Set(in(sp, key), value) }

func (t badgerTx) remove(sp space, key []byte) error { return t.tx.Delete(in(sp, key)) }
