package shell

import (
	"context"
	"errors"
	"fmt"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/design/advice"
)

// A transaction is an Update of a database whose function waits for the commands that take
// part in it.
type transaction struct {
	ctx  context.Context // of the commands
	end  chan error      // what the function returns: nil commits
	done chan error      // what the Update has returned
}

var (
	errRollback = errors.New("rolled back")
	errConflict = errors.New("conflict")
)

// newTransaction begins a transaction. It ends with ctx; until it has begun, also with
// waiting.
func newTransaction(ctx, waiting context.Context, db *sortkey.DB) (*transaction, error) {
	ctx, cancel := context.WithCancel(ctx)
	tx := &transaction{end: make(chan error), done: make(chan error, 1)}
	begun := make(chan context.Context, 1)
	go func() {
		defer cancel()
		again := false
		tx.done <- db.Update(ctx, func(ctx context.Context) error {
			if again { // after a conflict: nobody can type the commands again
				return errConflict
			}
			again = true
			begun <- ctx
			return <-tx.end
		})
	}()

	select {
	case tx.ctx = <-begun:
		return tx, nil
	case err := <-tx.done:
		return nil, err
	case <-waiting.Done():
		cancel()
		select {
		case <-begun:
			return nil, errors.Join(context.Cause(waiting), tx.finish(errRollback))
		case err := <-tx.done:
			return nil, err
		}
	}
}

// finish ends the transaction and returns the error of its Update.
func (tx *transaction) finish(err error) error {
	tx.end <- err
	return <-tx.done
}

// begin begins the transaction of a shell.
func (s *shell) begin(ctx, waiting context.Context) (err error) {
	switch {
	case s.tx != nil:
		return advice.New("commit it or roll it back first", "a transaction is open")
	case s.env.Source.DB == nil:
		return advice.New(
			"send what belongs together as one TransactWriteItems or ExecuteTransaction, with an SDK or the AWS CLI, "+
				"or make single writes depend on --if; on a model or a folder the shell has transactions",
			"a server has no interactive transactions: each of its requests stands alone",
		)
	}
	s.tx, err = newTransaction(ctx, waiting, s.env.Source.DB)
	return err
}

var errNone = advice.New("begin one with: begin", "no transaction is open")

// commit commits the open transaction.
func (s *shell) commit() error {
	if s.tx == nil {
		return errNone
	}
	err := s.tx.finish(nil)
	s.tx = nil
	switch {
	case errors.Is(err, errConflict):
		return advice.New("begin again", "the transaction met a conflict and is rolled back")
	case err != nil:
		return fmt.Errorf("the transaction is rolled back: %w", err)
	}
	_, err = fmt.Fprintln(s.env.Stdout, "committed")
	return err
}

// rollback rolls back the transaction if one is open.
func (s *shell) rollback() error {
	if s.tx == nil {
		return nil
	}
	err := s.tx.finish(errRollback)
	s.tx = nil
	if errors.Is(err, errRollback) {
		return nil
	}
	return err
}
