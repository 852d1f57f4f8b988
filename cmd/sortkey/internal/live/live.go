// Package live serves the page of a design while its file is edited: [Server] follows the file, checks
// each version, and answers queries from the world of the last one without errors.
package live

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/sortkey/sortkey/internal/design/bill"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/lint"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/design/report"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/text"
)

// MaxFile is the size of a model file in bytes, as the page edits it.
const MaxFile = 4 << 20

// pause is the time between two looks at the file.
const pause = 200 * time.Millisecond

// Options configure a [Server].
type Options struct {
	World world.Options
	// Bill returns the bill of a result. Default: none.
	Bill func(*check.Result) (*bill.Bill, error)
}

// A Server is the page of one model file. Use [Server.Follow] to keep it up to date.
type Server struct {
	path string
	opts Options

	mu      sync.RWMutex // held for reading while the world is used
	world   *world.World
	page    *report.Page
	version string // of the text that was looked at last
	text    []byte
	// findings are those of the text: of its check, or the errors for which it could not be checked.
	findings []Finding
	missing  *Finding // says why the file cannot be read, while it cannot

	saving sync.Mutex

	listening sync.Mutex
	listeners map[chan string]bool
}

// A Finding is a finding at a line of the source, or at 0.
type Finding struct {
	Line    int    `json:"line"`
	Kind    string `json:"kind"` // bad, warn or note
	Message string `json:"message"`
	Advice  string `json:"advice,omitempty"`
}

// New checks a model file. The error is a [model.Errors] if the model has errors.
func New(ctx context.Context, path string, o Options) (*Server, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	s := &Server{path: path, opts: o, listeners: map[chan string]bool{}}
	data, err := s.read()
	if err != nil {
		return nil, err
	}
	if err := s.update(ctx, data); err != nil {
		return nil, err
	}
	return s, nil
}

// Close closes the world.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.world.Close()
}

// patience is the number of looks for which the file may be missing: an editor may be replacing it.
const patience = 5

// Follow checks the file whenever it changes, until ctx is done.
func (s *Server) Follow(ctx context.Context) {
	failed := 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		data, err := s.read()
		if err != nil {
			if failed++; failed == patience {
				const advice = "the page goes on when it can read the file"
				s.miss(&Finding{Kind: "bad", Message: err.Error(), Advice: advice})
				s.tell("broken")
			}
			continue
		}
		back := failed >= patience
		failed = 0
		if back {
			s.miss(nil)
		}
		if s.current() == versionOf(data) {
			if back {
				s.tell("page")
			}
			continue
		}
		s.tell("working")
		if err := s.update(ctx, data); err != nil {
			s.tell("broken")
		} else {
			s.tell("page")
		}
	}
}

// miss sets why the file cannot be read, or nil.
func (s *Server) miss(why *Finding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.missing = why
}

func (s *Server) current() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.version
}

func (s *Server) read() ([]byte, error) {
	f, err := os.Open(s.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err == nil && len(data) > MaxFile {
		err = fmt.Errorf("%s is larger than %s", s.path, text.Size(MaxFile))
	}
	return data, err
}

func versionOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// update checks a text. If it has errors, the page stays as it is.
func (s *Server) update(ctx context.Context, data []byte) error {
	w, page, findings, err := s.check(ctx, data)
	if ctx.Err() != nil {
		if w != nil {
			_ = w.Close()
		}
		return ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version, s.text, s.findings = versionOf(data), data, findings
	if err != nil {
		return err
	}
	if s.world != nil {
		_ = s.world.Close()
	}
	s.world, s.page = w, page
	return nil
}

// check builds the world of a text, and checks it.
func (s *Server) check(ctx context.Context, data []byte) (*world.World, *report.Page, []Finding, error) {
	m, err := modelfile.Parse(filepath.Base(s.path), data)
	if err != nil {
		return nil, nil, problems(err), err
	}
	w, err := world.Build(ctx, m, s.opts.World)
	if err != nil {
		return nil, nil, problems(err), err
	}
	fail := func(err error) (*world.World, *report.Page, []Finding, error) {
		return nil, nil, problems(err), errors.Join(err, w.Close())
	}
	r, err := check.Run(ctx, w, check.Options{Lint: lint.Run})
	if err != nil {
		return fail(err)
	}
	var cost *bill.Bill
	if s.opts.Bill != nil {
		if cost, err = s.opts.Bill(r); err != nil {
			return fail(err)
		}
	}
	page, err := report.NewPage(ctx, w, r, cost)
	if err != nil {
		return fail(err)
	}
	return w, page, findingsOf(r), nil
}

// problems are the errors of a model as findings.
func problems(err error) (all []Finding) {
	list, ok := errors.AsType[model.Errors](err)
	if !ok {
		return []Finding{{Kind: "bad", Message: err.Error()}}
	}
	for _, e := range list {
		all = append(all, Finding{Line: e.Pos.Line, Kind: "bad", Message: e.Msg, Advice: e.Hint})
	}
	return all
}

var kinds = map[model.Severity]string{model.Error: "bad", model.Warning: "warn", model.Note: "note"}

func findingsOf(r *check.Result) []Finding {
	all := []Finding{}
	for _, f := range r.Findings {
		if f.Accepted == "" {
			all = append(all, Finding{Line: f.Pos.Line, Kind: kinds[f.Severity], Message: f.Message, Advice: f.Advice})
		}
	}
	return all
}

// errChanged is the reason why a text is not saved.
var errChanged = errors.New("the file has changed since it was read here; copy what you wrote, and load the page again")

// errReadOnly is another.
var errReadOnly = errors.New("the file is read-only")

// errNotText is another: the browser shows what it cannot decode in another way, and would save that.
var errNotText = errors.New("the file is not UTF-8; change it in an editor")

// save replaces the file by a text, unless it is no longer the version on which the text is based. It
// returns the version of the text. The file is complete at every moment. Of two saves of the same version
// one wins; a program that saves the file within the moment of the renaming loses what it saved.
func (s *Server) save(base string, data []byte) (string, error) {
	s.saving.Lock()
	defer s.saving.Unlock()
	old, err := s.read()
	if err != nil {
		return "", err
	}
	info, err := os.Stat(s.path)
	if err != nil {
		return "", err
	}
	data = inLinesOf(old, data)
	switch {
	case versionOf(old) != base:
		return "", errChanged
	case bytes.Equal(old, data):
		return base, nil
	case info.Mode().Perm()&0o222 == 0:
		return "", errReadOnly
	case !utf8.Valid(old):
		return "", errNotText
	}
	f, err := os.CreateTemp(filepath.Dir(s.path), ".sortkey-*")
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name()) // in vain once it is renamed
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(info.Mode().Perm()), f.Sync(), f.Close())
	if now, again := s.read(); err == nil && (again != nil || versionOf(now) != base) {
		err = errors.Join(again, errChanged) // meanwhile
	}
	if err == nil {
		err = os.Rename(f.Name(), s.path)
	}
	if err != nil {
		return "", err
	}
	return versionOf(data), nil
}

// A browser ends all lines of a text with a line feed.
var crlf, lf = []byte("\r\n"), []byte("\n")

// inLinesOf returns a text from the browser with the line ends of the file.
func inLinesOf(old, data []byte) []byte {
	if n := bytes.Count(old, crlf); n == 0 || n < bytes.Count(old, lf) || bytes.Contains(data, crlf) {
		return data
	}
	return bytes.ReplaceAll(data, lf, crlf)
}

// listen returns a channel of events, and a function that ends it.
func (s *Server) listen() (events chan string, end func()) {
	events = make(chan string, 4)
	s.listening.Lock()
	defer s.listening.Unlock()
	s.listeners[events] = true
	return events, func() {
		s.listening.Lock()
		defer s.listening.Unlock()
		delete(s.listeners, events)
	}
}

// tell sends an event to all pages. One that does not keep up loses its oldest events: the newest says all.
func (s *Server) tell(event string) {
	s.listening.Lock()
	defer s.listening.Unlock()
	for events := range s.listeners {
		for {
			select {
			case events <- event:
			default:
				select {
				case <-events:
				default:
				}
				continue
			}
			break
		}
	}
}
