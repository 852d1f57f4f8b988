// Package live serves the page of a design while somebody edits its model file. A [Server] follows the file and
// checks each version. It answers queries from the dataset of the last version that has no errors.
package live

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path/filepath"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/sortkey/sortkey/internal/design/bill"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/lint"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/design/report"
)

// MaxFile bounds the size of a model file that the page can edit, in bytes.
const MaxFile = 4 << 20

// pause is the time between two reads of the file.
const pause = 200 * time.Millisecond

// Options configure a [Server].
type Options struct {
	Dataset dataset.Options
}

// A Server serves the page of one model file. Use [Server.Follow] to keep the page up to date.
type Server struct {
	file  file
	opts  Options
	saved chan bool // signals that a page has saved the file

	mu      sync.RWMutex // held for reading while the dataset is used
	dataset *dataset.Dataset
	page    *report.Page
	version string // version of text
	text    []byte
	// findings are the findings of a check of text. If text has errors, so that the server cannot check it, findings
	// are these errors.
	findings []Finding
	missing  *Finding // why the file cannot be read, or nil
	failed   int      // failed reads of the file in a row

	saving sync.Mutex

	telling sync.Mutex
	event   string
	next    chan struct{} // closed at the next event
}

// A Finding is a finding of a check, or an error in the model file. Line is its line in the file, or 0 if it is not
// about a line.
type Finding struct {
	Line    int    `json:"line"`
	Kind    string `json:"kind"` // bad, warn or note
	Message string `json:"message"`
	Advice  string `json:"advice,omitempty"`
}

// New reads and checks a model file. If the model has errors, New returns them as a [model.Errors].
func New(ctx context.Context, path string, o Options) (*Server, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	s := &Server{file: file(path), opts: o, saved: make(chan bool, 1), next: make(chan struct{})}
	data, err := s.file.read()
	if err != nil {
		return nil, err
	}
	if err := s.update(ctx, data); err != nil {
		return nil, err
	}
	return s, nil
}

// now returns the text that update has checked last, with its findings. The caller holds s.mu.
func (s *Server) now() Source {
	return Source{string(s.text), s.version, s.problems()}
}

// Close closes the dataset.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dataset.Close()
}

// maxFailures is the number of failed reads in a row after which the page says that the file cannot be read. A few
// reads may fail while an editor replaces the file.
const maxFailures = 5

// Follow reads the file every 200 ms and after each save by a page, and checks the file if it has changed. It returns
// when ctx is done.
func (s *Server) Follow(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.saved:
		case <-time.After(pause):
		}
		_ = s.Check(ctx) // pages get an event
	}
}

// miss records why the file cannot be read, or nil if it can be read again.
func (s *Server) miss(why *Finding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.missing = why
}

// Check checks the file if it has changed, and sends the pages events about the check.
func (s *Server) Check(ctx context.Context) error {
	data, err := s.file.read()
	if err != nil {
		if s.failed++; s.failed == maxFailures {
			const advice = "the page goes on when it can read the file"
			s.miss(&Finding{Kind: "bad", Message: err.Error(), Advice: advice})
			s.tell("broken")
		}
		return err
	}
	back := s.failed >= maxFailures
	s.failed = 0
	if back {
		s.miss(nil)
	}
	if s.seen(versionOf(data)) {
		if back {
			s.tell("page")
		}
		return nil
	}

	s.tell("working")
	if err := s.update(ctx, data); err != nil {
		s.tell("broken")
		return err
	}
	s.tell("page")
	return nil
}

// seen reports whether version is the version of the text that was checked last.
func (s *Server) seen(version string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.version == version
}

func versionOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// update checks a text. If the text has errors, the page continues to show the last version without errors.
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
	if s.dataset != nil {
		_ = s.dataset.Close()
	}
	s.dataset, s.page = w, page
	return nil
}

// build builds the dataset of a text.
func (s *Server) build(ctx context.Context, data []byte) (*dataset.Dataset, error) {
	m, err := modelfile.Parse(s.file.name(), data)
	if err != nil {
		return nil, err
	}
	return dataset.Build(ctx, m, s.opts.Dataset)
}

// check builds the dataset of a text, and checks its model.
func (s *Server) check(ctx context.Context, data []byte) (*dataset.Dataset, *report.Page, []Finding, error) {
	w, err := s.build(ctx, data)
	if err != nil {
		return nil, nil, problems(err), err
	}
	fail := func(err error) (*dataset.Dataset, *report.Page, []Finding, error) {
		return nil, nil, problems(err), errors.Join(err, w.Close())
	}
	r, err := check.Run(ctx, w, check.Options{Lint: lint.Run})
	if err != nil {
		return fail(err)
	}
	page, err := report.NewPage(ctx, w, r, bill.Of(r, bill.Known()))
	if err != nil {
		return fail(err)
	}
	return w, page, findingsOf(r), nil
}

// problems returns the errors of a model as findings.
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

// errChanged means that somebody has changed the file since the page loaded it, so a save would undo that change.
var errChanged = errors.New("the file has changed since it was read here; copy what you wrote, and load the page again")

// errReadOnly means that the file has no write permission.
var errReadOnly = errors.New("the file is read-only")

// errNotText means that the file is not UTF-8. The browser replaces characters that it cannot decode, and would save
// the replacements.
var errNotText = errors.New("the file is not UTF-8; change it in an editor")

// save writes data to the file, and returns the new version. It returns errChanged if the version of the file is not
// base. If two pages save texts that are both based on the same version, only the first save succeeds.
func (s *Server) save(base string, data []byte) (string, error) {
	s.saving.Lock()
	defer s.saving.Unlock()
	old, err := s.file.read()
	if err != nil {
		return "", err
	}
	switch {
	case versionOf(old) != base:
		return "", errChanged
	case bytes.Equal(old, data):
		return base, nil
	case !utf8.Valid(old):
		return "", errNotText
	}
	if err := s.file.replace(base, data); err != nil {
		return "", err
	}
	select {
	case s.saved <- true:
	default: // Follow has not yet received an earlier signal
	}
	return versionOf(data), nil
}

// Event returns the newest event, and a channel that is closed at the next event. The server sends "working" when it
// begins to check a text. It then sends "page", or "broken" if the text has errors. It also sends "broken" if it
// cannot read the file.
func (s *Server) Event() (event string, next <-chan struct{}) {
	s.telling.Lock()
	defer s.telling.Unlock()
	return s.event, s.next
}

// tell sends an event to all pages. A slow page may miss earlier events, but the newest one is enough.
func (s *Server) tell(event string) {
	s.telling.Lock()
	defer s.telling.Unlock()
	close(s.next)
	s.event, s.next = event, make(chan struct{})
}
