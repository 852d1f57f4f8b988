package server

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/api/event"
	"github.com/sortkey/sortkey/internal/inside"
	"github.com/sortkey/sortkey/internal/wire"
)

// isolated answers the requests of each access key with a database of its own.
type isolated struct {
	db      *sortkey.DB // without an access key, and the origin of the others
	side    inside.Side // of db
	opts    Options
	closing sync.WaitGroup // of databases that made room

	mu        sync.Mutex             // not held while a database is made or closed
	databases map[string]*isolatedDB // by access key
}

// An isolatedDB is the database of one access key.
type isolatedDB struct {
	made chan struct{} // closed when it has been made or, with an error, has not
	*sortkey.DB
	err    error
	offset *atomic.Int64 // of its clock, in nanoseconds
	// clock and root are the clock and the folder for S3 of the origin.
	clock func() time.Time
	root  string

	once sync.Once
	of   *controlled

	replaced bool      // no key has it any more
	running  int       // requests; guarded by isolated.mu, as are last and replaced
	last     time.Time // end of the last request
}

// idle is how long a database must have had no request before the database of
// another access key can take its place.
const idle = time.Minute

// Serve implements [server.Handler].
func (s *isolated) Serve(ctx context.Context, target string, body, dst []byte) ([]byte, int) {
	key := event.AccessKey(ctx)
	if key == "" {
		return inside.Service(s.db).Serve(ctx, target, body, dst)
	}
	db, err := s.enter(key)
	if err != nil {
		failure, ok := errors.AsType[*wire.Error](err)
		if !ok {
			s.side.Logger.ErrorContext(ctx, "cannot make the database of an access key", "err", err)
			failure = &wire.Error{
				Code: "InternalServerError", Status: http.StatusInternalServerError, Message: err.Error(),
			}
		}
		event.Of(ctx).Fail(failure.Code, failure.Message)
		return failure.AppendJSON(dst), failure.Status
	}
	defer s.leave(db)
	return inside.Service(db.DB).Serve(ctx, target, body, dst)
}

// enter returns the database of an access key. The caller leaves it after use. The
// error is a [*wire.Error] if there is no room.
func (s *isolated) enter(key string) (*isolatedDB, error) { return s.enterOr(key, s.makeRoom) }

// errNoDatabase is the error of control for an access key without a database.
var errNoDatabase = errors.New("it has sent no request yet, or its database has made room for others")

// enterKnown returns the database of an access key as enter does, but makes none.
func (s *isolated) enterKnown(key string) (*isolatedDB, error) {
	db, err := s.enterOr(key, func() error { return errNoDatabase })
	if errors.Is(err, errNoDatabase) {
		err = fmt.Errorf("access key %q has no database: %w", key, err)
	}
	return db, err
}

// enterOr returns the database of an access key, and makes one if mayMake has no error. It calls mayMake
// with s.mu held.
func (s *isolated) enterOr(key string, mayMake func() error) (*isolatedDB, error) {
	s.mu.Lock()
	db := s.databases[key]
	if db != nil {
		db.running++
		s.mu.Unlock()
		<-db.made
		if db.err != nil {
			return nil, db.err // and it is not among the databases any more
		}
		return db, nil
	}
	if err := mayMake(); err != nil {
		s.mu.Unlock()
		return nil, err
	}
	db = newIsolated()
	s.databases[key] = db
	s.mu.Unlock()

	db.DB, db.err = s.db.Fork(func(o *sortkey.Options) { s.isolate(key, db, nil, o) })
	if db.err != nil {
		s.mu.Lock()
		if s.databases[key] == db { // it may have been replaced
			delete(s.databases, key)
		}
		s.mu.Unlock()
	}
	close(db.made)
	return db, db.err
}

// newIsolated returns a database that is being made, with a request that runs.
func newIsolated() *isolatedDB {
	return &isolatedDB{made: make(chan struct{}), running: 1, offset: new(atomic.Int64)}
}

// controlled returns the control of the database, which begins with the first call.
func (db *isolatedDB) controlled() *controlled {
	db.once.Do(func() { db.of = newControlled(db) })
	return db.of
}

// replace makes the database of a key a copy of another, or for nil forgets it. Requests that run go on
// with the old one, which is closed after them.
func (s *isolated) replace(key string, from *isolatedDB) error {
	var made *isolatedDB
	if from != nil {
		made = newIsolated()
		made.running = 0
		if made.DB, made.err = from.Fork(func(o *sortkey.Options) { s.isolate(key, made, from, o) }); made.err != nil {
			return made.err
		}
		close(made.made)
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.databases[key]
	switch {
	case made == nil:
		delete(s.databases, key)
	case old == nil:
		if err := s.makeRoom(); err != nil {
			return errors.Join(err, made.Close())
		}
		fallthrough
	default:
		made.last = s.side.Clock()
		s.databases[key] = made
	}

	if old != nil {
		old.replaced = true
		s.retire(old)
	}
	return nil
}

// retire closes a database that no key has any more, once no request uses it. The caller holds s.mu.
func (s *isolated) retire(db *isolatedDB) {
	if db.running > 0 {
		return // leave calls it again
	}
	s.closing.Go(func() {
		if <-db.made; db.err != nil {
			return
		}
		if err := db.Close(); err != nil {
			s.side.Logger.Warn("cannot close the database of an access key that was replaced", "err", err)
		}
	})
}

// isolate makes o the options of the database of an access key, from those of the origin or of the database
// that it is a copy of: the time is then that of the other, and from there on its own.
func (s *isolated) isolate(key string, db, of *isolatedDB, o *sortkey.Options) {
	if of != nil {
		o.Clock, o.S3Root = of.clock, of.root
		db.offset.Store(of.offset.Load())
	}
	db.clock, db.root = o.Clock, o.S3Root
	clock := o.Clock
	o.Clock = func() time.Time { return clock().Add(time.Duration(db.offset.Load())) }
	if o.S3Root != "" {
		o.S3Root = filepath.Join(o.S3Root, folderOf(key))
	}
	if s.opts.IsolateOptions != nil {
		s.opts.IsolateOptions(key, o)
	}
}

// folderOf returns the name of the folder of an access key, which may be any text.
func folderOf(key string) string {
	name := url.PathEscape(key)
	switch {
	case strings.Trim(name, ".") == "":
		return strings.ReplaceAll(name, ".", "%2E")
	case len(name) > longestFolder:
		return fmt.Sprintf("%x", sha256.Sum256([]byte(key)))
	}
	return name
}

// longestFolder is less than the longest name of usual file systems.
const longestFolder = 200

func (s *isolated) leave(db *isolatedDB) {
	s.mu.Lock()
	defer s.mu.Unlock()
	db.running--
	db.last = s.side.Clock()
	if db.replaced {
		s.retire(db)
	}
}

// makeRoom removes the database whose last request is longest ago if there are as many as
// allowed. It is closed in the background. The caller holds s.mu.
func (s *isolated) makeRoom() error {
	limit := s.opts.Isolate
	if len(s.databases) < limit {
		return nil
	}
	oldest := ""
	for key, db := range s.databases {
		if db.running == 0 && (oldest == "" || db.last.Before(s.databases[oldest].last)) {
			oldest = key
		}
	}
	if oldest == "" || s.side.Clock().Sub(s.databases[oldest].last) < idle {
		return &wire.Error{
			Code: "LimitExceededException", Status: http.StatusBadRequest,
			Message: fmt.Sprintf("the server keeps at most %d databases, one for each access key, and all of them "+
				"have been used within the last minute", limit),
		}
	}

	db := s.databases[oldest]
	delete(s.databases, oldest)
	s.closing.Go(func() {
		if err := db.Close(); err != nil {
			s.side.Logger.Warn("cannot close the database of an access key that was evicted", "err", err)
		}
	})
	return nil
}

// close closes all databases.
func (s *isolated) close() error {
	s.mu.Lock()
	databases := slices.Collect(maps.Values(s.databases))
	clear(s.databases)
	s.mu.Unlock()
	var errs []error
	for _, db := range databases {
		if <-db.made; db.err == nil {
			errs = append(errs, db.Close())
		}
	}
	s.closing.Wait()
	return errors.Join(errs...)
}
