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

// Exports, imports and bulk puts are jobs. The request that starts a job records the job in the store and waits for
// its first batch, so that a small job is complete when the client gets the response. After that, the job continues
// without its client. Each batch is one update that also records the progress, so a job that continues after a
// restart does nothing twice.

// Kinds of jobs. Each kind is a part of the key of its jobs in the catalogue, and of their ARNs.
const (
	exportJobs = "export"
	importJobs = "import"
	bulkJobs   = "bulk-operation"
)

const (
	// jobsPage is the default number of jobs on a page.
	jobsPage = 10
	// maxJobs is how many jobs of a kind may be in progress. Source, for imports: DG/S3DataImport.Validation.html.
	maxJobs = 50
	// jobSlots is how many jobs a server runs at once; other jobs wait. Each running job holds a batch and a line in
	// memory.
	jobSlots = 4
	// jobBytes is how many bytes of input a job reads at most before it records its progress, even if there are no
	// items to write.
	jobBytes = 16 << 20
)

// A task does the work of one job. Each kind of job has its own type of task.
type task interface {
	// run does the rest of the work. If the error is a [*failure], the job has failed; after any other error the job
	// can be continued.
	run(ctx context.Context, r *run) error
	// end returns the record of the ended job, and what to change in its table. failed is nil if the job succeeded.
	end(s *Service, failed *failure) (record any, of *life.JobTable)
}

// A run is the execution of one job by this server.
type run struct {
	service *Service
	job     life.Job      // as it was recorded last
	forked  bool          // the database is a fork, and the original database runs the job too
	begin   func()        // closes begun
	begun   chan struct{} // closed when the client need no longer wait
	ended   chan struct{} // closed when this server has stopped running the job
}

// run starts a goroutine that runs a job. If this server already runs the job, run returns the existing run.
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

// context returns the context for a job that a request starts. It does not end with the context of the request, as
// the job outlives the request. It is an [event.Quiet] context if that of the request is, as for a test that fills a
// database.
func (r *runner) context(request context.Context) (context.Context, context.CancelFunc) {
	ctx := r.ctx
	if event.IsQuiet(request) {
		ctx = event.Quiet(ctx)
	}
	return context.WithCancel(ctx)
}

// await waits for the first batch of a job. If a test fills a database with the job, await waits for the whole job.
// It returns early if the context of the request ends.
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
		r.begin() // all slots are taken, so tell the client not to wait: other jobs run first
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

// isLeft reports whether err means that this server cannot go on with a job: another server has taken over the job,
// or the store is closed.
func isLeft(err error) bool {
	return errors.Is(err, life.ErrJobMoved) || errors.Is(err, store.ErrClosed)
}

// work runs a job and records its end. If it returns an error, the job has not ended and can be continued.
func (r *run) work(ctx context.Context) error {
	s := r.service
	t, err := newTask(r.job)
	if err != nil {
		return err
	}
	err = r.guarded(ctx, t)
	if errors.Is(err, errPanic) {
		// The panic may have come before or after the last commit, so the record in memory may be outdated. Read it
		// again.
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
		// The store is not shared, so no other server would continue the job before the next start. End it as failed.
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

// guarded runs a task. It returns errPanic if the task panics, so that the server survives, as it does when a request
// panics.
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

// update calls fn in an update. The update also replaces the record of the job by the one that fn returns.
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

// A jobKind describes one kind of job. R is the type of its records in the catalogue.
type jobKind[R any] struct {
	name string // key in the catalogue, and part of the ARNs
	arn  func(*R) *string
}

// newARN returns the ARN of a job for a table that starts now.
func (k jobKind[R]) newARN(s *Service, table string) (*string, error) {
	id, err := s.newTimeID(s.now())
	return new(s.arns.Table(table) + "/" + k.name + "/" + id), err
}

// A newJob describes a job that a request starts.
type newJob[R any] struct {
	record R
	token  jobToken[R]
	// missing says why the job cannot run, for example because its bucket does not exist. It is nil if the job can
	// run.
	missing *failure
	// def is the table to create with the job, or nil.
	def *table.Definition
}

// start records a job and starts to run it. If an earlier job has the same client token, start returns the record of
// that job instead.
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

// jobOf returns a copy of job with the given record as its value.
func jobOf(job life.Job, record any) (_ life.Job, err error) {
	job.Value, err = json.Marshal(record)
	return job, err
}

// failedJob returns a copy of a job that has failed before it could run.
func failedJob(s *Service, job life.Job, why *failure) (life.Job, error) {
	t, err := newTask(job)
	if err != nil {
		return job, err
	}
	record, _ := t.end(s, why)
	job.Ended = true
	return jobOf(job, record)
}

// ended sets the members of a description that say how a job ended. failed is nil if the job succeeded.
func (s *Service) ended(failed *failure, status **string, end **float64, code, message **string) {
	*status, *end = new("COMPLETED"), seconds(s.now())
	if failed != nil {
		*status, *code, *message = new("FAILED"), &failed.code, &failed.message
	}
}

// errKnown stops the update of [jobKind.start] if an earlier job has the same client token.
var errKnown = errors.New("the token stands for another job")

// checkJobs returns an error if [maxJobs] jobs of a kind are in progress. list has all jobs of the kind.
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

// ResumeJobs starts to run the unfinished jobs that no server runs, such as those of a server that has stopped. It
// does not wait for them. forked reports that the database is a fork, and that the original database runs the same
// jobs.
//
// ResumeJobs resumes nothing if [Options] has no S3Root, as jobs read and write files there. It also resumes nothing
// before a call of [LinkJobs]. The jobs then wait for a program that can run them.
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

// resume is [Service.run] once LinkJobs has been called, and otherwise nil.
var resume func(s *Service, ctx context.Context, kind, id string, forked bool) *run

// LinkJobs allows the databases of this process to resume jobs. Package server calls it. A program without a server
// does not call LinkJobs, so the linker can drop the code that reads and writes the files of jobs.
func LinkJobs() { resume = (*Service).run }

// Close stops each job after its current batch, and waits until all have stopped. The next process that opens the
// database continues the jobs. A job that starts after Close is recorded but does not run.
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

// jobTable returns the table of a job. It returns a failure if the table is gone, or if another table has its name
// now.
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

// load returns the records of all jobs of the kind, the newest first.
func (k jobKind[R]) load(ctx context.Context, s *Service) ([]R, error) {
	jobs, err := s.db.Jobs(ctx, k.name)
	if err != nil {
		return nil, err
	}
	return decodeJobs[R](jobs)
}

// find returns the record of the job with this ARN, or nil.
func (k jobKind[R]) find(ctx context.Context, s *Service, arn *string) (*R, error) {
	list, err := k.load(ctx, s)
	for i := range list {
		if *k.arn(&list[i]) == *arn {
			return &list[i], nil
		}
	}
	return nil, err
}

// page returns a page of the jobs for which keep returns true, the newest first. A page has at most limit jobs, or
// jobsPage if limit is nil. after is the token of the page, or nil for the first page. next is the token of the next
// page, or nil after the last page.
//
// A token is made from the last job of the previous page. Older jobs have lower tokens, so the page begins with the
// first job whose token is less than after.
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

// pageToken returns the token of the page after the job with this id. A token is hexadecimal and has a length that
// the service model allows. Tokens sort like ids.
func pageToken(kind, id string) string {
	token := hex.EncodeToString([]byte(kind + "/" + id))
	return token + strings.Repeat("0", max(112, (len(token)+15)/16*16)-len(token))
}

// checkPage returns an error if [pageToken] cannot have made the token for this kind of jobs. Source: ack-api-quirks,
// DDB-EXPORT-006.
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

// A jobToken is the client token of a request that starts a job. If the client repeats the request, the token finds
// the job, so that no second job starts. R is the type of the job's record.
type jobToken[R any] struct {
	token *string // nil if the client sent none
	// of returns the token in the record of an earlier job. It also reports whether the request that started that job
	// equals this request.
	of       func(*R) (token *string, same bool)
	conflict error // the error if an earlier, different request has the same token
}

// find returns the record of the job in jobs that has the token, or nil. If a different request started that job,
// find returns the error conflict.
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

// lookUp calls [jobToken.find] with the stored jobs of the kind.
func (k jobKind[R]) lookUp(ctx context.Context, s *Service, t jobToken[R]) (*R, error) {
	jobs, err := s.db.Jobs(ctx, k.name)
	if err != nil {
		return nil, err
	}
	return t.find(jobs)
}

// digestOf returns the JSON of a request. The record of a job has it, so that later requests with the same client
// token can be compared. The caller removes the token from the request first.
func digestOf(request any) (string, error) {
	text, err := json.Marshal(request)
	return string(text), err
}

// A runner holds the jobs that this server runs.
type runner struct {
	ctx   context.Context //nolint:containedctx // parent of the contexts of jobs, which outlive their requests
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
