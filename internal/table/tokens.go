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

// TokenWindow is how long the database remembers a transaction's client request token. Source:
// API_TransactWriteItems, ClientRequestToken.
const TokenWindow = 10 * time.Minute

// A Token is what the database remembers of a transaction with a client request token.
type Token struct {
	// Digest is a hash of the request. A request with the same token and another digest is a mismatch.
	Digest []byte
	// Read has the sizes of the written items by table. A repeated request consumes read units for these sizes.
	Read map[string][]int
	Time time.Time
}

// tokenSpace is the space of the tokens. It is not next to the definitions: every transaction reads the definitions,
// so in a shared store a transaction that added a token next to them could conflict with all others. Each token has a
// row by token and a row by time. The rows by time are there to find old tokens.
const tokenSpace store.Space = 1 << 63

var (
	tokensPartition = []byte("tokens")
	timesPartition  = []byte("token times")
)

// Remember looks up a token. If the database has stored it within [TokenWindow], Remember returns the stored record
// and true. Otherwise Remember stores tok as part of the transaction and returns false.
//
// Sweeps delete old records, but not every program sweeps. So each transaction with a token deletes some old records
// too. In a shared store it does not, as these transactions would conflict with each other.
func (tx *Tx) Remember(token string, tok Token) (Token, bool, error) {
	if p, ok := tx.w.(capability.Presumer); ok { // the token is usually new; a client rarely repeats a request
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

// putToken writes the two rows of a token.
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

// SetRead sets the sizes of the items that this transaction has written in the record of its token.
func (tx *Tx) SetRead(token string, tok Token, read map[string][]int) error {
	tok.Read = read
	return tx.putToken(token, tok)
}

// timeKey encodes a time in timeBytes bytes. The bytes of an earlier time sort first.
func timeKey(t time.Time) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(t.UnixNano())^1<<63)
}

const timeBytes = 8

// forgetRows is the maximum number of old records that one update deletes.
const forgetRows = 100

// ExpireTokens deletes all records that are older than [TokenWindow] at now.
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

// oldTokens returns the sort keys of up to forgetRows rows by time that are older than before, the oldest first.
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

// forgetTokens deletes the rows by time that oldTokens has returned. It also deletes the rows by token, unless a
// later transaction has reused the token since.
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
