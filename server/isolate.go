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
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/api/event"
	"github.com/sortkey/sortkey/internal/engine"
	"github.com/sortkey/sortkey/internal/wire"
)

// isolated answers each request with the database that it names: by its access key, if
// [Options.IsolateBy] says nothing else.
type isolated struct {
	db      *sortkey.DB // of requests that name none, and the origin of the others
	engine  *engine.DB  // of db
	opts    Options
	closing sync.WaitGroup // of databases that were evicted

	mu        sync.Mutex             // not held while a database is made or closed
	databases map[string]*isolatedDB // by name
	watched   bool                   // there is a control, so databases record their requests
}

// An isolatedDB is a database that requests name.
type isolatedDB struct {
	ready chan struct{} // closed when it has been made or, with an error, has not
	*sortkey.DB
	err    error
	offset *atomic.Int64 // of its clock, in nanoseconds
	// clock and root are the clock and the folder for S3 of the origin.
	clock func() time.Time
	root  string

	once sync.Once
	of   *controlled

	replaced bool      // its name leads to another one
	running  int       // requests; guarded by isolated.mu, as are last and replaced
	last     time.Time // end of the last request
}

// byRegion is the value of [Options.IsolateBy] by which Regions have databases of their own.
const byRegion = "key,region"

// idle is how long a database must have had no request before another one can take
// its place.
const idle = time.Minute

// Serve implements [server.Handler].
func (s *isolated) Serve(ctx context.Context, target string, body, dst []byte) ([]byte, int) {
	name := event.CallOf(ctx).Database
	if name == "" {
		return engine.Of(s.db).Service.Serve(ctx, target, body, dst)
	}
	db, err := s.enter(name)
	if err != nil {
		failure, ok := errors.AsType[*wire.Error](err)
		if !ok {
			s.engine.Logger.ErrorContext(ctx, "cannot make a database", "err", err)
			failure = &wire.Error{
				Code: "InternalServerError", Status: http.StatusInternalServerError, Message: err.Error(),
			}
		}
		event.Of(ctx).Fail(failure.Code, failure.Message)
		return failure.AppendJSON(dst), failure.Status
	}
	defer s.leave(db)
	dst, status := engine.Of(db.DB).Service.Serve(ctx, target, body, dst)
	if e := event.Of(ctx); e != nil && e.Error == "ResourceNotFoundException" {
		e.Message += s.elsewhere(ctx, name)
	}
	return dst, status
}

// elsewhere says for the log which databases have tables, if that of a name has none.
func (s *isolated) elsewhere(ctx context.Context, name string) string {
	const most = 5
	s.mu.Lock()
	databases := maps.Clone(s.databases)
	s.mu.Unlock()
	var with []string
	for _, other := range slices.Sorted(maps.Keys(databases)) {
		db := databases[other]
		select {
		case <-db.ready:
		default:
			continue
		}
		if db.err != nil || len(with) > most {
			continue
		}
		switch tables, _ := db.Tables(event.Quiet(ctx)); { // a database that is closed meanwhile has none
		case len(tables) == 0:
		case other == name:
			return ""
		case len(with) == most:
			with = append(with, "…")
		default:
			with = append(with, strconv.Quote(other))
		}
	}
	if with == nil {
		return ""
	}
	return fmt.Sprintf(" (the database of %q has no tables; these have some: %s)", name, strings.Join(with, ", "))
}

// enter returns the database of a name. The caller leaves it after use. The
// error is a [*wire.Error] if there are too many databases.
func (s *isolated) enter(name string) (*isolatedDB, error) { return s.enterOr(name, s.evict) }

// errNoDatabase is the error of control for a name without a database.
var errNoDatabase = errors.New("it has sent no request yet, or its database has made room for others")

// enterKnown returns the database of a name as enter does, but makes none.
func (s *isolated) enterKnown(name string) (*isolatedDB, error) {
	db, err := s.enterOr(name, func() error { return errNoDatabase })
	if errors.Is(err, errNoDatabase) {
		err = fmt.Errorf("%q has no database: %w", name, err)
	}
	return db, err
}

// enterOr returns the database of a name, and makes one if mayMake has no error. It calls mayMake
// with s.mu held.
func (s *isolated) enterOr(name string, mayMake func() error) (*isolatedDB, error) {
	s.mu.Lock()
	db := s.databases[name]
	if db != nil {
		db.running++
		s.mu.Unlock()
		<-db.ready
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
	s.databases[name] = db
	watched := s.watched
	s.mu.Unlock()

	db.DB, db.err = s.db.Fork(func(o *sortkey.Options) { s.isolate(name, db, nil, o) })
	if db.err == nil && watched {
		db.controlled()
	}
	if db.err != nil {
		s.mu.Lock()
		if s.databases[name] == db { // it may have been replaced
			delete(s.databases, name)
		}
		s.mu.Unlock()
	}
	close(db.ready)
	return db, db.err
}

// newIsolated returns a database that is being made, with a request that runs.
func newIsolated() *isolatedDB {
	return &isolatedDB{ready: make(chan struct{}), running: 1, offset: new(atomic.Int64)}
}

// controlled returns the control of the database. It begins when the database is made, if there is one.
func (db *isolatedDB) controlled() *controlled {
	db.once.Do(func() { db.of = newControlled(db) })
	return db.of
}

// replace makes the database of a name a copy of another, or for nil forgets it. Requests that run go on
// with the old one, which is closed after them.
func (s *isolated) replace(name string, from *isolatedDB) error {
	var fresh *isolatedDB
	if from != nil {
		fresh = newIsolated()
		fresh.running = 0
		fresh.DB, fresh.err = from.Fork(func(o *sortkey.Options) { s.isolate(name, fresh, from, o) })
		if fresh.err != nil {
			return fresh.err
		}
		fresh.controlled()
		close(fresh.ready)
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.databases[name]
	if fresh == nil {
		delete(s.databases, name)
	} else {
		if old == nil {
			if err := s.evict(); err != nil {
				return errors.Join(err, fresh.Close())
			}
		}
		fresh.last = s.engine.Clock()
		s.databases[name] = fresh
	}
	if old != nil {
		old.replaced = true
		s.retire(old)
	}
	return nil
}

// retire closes a database that no name leads to any more, once no request uses it. The caller holds s.mu.
func (s *isolated) retire(db *isolatedDB) {
	if db.running > 0 {
		return // leave calls it again
	}
	s.closing.Go(func() {
		if <-db.ready; db.err != nil {
			return
		}
		if err := db.Close(); err != nil {
			s.engine.Logger.Warn("cannot close a database that was replaced or made room for another", "err", err)
		}
	})
}

// isolate makes o the options of the database of a name, from those of the origin or of the database
// that it is a copy of: the time is then that of the other, and from there on its own.
func (s *isolated) isolate(name string, db, of *isolatedDB, o *sortkey.Options) {
	if of != nil {
		o.Clock, o.S3Root = of.clock, of.root
		db.offset.Store(of.offset.Load())
	}
	db.clock, db.root = o.Clock, o.S3Root
	clock := o.Clock
	o.Clock = func() time.Time { return clock().Add(time.Duration(db.offset.Load())) }
	if o.S3Root != "" {
		o.S3Root = filepath.Join(o.S3Root, folderOf(name))
	}
	if s.opts.IsolateBy == byRegion {
		o.Region = name[strings.LastIndexByte(name, '@')+1:]
	}
	if s.opts.IsolateOptions != nil {
		s.opts.IsolateOptions(name, o)
	}
}

// folderOf returns the folder of a name, which may be any text.
func folderOf(name string) string {
	folder := url.PathEscape(name)
	switch {
	case strings.Trim(folder, ".") == "":
		return strings.ReplaceAll(folder, ".", "%2E")
	case len(folder) > longestFolder:
		return fmt.Sprintf("%x", sha256.Sum256([]byte(name)))
	}
	return folder
}

// longestFolder is less than the longest name of usual file systems.
const longestFolder = 200

func (s *isolated) leave(db *isolatedDB) {
	s.mu.Lock()
	defer s.mu.Unlock()
	db.running--
	db.last = s.engine.Clock()
	if db.replaced {
		s.retire(db)
	}
}

// evict removes the database whose last request is longest ago if there are as many as
// allowed. It is closed in the background. The caller holds s.mu.
func (s *isolated) evict() error {
	limit := s.opts.Isolate
	if len(s.databases) < limit {
		return nil
	}
	oldest := ""
	for name, db := range s.databases {
		if db.running == 0 && (oldest == "" || db.last.Before(s.databases[oldest].last)) {
			oldest = name
		}
	}
	if oldest == "" || s.engine.Clock().Sub(s.databases[oldest].last) < idle {
		return &wire.Error{
			Code: "LimitExceededException", Status: http.StatusBadRequest,
			Message: fmt.Sprintf("the server keeps at most %d databases, and all of them have been used within the "+
				"last minute", limit),
		}
	}

	db := s.databases[oldest]
	delete(s.databases, oldest)
	s.retire(db)
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
		if <-db.ready; db.err == nil {
			errs = append(errs, db.Close())
		}
	}
	s.closing.Wait()
	return errors.Join(errs...)
}
