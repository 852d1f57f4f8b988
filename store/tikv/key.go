package tikv

import (
	"encoding/binary"
	"errors"

	"github.com/sortkey/sortkey/store/internal/remote"
)

// A key of TiKV is the prefix, a zero byte, and then one of these marks.
const (
	rowMark   = 'r' // before the address of a row
	leaseMark = 'l'
)

// maxAddress is the length in bytes of the longest address that is used as a key unchanged. TiKV refuses keys of more
// than 8 KB (storage.max-key-size; older versions 4 KB), but the longest address, that of an index row, can have more
// than 12,000 bytes.
//
// The tail of a longer address is stored before the value.
const maxAddress = 3 << 10

var errDamaged = errors.New("tikv: damaged row")

// A keyspace makes the keys of one prefix.
type keyspace struct {
	rows     remote.Keys
	leaseKey []byte
}

func newKeyspace(prefix string) keyspace {
	return keyspace{
		rows:     remote.Keys{Prefix: append([]byte(prefix), 0, rowMark), Longest: maxAddress},
		leaseKey: append([]byte(prefix), 0, leaseMark),
	}
}

// key returns the key of an address.
func (k *keyspace) key(addr []byte) []byte {
	key, _ := k.rows.Key(addr)
	return key
}

// encode returns the key and the stored value of a row.
func (k *keyspace) encode(addr, value []byte) (key, stored []byte) {
	key, tail := k.rows.Key(addr)
	stored = make([]byte, 0, binary.MaxVarintLen16+len(tail)+len(value))
	stored = append(binary.AppendUvarint(stored, uint64(len(tail))), tail...)
	return key, append(stored, value...)
}

// decode splits a stored value into the row's value and the tail of its address. A stored value begins with the
// length of the tail even if that is 0, because TiKV cannot store an empty value.
func decode(stored []byte) (value, tail []byte, err error) {
	n, size := binary.Uvarint(stored)
	if size <= 0 || n > uint64(len(stored)-size) {
		return nil, nil, errDamaged
	}
	end := size + int(n)
	return stored[end:len(stored):len(stored)], stored[size:end:end], nil
}

// row returns the row of a key and its stored value. The row may share the memory of both.
func (k *keyspace) row(key, stored []byte) (remote.Row, error) {
	value, tail, err := decode(stored)
	if err != nil || (len(key) > len(k.rows.Prefix)+maxAddress) != (len(tail) > 0) {
		return remote.Row{}, errDamaged
	}
	return remote.Row{Addr: k.rows.Addr(key, tail), Value: value}, nil
}
