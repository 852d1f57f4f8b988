package api

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/sortkey/sortkey/internal/api/event"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/life"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/store"
)

// Exports, imports and bulk puts are jobs. The request that starts one records it in the
// store and waits for its first batch, so that a small job is complete once it is answered.
// The job continues without its client. Each batch is one update with the record of how far
// the job is, so that nothing is done twice when the job continues after a restart.

// The kinds of jobs in the catalogue, and a part of their ARNs.
const (
	exportJobs = "export"
	importJobs = "import"
	bulkJobs   = "bulk-operation"
)

const (
	// jobsPage is how many jobs are on a page by default.
	jobsPage = 10
	// maxJobs is how many jobs of a kind can be in progress. Source:
	// DG/S3DataImport.Validation.html, of imports.
	maxJobs = 50
	// jobSlots is how many jobs a server works at; the others wait. Each of them holds a
	// batch and a line in memory.
	jobSlots = 4
	// jobBytes is how much of its input a job reads before it records that, if it has
	// nothing to write.
	jobBytes = 16 << 20
)

// A task does the work of one job; each kind of job has its own.
type task interface {
	// run does the rest of the work. The error is a [*failure] if the job has failed;
	// after any other one it can be continued.
	run(ctx context.Context, r *run) error
	// end returns the record of the job that has ended, and what becomes of its table.
	// Failed is nil if all was done.
	end(s *Service, failed *failure) (record any, of *life.JobTable)
}

// A run is the work of this server at a job.
type run struct {
	service *Service
	job     life.Job      // as it was recorded last
	forked  bool          // the origin of this database works at the job too
	begin   func()        // closes begun
	begun   chan struct{} // closed after the first batch, if there is more
	ended   chan struct{} // closed when this server has stopped working at the job
}

// run begins to work at a job, unless this server does so already.
func (s *Service) run(ctx context.Context, kind, id string, forked bool) *run {
	key := kind + "/" + id
	s.jobs.mu.Lock()
	defer s.jobs.mu.Unlock()
	if r := s.jobs.running[key]; r != nil {
		return r
	}
	r := &run{service: s, forked: forked, begun: make(chan struct{}), ended: make(chan struct{})}
	r.begin = sync.OnceFunc(func() { close(r.begun) })
	if s.jobs.ctx.Err() != nil {
		r.begin()
		close(r.ended)
		return r
	}
	s.jobs.running[key] = r
	ctx, cancel := s.jobs.context(ctx)
	go func() {
		defer cancel()
		r.do(ctx, kind, id)
		s.jobs.mu.Lock()
		delete(s.jobs.running, key)
		s.jobs.mu.Unlock()
		r.begin()
		close(r.ended)
	}()

	return r
}

// context returns the context of a job that a request starts. It has nothing of the
// request but whether that is one of the fixtures of a test.
func (r *runner) context(request context.Context) (context.Context, context.CancelFunc) {
	ctx := r.ctx
	if event.IsQuiet(request) {
		ctx = event.Quiet(ctx)
	}
	return context.WithCancel(ctx)
}

// await waits for the first batch of a job that a request has started, and in a fixture of
// a test for the whole job; but no longer than the client does.
func (r *run) await(ctx context.Context) {
	done := r.begun
	if event.IsQuiet(ctx) {
		done = r.ended
	}
	select {
	case <-done:
	case <-ctx.Done():
	}
}

func (r *run) do(ctx context.Context, kind, id string) {
	s := r.service
	if len(s.jobs.slots) == cap(s.jobs.slots) {
		r.begin() // a client need not wait for other jobs
	}
	select {
	case s.jobs.slots <- struct{}{}:
		defer func() { <-s.jobs.slots }()
	case <-ctx.Done():
		return
	}

	err := s.db.RunJob(ctx, kind, id, func(ctx context.Context, job life.Job) error {
		r.job = job
		return r.work(ctx)
	})
	switch {
	case err == nil || ctx.Err() != nil || isLeft(err):
	case s.db.Shared():
		s.opts.Logger.Warn("a job was interrupted; it will be continued", "kind", kind, "id", id, "error", err)
	default:
		s.opts.Logger.Error("a job was interrupted; the next start of the database continues it",
			"kind", kind, "id", id, "error", err)
	}
}

// isLeft reports whether another server has taken over a job, or its store was closed.
func isLeft(err error) bool {
	return errors.Is(err, life.ErrJobMoved) || errors.Is(err, store.ErrClosed)
}

// work works at a job and records its end. After an error the job can be continued.
func (r *run) work(ctx context.Context) error {
	s := r.service
	t, err := newTask(r.job)
	if err != nil {
		return err
	}
	err = r.guarded(ctx, t)
	if errors.Is(err, errPanic) {
		// Whether the last batch was written is for the store to say.
		if r.job, err = s.db.Job(ctx, r.job.Kind, r.job.ID); err == nil {
			t, err = newTask(r.job)
		}
		if err != nil {
			return err
		}
		err = &failure{failedInternal, "Internal server error"}
	}

	failed, _ := errors.AsType[*failure](err)
	if err != nil && failed == nil {
		if ctx.Err() != nil || s.db.Shared() || isLeft(err) {
			return err
		}
		// Nobody would continue it before the next start.
		s.opts.Logger.Error("a job failed", "kind", r.job.Kind, "id", r.job.ID, "error", err)
		failed = &failure{failedInternal, err.Error()}
	}

	record, of := t.end(s, failed)
	next, err := jobOf(life.Job{Kind: r.job.Kind, ID: r.job.ID, Ended: true}, record)
	if err != nil {
		return err
	}
	return s.db.EndJob(context.WithoutCancel(ctx), r.job, next, of)
}

// guarded stands between the panics of a task and the process, as the server does for
// requests.
func (r *run) guarded(ctx context.Context, t task) (err error) {
	defer func() {
		if p := recover(); p != nil {
			r.service.opts.Logger.Error("panic in a job",
				"kind", r.job.Kind, "id", r.job.ID, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = errPanic
		}
	}()
	return t.run(ctx, r)
}

var errPanic = errors.New("panic in a job")

// update runs fn as an update that also replaces the record of the job by what fn
// returns.
func (r *run) update(ctx context.Context, fn func(*table.Tx) (record any, err error)) error {
	var next life.Job
	err := r.service.db.Update(ctx, func(tx *table.Tx) error {
		record, err := fn(tx)
		if err != nil {
			return err
		}
		if next, err = jobOf(life.Job{Kind: r.job.Kind, ID: r.job.ID}, record); err != nil {
			return err
		}
		return life.SaveJob(tx, r.job, next)
	})
	if err == nil {
		r.job = next
	}
	return err
}

// A jobKind is what the jobs of one kind have in common. R is their record in the catalogue.
type jobKind[R any] struct {
	name string // in the catalogue, and a part of their ARNs
	arn  func(*R) *string
}

// newARN returns the ARN of a job of a table that begins now.
func (k jobKind[R]) newARN(s *Service, table string) (*string, error) {
	id, err := s.newTimeID(s.now())
	return new(s.arns.Table(table) + "/" + k.name + "/" + id), err
}

// A newJob is the job that a request starts.
type newJob[R any] struct {
	record R
	token  jobToken[R]
	// missing is why the job fails at once, such as that its bucket does not exist, or nil.
	missing *failure
	// def is the table that is created with the job, or nil.
	def *table.Definition
}

// start records a job and begins to work at it, unless the token of its request stands
// for one already. It returns the record of the job.
func (k jobKind[R]) start(ctx context.Context, s *Service, n newJob[R]) (*R, error) {
	job, err := jobOf(life.Job{Kind: k.name, ID: path.Base(*k.arn(&n.record))}, n.record)
	if err == nil && n.missing != nil {
		job, err = failedJob(s, job, n.missing)
		n.def = nil // nothing will fill it
	}
	if err != nil {
		return nil, err
	}

	var known *R
	_, err = s.db.StartJob(ctx, job, n.def, func(list []life.Job) (err error) {
		if known, err = n.token.find(list); err != nil {
			return err
		}
		if known != nil {
			return errKnown
		}
		return checkJobs(list)
	})
	switch {
	case errors.Is(err, errKnown):
		return known, nil
	case err != nil:
		return nil, err
	case !job.Ended:
		s.run(ctx, job.Kind, job.ID, false).await(ctx)
	}
	return &n.record, nil
}

// jobOf returns a job with another record.
func jobOf(job life.Job, record any) (_ life.Job, err error) {
	job.Value, err = json.Marshal(record)
	return job, err
}

// failedJob returns a job that has failed before it began.
func failedJob(s *Service, job life.Job, why *failure) (life.Job, error) {
	t, err := newTask(job)
	if err != nil {
		return job, err
	}
	record, _ := t.end(s, why)
	job.Ended = true
	return jobOf(job, record)
}

// ended sets the members of a description that say how a job has ended. Failed is nil if all was done.
func (s *Service) ended(failed *failure, status **string, end **float64, code, message **string) {
	*status, *end = new("COMPLETED"), seconds(s.now())
	if failed != nil {
		*status, *code, *message = new("FAILED"), &failed.code, &failed.message
	}
}

// errKnown ends the start of a job whose token stands for another one.
var errKnown = errors.New("the token stands for another job")

// checkJobs refuses another job of a kind if too many of these are in progress.
func checkJobs(list []life.Job) error {
	unfinished := 0
	for _, job := range list {
		if !job.Ended {
			unfinished++
		}
	}
	if unfinished < maxJobs {
		return nil
	}
	const text = "%d jobs of this kind are in progress, which is the limit. Try again when one has ended."
	return wire.NewError("LimitExceededException", fmt.Sprintf(text, unfinished))
}

// ResumeJobs continues the jobs that have not ended and that no server works at, as it
// may have been stopped. Forked says that the database is a copy, whose origin continues
// them too. It does not wait for the jobs.
//
// Without a folder of buckets nothing can be continued, so that a database may be opened
// for something else meanwhile; nor before [LinkJobs].
func (s *Service) ResumeJobs(ctx context.Context, forked bool) error {
	list, err := s.db.UnfinishedJobs(ctx)
	if err != nil || len(list) == 0 {
		return err
	}
	if s.opts.S3Root == "" || resume == nil {
		if !s.db.Shared() {
			s.opts.Logger.Warn("exports, imports or bulk puts wait until a program with a server opens "+
				"the database with its folder of buckets",
				"jobs", len(list))
		}
		return nil
	}
	for _, job := range list {
		resume(s, ctx, job.Kind, job.ID, forked)
	}
	return nil
}

// resume is [Service.run], or nil before LinkJobs.
var resume func(s *Service, ctx context.Context, kind, id string, forked bool) *run

// LinkJobs lets the databases of this process continue jobs. Package server calls it: a program without a server
// starts none, and so does not link what reads and writes their files.
func LinkJobs() { resume = (*Service).run }

// Close stops the jobs after the batch that they write, and waits for that. Whoever opens
// the database next continues them. Jobs that are started afterwards only get recorded.
func (s *Service) Close() {
	s.jobs.stop()
	s.jobs.mu.Lock()
	var ends []chan struct{}
	for _, r := range s.jobs.running {
		ends = append(ends, r.ended)
	}
	s.jobs.mu.Unlock()
	for _, ended := range ends {
		<-ended
	}
}

// jobTable returns the table of a job, which must still be the one of its id.
func jobTable(find func(string) (*table.Table, error), name, id string) (*table.Table, error) {
	t, err := find(name)
	if isNotFound(err) || err == nil && t.Definition().ID != id {
		return nil, &failure{failedTable, "Table " + name + " was deleted before the job had ended, or cannot be used."}
	}
	return t, err
}

// decodeJob decodes the record of a job.
func decodeJob(job life.Job, record any) error {
	if err := json.Unmarshal(job.Value, record); err != nil {
		return fmt.Errorf("damaged catalogue: %s %s: %w", job.Kind, job.ID, err)
	}
	return nil
}

// decodeJobs returns the records of jobs of a kind, the newest first.
func decodeJobs[R any](jobs []life.Job) (list []R, err error) {
	for _, job := range slices.Backward(jobs) {
		var r R
		if err := decodeJob(job, &r); err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

// load returns the records of all jobs, the newest first.
func (k jobKind[R]) load(ctx context.Context, s *Service) ([]R, error) {
	jobs, err := s.db.Jobs(ctx, k.name)
	if err != nil {
		return nil, err
	}
	return decodeJobs[R](jobs)
}

// find returns the record of the job with an ARN, or nil.
func (k jobKind[R]) find(ctx context.Context, s *Service, arn *string) (*R, error) {
	list, err := k.load(ctx, s)
	for i := range list {
		if *k.arn(&list[i]) == *arn {
			return &list[i], nil
		}
	}
	return nil, err
}

// page returns a page of the jobs to keep, of limit jobs or the usual number, and the token
// of the next page if there is one. After is the token of this page, or nil for the first
// one. The token of a page is made from the last job of the page before. Tokens descend from page to page.
func (k jobKind[R]) page(
	ctx context.Context, s *Service, limit *int64, after *string, keep func(*R) bool,
) (page []R, next *string, err error) {
	list, err := k.load(ctx, s)
	if err == nil {
		err = checkPage(k.name, after)
	}
	if err != nil {
		return nil, nil, err
	}
	token := func(r *R) string { return pageToken(k.name, path.Base(*k.arn(r))) }
	list = slices.DeleteFunc(list, func(r R) bool { return !keep(&r) || after != nil && token(&r) >= *after })
	n := jobsPage
	if limit != nil {
		n = int(*limit)
	}
	if len(list) <= n {
		return list, nil, nil
	}
	return list[:n], new(token(&list[n-1])), nil
}

// pageToken returns the token of a page that ends with a job, in the form that the service model
// wants: hexadecimal, in the order of ids.
func pageToken(kind, id string) string {
	token := hex.EncodeToString([]byte(kind + "/" + id))
	return token + strings.Repeat("0", max(112, (len(token)+15)/16*16)-len(token))
}

// checkPage refuses a token that [pageToken] has not made for a kind of jobs. Source:
// ack-api-quirks, DDB-EXPORT-006.
func checkPage(kind string, token *string) error {
	if token == nil {
		return nil
	}
	text, err := hex.DecodeString(*token)
	id, ok := strings.CutPrefix(strings.TrimRight(string(text), "\x00"), kind+"/")
	if err != nil || !ok || pageToken(kind, id) != *token || id == "" {
		return badRequest("Provided nextToken is invalid: " + *token)
	}
	return nil
}

// A jobToken is the token of a request. It stands for the job of a kind that the same
// request has started; R is the record of these jobs.
type jobToken[R any] struct {
	token *string // nil if the client has sent none
	// of returns the token that a job was started with, and whether the request was the
	// same.
	of       func(*R) (token *string, same bool)
	conflict error // the answer to another request with the token of a job
}

// find returns the record of the job that the token stands for, or nil.
func (t jobToken[R]) find(jobs []life.Job) (*R, error) {
	if t.token == nil {
		return nil, nil
	}
	list, err := decodeJobs[R](jobs)
	for i := range list {
		token, same := t.of(&list[i])
		switch {
		case token == nil || *token != *t.token:
		case !same:
			return nil, t.conflict
		default:
			return &list[i], nil
		}
	}
	return nil, err
}

// lookUp returns the record of the job that a token stands for among those that are recorded, or nil.
func (k jobKind[R]) lookUp(ctx context.Context, s *Service, t jobToken[R]) (*R, error) {
	jobs, err := s.db.Jobs(ctx, k.name)
	if err != nil {
		return nil, err
	}
	return t.find(jobs)
}

// digestOf returns the text of a request that has lost its token, which tells the request
// from others with the same token.
func digestOf(request any) (string, error) {
	text, err := json.Marshal(request)
	return string(text), err
}

// A runner has the jobs that this server works at.
type runner struct {
	ctx   context.Context //nolint:containedctx // of the jobs, which outlive their requests
	stop  context.CancelFunc
	slots chan struct{}

	mu      sync.Mutex
	running map[string]*run // by kind and id
}

func newRunner() *runner {
	r := &runner{slots: make(chan struct{}, jobSlots), running: map[string]*run{}}
	r.ctx, r.stop = context.WithCancel(context.Background())
	return r
}
