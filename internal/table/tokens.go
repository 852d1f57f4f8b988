package table

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"slices"
	"time"

	"github.com/sortkey/sortkey/internal/address"
	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/store"
)

// TokenWindow is how long a client request token of a transaction is
// remembered. Source: API_TransactWriteItems, ClientRequestToken.
const TokenWindow = 10 * time.Minute

// A Token is the record of a transaction under its client request token.
type Token struct {
	// Digest is a hash of the request. Another digest under the same token is
	// a mismatch.
	Digest []byte
	// Read has the documented sizes of the items written, by table. A replay
	// is charged for them as reads.
	Read map[string][]int
	Time time.Time
}

// Tokens have a space of their own, far from the rows of definitions, so that in a
// shared store the transactions that add them do not change the neighbours of rows that
// every transaction reads. They are kept twice: by token, and by time in order to
// forget them.
const tokenSpace store.Space = 1 << 63

var (
	tokensPartition = []byte("tokens")
	timesPartition  = []byte("token times")
)

// Remember looks a token up. If it is known and not older than [TokenWindow],
// Remember returns its record and true. Otherwise it adds tok as the record, which is
// applied with the rest of the transaction.
//
// Sweeps delete old records. If no other server uses the store, transactions do so too,
// since a program need not sweep; in a shared store they would conflict with each other.
func (tx *Tx) Remember(token string, tok Token) (Token, bool, error) {
	if p, ok := tx.w.(capability.Presumer); ok { // a token is new unless its transaction is repeated
		p.Presume(address.Append(nil, tokenSpace, tokensPartition, []byte(token)))
	}
	value, ok, err := tx.w.Get(tokenSpace, tokensPartition, []byte(token))
	if err != nil {
		return Token{}, false, err
	}
	if ok {
		var known Token
		if err := json.Unmarshal(value, &known); err != nil {
			return Token{}, false, err
		}
		if tok.Time.Before(known.Time.Add(TokenWindow)) {
			return known, true, nil
		}
	}

	if tx.db.sharing == nil {
		before := tok.Time.Add(-TokenWindow)
		old, err := oldTokens(tx.w, before)
		if err == nil {
			err = forgetTokens(tx.w, old, before)
		}
		if err != nil {
			return Token{}, false, err
		}
	}

	return tok, false, tx.putToken(token, tok)
}

// putToken writes a token under its name and its time.
func (tx *Tx) putToken(token string, tok Token) error {
	tx.written++
	value, err := json.Marshal(tok)
	if err != nil {
		return err
	}
	if err := tx.w.Put(tokenSpace, tokensPartition, []byte(token), value); err != nil {
		return err
	}
	return tx.w.Put(tokenSpace, timesPartition, append(timeKey(tok.Time), token...), nil)
}

// SetRead sets the sizes of the items written in the record of this transaction.
func (tx *Tx) SetRead(token string, tok Token, read map[string][]int) error {
	tok.Read = read
	return tx.putToken(token, tok)
}

// timeKey is a time in order-preserving form, of timeBytes bytes.
func timeKey(t time.Time) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(t.UnixNano())^1<<63)
}

const timeBytes = 8

// forgetRows is how many old records one update deletes at most.
const forgetRows = 100

// ExpireTokens deletes all records that are old at now.
func (db *DB) ExpireTokens(ctx context.Context, now time.Time) error {
	before := now.Add(-TokenWindow)
	for {
		var old [][]byte
		err := db.Store.View(ctx, func(r store.Reader) (err error) {
			old, err = oldTokens(r, before)
			return err
		})
		if err == nil && len(old) > 0 {
			err = db.Change(ctx, func(w store.Writer) error { return forgetTokens(w, old, before) })
		}
		if err != nil || len(old) < forgetRows {
			return err
		}
	}
}

// oldTokens returns the first rows of records from before a time, by time.
func oldTokens(r store.Reader, before time.Time) (old [][]byte, err error) {
	for row, err := range r.Query(tokenSpace, timesPartition, store.Range{Hi: timeKey(before)}, false) {
		if err != nil {
			return nil, err
		}
		if old = append(old, slices.Clone(row.Sort)); len(old) == forgetRows {
			break
		}
	}
	return old, nil
}

// forgetTokens deletes the rows that oldTokens has returned, with their records unless
// these have been replaced by later ones.
func forgetTokens(w store.Writer, old [][]byte, before time.Time) error {
	if p, ok := w.(capability.Prefetcher); ok {
		addrs := make([][]byte, 0, len(old))
		for _, at := range old {
			addrs = append(addrs, address.Append(nil, tokenSpace, tokensPartition, at[min(timeBytes, len(at)):]))
		}
		if err := p.Prefetch(addrs); err != nil {
			return err
		}
	}
	for _, at := range old {
		if err := w.Delete(tokenSpace, timesPartition, at); err != nil {
			return err
		}
		if len(at) < timeBytes {
			continue // damaged: no token has it
		}
		token := at[timeBytes:]
		value, ok, err := w.Get(tokenSpace, tokensPartition, token)
		if err != nil {
			return err
		}
		var known Token
		if ok && json.Unmarshal(value, &known) == nil && known.Time.Before(before) {
			if err := w.Delete(tokenSpace, tokensPartition, token); err != nil {
				return err
			}
		}
	}
	return nil
}
