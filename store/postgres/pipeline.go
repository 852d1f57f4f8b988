package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// A step is one statement of a pipeline, with its parameters.
type step struct {
	statement statement
	params    [][]byte

	// row receives the columns of each row of the result. They are valid until it
	// returns.
	row func(columns [][]byte)

	rows int64 // number of rows that the statement returned or changed; send sets it
	tag  string
}

// customKey is the key under which a connection keeps its prepared statements in its custom data.
const customKey = "sortkey"

type descriptions [statements]*pgconn.StatementDescription

// prepare prepares the statements on a new connection of the pool, in two round trips.
func prepare(ctx context.Context, c *pgx.Conn, d dialect) error {
	pg := c.PgConn()
	if d.settings != "" {
		if _, err := pg.Exec(ctx, d.settings).ReadAll(); err != nil {
			return err
		}
	}

	p := pg.StartPipeline(ctx)
	for i, sql := range prepared {
		p.SendPrepare(fmt.Sprintf("sortkey_%d", i), sql, nil)
	}
	if err := p.Sync(); err != nil {
		_ = p.Close()
		return err
	}

	all := new(descriptions)
	for i := range prepared {
		result, err := p.GetResults()
		if err != nil {
			_ = p.Close()
			return fmt.Errorf("%s: %w", prepared[i], err)
		}
		d, ok := result.(*pgconn.StatementDescription)
		if !ok {
			_ = p.Close()
			return errors.New("no description of a statement")
		}
		d.Name, d.SQL = fmt.Sprintf("sortkey_%d", i), prepared[i]
		all[i] = d
	}

	pg.CustomData()[customKey] = all
	return p.Close()
}

// binaryFormat says that all parameters and columns are in the binary format.
var binaryFormat = []int16{pgx.BinaryFormatCode}

// send runs steps in one round trip. After an error the server skips the steps that follow. Failed is the index of
// the step that the error belongs to, or 0 when the connection broke.
func send(ctx context.Context, c *pgxpool.Conn, steps []*step) (failed int, err error) {
	pg := c.Conn().PgConn()
	all, ok := pg.CustomData()[customKey].(*descriptions)
	if !ok {
		return 0, errors.New("connection is not prepared")
	}
	if len(steps) == 1 { // one statement needs no pipeline
		one := steps[0]
		return 0, one.receive(pg.ExecStatement(ctx, all[one.statement], one.params, binaryFormat, binaryFormat))
	}

	p := pg.StartPipeline(ctx)
	for i := range steps {
		p.SendQueryStatement(all[steps[i].statement], steps[i].params, binaryFormat, binaryFormat)
	}
	if err := p.Sync(); err != nil {
		_ = p.Close()
		return 0, err
	}

	for i, one := range steps {
		result, err := p.GetResults()
		if err == nil {
			if r, ok := result.(*pgconn.ResultReader); ok {
				err = one.receive(r)
			} else {
				err = fmt.Errorf("unexpected result %T", result)
			}
		}
		if err != nil {
			_ = p.Close()
			return i, err
		}
	}
	return len(steps) - 1, p.Close()
}

// receive reads the result of the step.
func (s *step) receive(r *pgconn.ResultReader) error {
	for r.NextRow() {
		if s.row != nil {
			s.row(r.Values())
		}
	}
	tag, err := r.Close()
	s.rows, s.tag = tag.RowsAffected(), tag.String()
	return err
}

func int8Param(n int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }
