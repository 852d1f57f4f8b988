package sortkey

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/sortkey/sortkey/internal/event"
	"github.com/sortkey/sortkey/internal/wire"
)

// isolated answers the requests of each access key with a database of its own.
type isolated struct {
	db        *DB // without an access key, and the origin of the others
	mu        sync.Mutex
	databases map[string]*isolatedDB // by access key
}

// An isolatedDB is the database of one access key.
type isolatedDB struct {
	*DB
	running int       // requests
	last    time.Time // end of the last request
}

// idle is how long a database must have had no request before the database of
// another access key can take its place.
const idle = time.Minute

// Serve implements [server.Handler].
func (s *isolated) Serve(ctx context.Context, target string, body, dst []byte) ([]byte, int) {
	key := event.AccessKey(ctx)
	if key == "" {
		return s.db.service.Serve(ctx, target, body, dst)
	}
	db, err := s.enter(key)
	if err != nil {
		failure, ok := errors.AsType[*wire.Error](err)
		if !ok {
			s.db.opts.Logger.ErrorContext(ctx, "cannot make the database of an access key", "err", err)
			failure = &wire.Error{Code: "InternalServerError", Status: http.StatusInternalServerError, Message: err.Error()}
		}
		event.Of(ctx).Fail(failure.Code, failure.Message)
		return failure.AppendJSON(dst), failure.Status
	}
	defer s.leave(db)
	return db.service.Serve(ctx, target, body, dst)
}

// enter returns the database of an access key. The caller leaves it after use. The
// error is a [*wire.Error] if there is no room.
func (s *isolated) enter(key string) (*isolatedDB, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	db := s.databases[key]
	if db == nil {
		if err := s.makeRoom(); err != nil {
			return nil, err
		}
		fork, err := s.db.Fork()
		if err != nil {
			return nil, err
		}
		db = &isolatedDB{DB: fork}
		s.databases[key] = db
	}
	db.running++
	return db, nil
}

func (s *isolated) leave(db *isolatedDB) {
	s.mu.Lock()
	defer s.mu.Unlock()
	db.running--
	db.last = s.db.opts.Clock()
}

// makeRoom closes the database whose last request is longest ago if there are as
// many as allowed.
func (s *isolated) makeRoom() error {
	limit := s.db.opts.Server.Isolate
	if len(s.databases) < limit {
		return nil
	}
	oldest := ""
	for key, db := range s.databases {
		if db.running == 0 && (oldest == "" || db.last.Before(s.databases[oldest].last)) {
			oldest = key
		}
	}
	if oldest == "" || s.db.opts.Clock().Sub(s.databases[oldest].last) < idle {
		return &wire.Error{
			Code: "LimitExceededException", Status: http.StatusBadRequest,
			Message: fmt.Sprintf("the server keeps at most %d databases, one for each access key, and all of them have been used within the last minute", limit),
		}
	}
	db := s.databases[oldest]
	delete(s.databases, oldest)
	return db.Close()
}

// close closes all databases.
func (s *isolated) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, db := range s.databases {
		errs = append(errs, db.Close())
	}
	clear(s.databases)
	return errors.Join(errs...)
}
