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

// isolated answers each request from the database that the request names, by default with its access key; see
// [Options.IsolateBy].
type isolated struct {
	db      *sortkey.DB // for requests that name none; the others are forked from it
	engine  *engine.DB  // of db
	opts    Options
	closing sync.WaitGroup // counts the evicted and replaced databases that are being closed in the background

	mu        sync.Mutex             // not held while a database is created or closed
	databases map[string]*isolatedDB // by name
	watched   bool                   // Control was called, so new databases log their requests
}

// An isolatedDB is a database that requests reach by its name.
type isolatedDB struct {
	ready chan struct{} // closed when DB or err is set
	*sortkey.DB
	err    error
	offset *atomic.Int64 // of its clock, in nanoseconds
	// clock is the origin's clock; root is the origin's S3Root.
	clock func() time.Time
	root  string

	once sync.Once
	of   *controlled

	replaced bool      // its name belongs to another database now, or to none
	running  int       // requests under way; s.mu guards running, last and replaced
	last     time.Time // end of the last request
}

// byRegion is the value of [Options.IsolateBy] that gives each access key a database in each Region.
const byRegion = "key,region"

// idle is how long a database must have received no request before evict may remove it.
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

// elsewhere returns a text for the log that lists other databases that have tables. It returns "" if no other
// database has tables, or if the database called name has tables itself.
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
		switch tables, _ := db.Tables(event.Quiet(ctx)); { // a database that was closed meanwhile counts as empty
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

// enter returns the database with a name, and creates it if there is none. The caller must call leave after use. The
// error is a [*wire.Error] if there are too many databases.
func (s *isolated) enter(name string) (*isolatedDB, error) { return s.enterOr(name, s.evict) }

// errNoDatabase says why a name in a request to Control has no database.
var errNoDatabase = errors.New("it has sent no request yet, or its database has made room for others")

// enterKnown returns the database with a name, as enter does, but does not create one.
func (s *isolated) enterKnown(name string) (*isolatedDB, error) {
	db, err := s.enterOr(name, func() error { return errNoDatabase })
	if errors.Is(err, errNoDatabase) {
		err = fmt.Errorf("%q has no database: %w", name, err)
	}
	return db, err
}

// enterOr returns the database with a name. If there is none, it creates one, unless mayMake returns an error. It
// calls mayMake with s.mu held.
func (s *isolated) enterOr(name string, mayMake func() error) (*isolatedDB, error) {
	s.mu.Lock()
	db := s.databases[name]
	if db != nil {
		db.running++
		s.mu.Unlock()
		<-db.ready
		if db.err != nil {
			return nil, db.err // the goroutine that failed to create it has removed it from s.databases
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
		if s.databases[name] == db { // replace may have put another database there
			delete(s.databases, name)
		}
		s.mu.Unlock()
	}
	close(db.ready)
	return db, db.err
}

// newIsolated returns an isolatedDB without its database, with one request under way.
func newIsolated() *isolatedDB {
	return &isolatedDB{ready: make(chan struct{}), running: 1, offset: new(atomic.Int64)}
}

// controlled returns the control of the database. The first call creates the control. If [Server.Control] has been
// called, enterOr and replace make that first call for each new database.
func (db *isolatedDB) controlled() *controlled {
	db.once.Do(func() { db.of = newControlled(db) })
	return db.of
}

// replace makes the database called name a copy of from or, if from is nil, forgets it. Requests under way go on with
// the old database, which is closed after the last of them.
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

// retire closes a database that has lost its name, in the background. If requests still use the database, retire does
// nothing, and the end of the last request calls retire again. The caller holds s.mu.
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

// isolate sets the options o of db, the database called name. If of is not nil, db is a copy of the database of, and
// its clock starts with the time of that database. Afterwards each of the two has its own clock.
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

// folderOf returns a valid folder name for the name of a database, which may be any text.
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

// longestFolder is below the limit of common file systems for a file name, 255 bytes.
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

// evict makes room for a database: at the limit, it removes the database whose last request is longest ago and closes
// it in the background. It returns an error if all databases are in use. The caller holds s.mu.
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
