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
	"time"

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

// A run is the execution of one job by this server.
type run struct {
	service *Service
	job     life.Job // as it was recorded last
	forked  bool     // the database is a fork, and the original database runs the job too

	// begun ends when the client need no longer wait, and ended when this server has stopped running the job. Both end
	// when the server closes.
	begun, ended context.Context //nolint:containedctx // of the run
	begin, end   context.CancelFunc
}

// run starts a goroutine that runs a job. If this server already runs the job, run returns the existing run.
func (s *Service) run(ctx context.Context, kind, id string, forked bool) *run {
	key := kind + "/" + id
	s.jobs.mu.Lock()
	defer s.jobs.mu.Unlock()
	if r := s.jobs.running[key]; r != nil {
		return r
	}
	r := &run{service: s, forked: forked}
	r.begun, r.begin = context.WithCancel(s.jobs.ctx)
	r.ended, r.end = context.WithCancel(s.jobs.ctx)
	if s.jobs.ctx.Err() != nil {
		return r
	}
	s.jobs.running[key] = r
	ctx, cancel := s.jobs.context(ctx)
	s.jobs.all.Go(func() {
		defer cancel()
		defer r.end()
		defer r.begin()
		r.do(ctx, kind, id)
		s.jobs.mu.Lock()
		delete(s.jobs.running, key)
		s.jobs.mu.Unlock()
	})
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
	case <-done.Done():
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
		return work(ctx, r)
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

// A jobKind is one kind of job. D is the description of such a job that clients get. The kinds are literals without
// calls, so the linker can drop those that a program does not use.
type jobKind[D any] struct {
	name string // key in the catalogue, and part of the ARNs
	// members returns the members of a description that all kinds have, some under names of their own.
	members func(*D) jobMembers
	// conflict is the error of a request with the client token of an earlier, different request.
	conflict error
	// run does the rest of the work. If the error is a [*failure], the job has failed; after any other error the job
	// can be continued.
	run func(context.Context, *run, *jobRecord[D]) error
	// end does the part of finish that is special to the kind.
	end func(r *jobRecord[D], failed *failure) *life.JobTable
}

// jobMembers points to members of the description of a job.
type jobMembers struct {
	arn, status   **string
	start, end    **float64
	code, message **string // of the failure
	token         *string  // nil if the client sent none
}

// A jobRecord is the record of a job in the catalogue.
type jobRecord[D any] struct {
	Description D
	// Request is the part of the request that a repeated request with the same client token must have too.
	Request string
	// Progress is the progress of an import or a bulk put.
	Progress progress
	// Begun is true once a server has begun to write the files of an export.
	Begun bool `json:",omitempty"`
}

// work runs a job and records its end. If it returns an error, the job has not ended and can be continued.
func (k *jobKind[D]) work(ctx context.Context, r *run) error {
	s := r.service
	record, err := k.decode(r.job)
	if err != nil {
		return err
	}
	err = k.guarded(ctx, r, record)
	failed, _ := errors.AsType[*failure](err)
	if err != nil && failed == nil {
		if ctx.Err() != nil || s.db.Shared() || isLeft(err) {
			return err
		}
		// The store is not shared, so no other server would continue the job before the next start. End it as failed.
		s.opts.Logger.Error("a job failed", "kind", k.name, "id", r.job.ID, "error", err)
		failed = &failure{failedInternal, err.Error()}
	}

	of := k.finish(s, record, failed)
	next, err := jobOf(life.Job{Kind: k.name, ID: r.job.ID, Ended: true}, record)
	if err != nil {
		return err
	}
	return s.db.EndJob(context.WithoutCancel(ctx), r.job, next, of)
}

// guarded calls k.run. If it panics, the job fails and the server survives, as it does when a request panics.
func (k *jobKind[D]) guarded(ctx context.Context, r *run, record *jobRecord[D]) (err error) {
	defer func() {
		if p := recover(); p != nil {
			r.service.opts.Logger.Error("panic in a job",
				"kind", k.name, "id", r.job.ID, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = &failure{failedInternal, "Internal server error"}
		}
	}()
	return k.run(ctx, r, record)
}

// finish completes the record of an ended job, and returns what to change in its table. failed is nil if the job
// succeeded.
func (k *jobKind[D]) finish(s *Service, r *jobRecord[D], failed *failure) *life.JobTable {
	m := k.members(&r.Description)
	*m.status, *m.end = new("COMPLETED"), seconds(s.now())
	if failed != nil {
		*m.status, *m.code, *m.message = new("FAILED"), &failed.code, &failed.message
	}
	return k.end(r, failed)
}

// newJob returns the record of a job that the input in asks for. Its description has the members of the input. The
// client must repeat the whole request to repeat the job.
func (k *jobKind[D]) newJob(in any) (*jobRecord[D], error) {
	text, err := json.Marshal(in)
	return &jobRecord[D]{Description: *wire.As[D](in), Request: string(text)}, err
}

// start records a job for the table called name and starts to run it. def is the definition of that table if the job
// creates the table, and otherwise nil. missing says why the job cannot run, for example because its bucket does not
// exist; it is nil if the job can run. start returns the description of the job. If an earlier job has the same client
// token, it starts nothing and returns the description of that job instead.
func (k *jobKind[D]) start(
	ctx context.Context, s *Service, r *jobRecord[D], name string, def *table.Definition, missing *failure,
) (*D, error) {
	id, err := s.newTimeID(s.now())
	if err != nil {
		return nil, err
	}
	m := k.members(&r.Description)
	*m.arn, *m.status, *m.start = new(s.arns.Table(name)+"/"+k.name+"/"+id), new("IN_PROGRESS"), seconds(s.now())
	record := *r
	if missing != nil {
		k.finish(s, &record, missing)
		def = nil // nothing will fill it
	}
	job, err := jobOf(life.Job{Kind: k.name, ID: id, Ended: missing != nil}, record)
	if err != nil {
		return nil, err
	}

	var known *D
	_, err = s.db.StartJob(ctx, job, def, func(list []life.Job) (err error) {
		if known, err = k.repeated(s, list, r); err != nil {
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
	return &r.Description, nil
}

// jobOf returns a copy of job with the given record as its value.
func jobOf(job life.Job, record any) (_ life.Job, err error) {
	job.Value, err = json.Marshal(record)
	return job, err
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
	s.jobs.mu.Lock() // so that no run is about to begin
	//lint:ignore SA2001 The wait for the lock is the purpose.
	s.jobs.mu.Unlock()
	s.jobs.all.Wait()
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

// decode returns the record of a job.
func (k *jobKind[D]) decode(job life.Job) (*jobRecord[D], error) {
	r := new(jobRecord[D])
	err := json.Unmarshal(job.Value, r)
	if err == nil && *k.members(&r.Description).arn == nil { // older versions did not nest descriptions of imports
		err = json.Unmarshal(job.Value, &r.Description)
	}
	if err != nil {
		return nil, fmt.Errorf("damaged catalogue: %s %s: %w", job.Kind, job.ID, err)
	}
	return r, nil
}

// decodeAll returns the records of jobs, the newest first.
func (k *jobKind[D]) decodeAll(jobs []life.Job) (list []*jobRecord[D], err error) {
	for _, job := range slices.Backward(jobs) {
		r, err := k.decode(job)
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

// load returns the records of all jobs of the kind, the newest first.
func (k *jobKind[D]) load(ctx context.Context, s *Service) ([]*jobRecord[D], error) {
	jobs, err := s.db.Jobs(ctx, k.name)
	if err != nil {
		return nil, err
	}
	return k.decodeAll(jobs)
}

// find returns the description of the job with this ARN, or nil.
func (k *jobKind[D]) find(ctx context.Context, s *Service, arn *string) (*D, error) {
	list, err := k.load(ctx, s)
	for _, r := range list {
		if **k.members(&r.Description).arn == *arn {
			return &r.Description, nil
		}
	}
	return nil, err
}

// listJobs returns a page of the jobs for which keep returns true, the newest first, in the form S. A page has at most
// limit jobs, or jobsPage if limit is nil. after is the token of the page, or nil for the first page. next is the token
// of the next page, or nil after the last page.
//
// A token is made from the last job of the previous page. Older jobs have lower tokens, so the page begins with the
// first job whose token is less than after.
func listJobs[S, D any](
	ctx context.Context, s *Service, k *jobKind[D], limit *int64, after *string, keep func(*D) bool,
) (page []S, next *string, err error) {
	list, err := k.load(ctx, s)
	if err == nil {
		err = checkPage(k.name, after)
	}
	if err != nil {
		return nil, nil, err
	}
	n := jobsPage
	if limit != nil {
		n = int(*limit)
	}
	page = []S{}
	last := ""
	for _, r := range list {
		token := pageToken(k.name, path.Base(**k.members(&r.Description).arn))
		if !keep(&r.Description) || after != nil && token >= *after {
			continue
		}
		if len(page) == n {
			return page, &last, nil
		}
		page, last = append(page, *wire.As[S](&r.Description)), token
	}
	return page, nil, nil
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

// jobTokenLife is how long a client token identifies a job: a request with the token during that time is a repetition.
// Sources: API_ExportTableToPointInTime, API_ImportTable and API_StartBulkPutItems, ClientToken.
const jobTokenLife = 8 * time.Hour

// repeated returns the description of the job in jobs that has the client token of r, or nil. If a different request
// started that job, repeated returns the error conflict.
func (k *jobKind[D]) repeated(s *Service, jobs []life.Job, r *jobRecord[D]) (*D, error) {
	token := k.members(&r.Description).token
	if token == nil {
		return nil, nil
	}
	list, err := k.decodeAll(jobs)
	for _, known := range list {
		m := k.members(&known.Description)
		switch {
		case m.token == nil || *m.token != *token || s.now().Sub(timeOf(**m.start)) >= jobTokenLife:
		case known.Request != r.Request:
			return nil, k.conflict
		default:
			return &known.Description, nil
		}
	}
	return nil, err
}

// A runner holds the jobs that this server runs.
type runner struct {
	ctx   context.Context //nolint:containedctx // parent of the contexts of jobs, which outlive their requests
	stop  context.CancelFunc
	slots chan struct{}
	all   sync.WaitGroup // of the goroutines of running jobs

	mu      sync.Mutex
	running map[string]*run // by kind and id
}

func newRunner() *runner {
	r := &runner{slots: make(chan struct{}, jobSlots), running: map[string]*run{}}
	r.ctx, r.stop = context.WithCancel(context.Background())
	return r
}
