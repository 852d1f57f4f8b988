package table

import (
	"encoding/binary"
	"encoding/json"
	"slices"
	"time"

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

// The catalogue keeps tokens twice: by token, and by time in order to forget
// them.
var (
	tokensPartition = []byte("tokens")
	timesPartition  = []byte("token times")
)

// Remember looks a token up. If it is known and not older than [TokenWindow],
// Remember returns its record and true. Otherwise it adds tok as the record,
// which is applied with the rest of the transaction, and deletes records that
// are older than that.
func (tx *Tx) Remember(token string, tok Token) (Token, bool, error) {
	value, ok, err := tx.w.Get(catalogueSpace, tokensPartition, []byte(token))
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
	if err := tx.forget(tok.Time.Add(-TokenWindow)); err != nil {
		return Token{}, false, err
	}
	return tok, false, tx.putToken(token, tok)
}

// putToken writes a token under its name and its time.
func (tx *Tx) putToken(token string, tok Token) error {
	value, err := json.Marshal(tok)
	if err != nil {
		return err
	}
	if err := tx.w.Put(catalogueSpace, tokensPartition, []byte(token), value); err != nil {
		return err
	}
	return tx.w.Put(catalogueSpace, timesPartition, append(timeKey(tok.Time), token...), nil)
}

// SetRead sets the sizes of the items written in the record of this transaction.
func (tx *Tx) SetRead(token string, tok Token, read map[string][]int) error {
	tok.Read = read
	return tx.putToken(token, tok)
}

// timeKey is a time in order-preserving form.
func timeKey(t time.Time) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(t.UnixNano())^1<<63)
}

// forgetRows is how many old records one transaction deletes at most.
const forgetRows = 100

// forget deletes records from before t.
func (tx *Tx) forget(t time.Time) error {
	var old [][]byte
	for row, err := range tx.w.Query(catalogueSpace, timesPartition, store.Range{Hi: timeKey(t)}, false) {
		if err != nil {
			return err
		}
		if len(old) == forgetRows {
			break
		}
		old = append(old, slices.Clone(row.Sort))
	}
	for _, at := range old {
		if err := tx.w.Delete(catalogueSpace, timesPartition, at); err != nil {
			return err
		}
		if len(at) < 8 {
			continue // damaged: no token has it
		}
		token := at[8:]
		value, ok, err := tx.w.Get(catalogueSpace, tokensPartition, token)
		if err != nil {
			return err
		}
		var known Token
		if ok && json.Unmarshal(value, &known) == nil && known.Time.Before(t) {
			if err := tx.w.Delete(catalogueSpace, tokensPartition, token); err != nil {
				return err
			}
		}
	}
	return nil
}
