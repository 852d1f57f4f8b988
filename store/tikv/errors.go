package tikv

import (
	"errors"
	"fmt"

	tikverr "github.com/tikv/client-go/v2/error"
)

var (
	// ErrLocked is returned by [Open] while another Store uses the tables.
	ErrLocked = errors.New("tikv: another server uses these tables")

	// ErrLease is returned by calls of a Store that has lost its lease, or cannot
	// renew it because the cluster does not answer. A lost lease does not return;
	// the other is renewed when the cluster answers again.
	ErrLease = errors.New("tikv: no lease on the tables")

	// ErrFormat is returned by [Open] for keys that another version of this package
	// has written.
	ErrFormat = errors.New("tikv: no tables of this version")

	// ErrUnknown is returned by an Update whose commit got no answer, when the
	// cluster cannot be asked about it either. The Update happened completely or not
	// at all.
	ErrUnknown = errors.New("tikv: unknown whether the update was applied")

	errUnreachable = errors.New("tikv: no placement driver answers")

	errTooLarge = errors.New("tikv: update too large for a transaction of TiKV")
	errConflict = errors.New("tikv: conflict with another update")
)

// conflicts reports whether an error of a lock says that another transaction was
// faster, or waits for this one.
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

// tooLarge returns the error of an update that TiKV or its client refuses.
func tooLarge(err error) error {
	_, txn := errors.AsType[*tikverr.ErrTxnTooLarge](err)
	_, entry := errors.AsType[*tikverr.ErrEntryTooLarge](err)
	if txn || entry {
		return fmt.Errorf("%w: %w", errTooLarge, err)
	}
	return nil
}

// wrap names the engine in an error of the client.
func wrap(err error) error { return fmt.Errorf("tikv: %w", err) }
