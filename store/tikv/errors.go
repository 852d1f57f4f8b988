package tikv

import (
	"errors"
	"fmt"

	tikverr "github.com/tikv/client-go/v2/error"
)

var (
	// ErrLocked is returned by [Open] while another Store uses the tables.
	ErrLocked = errors.New("tikv: another server uses these tables")

	// ErrLease is returned by calls of a Store that has lost its lease, or that cannot renew it because the cluster
	// does not answer. A lost lease does not come back. Otherwise the Store renews the lease when the cluster answers
	// again.
	ErrLease = errors.New("tikv: no lease on the tables")

	// ErrFormat is returned by [Open] for keys that another version of this package wrote.
	ErrFormat = errors.New("tikv: no tables of this version")

	// ErrUnknown is returned by an Update whose commit got no answer, if the cluster also does not answer when the
	// Update asks for the outcome. The Update happened completely or not at all.
	ErrUnknown = errors.New("tikv: unknown whether the update was applied")

	errUnreachable = errors.New("tikv: no placement driver answers")

	errTooLarge = errors.New("tikv: update too large for a transaction of TiKV")
	errConflict = errors.New("tikv: conflict with another update")
)

// conflicts reports whether a lock failed because another transaction has changed the row, or because the two
// transactions wait for each other (a deadlock).
func conflicts(err error) bool {
	if errors.Is(err, errConflict) {
		return true
	}
	if _, ok := errors.AsType[*tikverr.ErrWriteConflict](err); ok {
		return true
	}
	_, ok := errors.AsType[*tikverr.ErrDeadlock](err)
	return ok
}

// tooLarge returns the error for an update that TiKV or its client refuses because of its size, or nil for other
// errors.
func tooLarge(err error) error {
	_, txn := errors.AsType[*tikverr.ErrTxnTooLarge](err)
	_, entry := errors.AsType[*tikverr.ErrEntryTooLarge](err)
	if txn || entry {
		return fmt.Errorf("%w: %w", errTooLarge, err)
	}
	return nil
}

// wrap adds the name of the engine to an error of the client.
func wrap(err error) error { return fmt.Errorf("tikv: %w", err) }
