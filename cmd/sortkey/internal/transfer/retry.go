package transfer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"

	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/text"
)

const (
	// attempts is the number of failed attempts in a row after which the retrier gives up a request. If the response
	// to a batch has unprocessed writes, the attempt has failed. If the endpoint has processed other writes of the
	// batch, the number starts again from 1.
	attempts = 10
	// DefaultBackoff is the default of Backoff in [ImportOptions] and [ExportOptions]. The pauses of a request then
	// add up to about half a minute.
	DefaultBackoff = 100 * time.Millisecond
	longestPause   = 10 * time.Second
	// A retrier does not report the pauses after the first failures of a request. If the endpoint does not answer, it
	// reports pauses from failure goneAfter on. If the endpoint is overloaded, it reports them from failure busyAfter
	// on.
	goneAfter, busyAfter = 2, 3
)

// A Wait is a pause before a request is retried.
type Wait struct {
	// Endpoint is the address of the endpoint. Reason describes the failure in a few words.
	Endpoint, Reason string
	// Tries is the number of failures in a row. After Of failures, the retrier gives up the request.
	Tries, Of int
	// Pause is the time until the next attempt.
	Pause time.Duration
}

// A retrier sends requests, and repeats those that fail. It asks the retryer of the client after which errors a
// request may succeed later.
type retrier struct {
	client  *dynamodb.Client
	retryer aws.Retryer
	quit    context.Context //nolint:containedctx // ends pauses, but no request in flight
	first   time.Duration
	notify  func(Wait) // may be nil

	mu      sync.Mutex
	reached bool // the endpoint has answered
}

func newRetrier(quit context.Context, client *dynamodb.Client, first time.Duration, notify func(Wait)) *retrier {
	if first <= 0 {
		first = DefaultBackoff
	}
	return &retrier{client: client, quit: quit, first: first, notify: notify, retryer: client.Options().Retryer}
}

// once is an option for a request to the client. With this option, the client sends the request only once and does
// not retry it.
func once(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }

// An unprocessed error means that the endpoint has not processed all writes of a batch.
type unprocessed struct {
	left int
	some bool // the endpoint has processed other writes of the batch
}

// Error implements error.
func (e *unprocessed) Error() string { return text.Count(e.left, "write") + " left unprocessed" }

// do calls request until it succeeds, or until do gives up. The function request must not retry by itself. If the
// endpoint has never answered, do does not retry, because the address may be wrong.
func (r *retrier) do(ctx context.Context, request func() error) error {
	pause := r.first
	for try := 1; ; try++ {
		err := request()
		left, full := errors.AsType[*unprocessed](err)
		if full && left.some {
			try, pause = 1, r.first
		}

		again := full || err != nil && r.retryer.IsErrorRetryable(err)
		_, answered := errors.AsType[smithy.APIError](err)
		answered = answered || full || err == nil
		r.mu.Lock()
		reached := r.reached || answered
		r.reached = reached
		r.mu.Unlock()
		switch {
		case !again || !reached || ctx.Err() != nil:
			return err
		case r.quit.Err() != nil:
			return context.Cause(r.quit)
		case try == attempts:
			return r.gaveUp(err, answered)
		}

		after := goneAfter
		if answered {
			after = busyAfter
		}
		if r.notify != nil && try >= after {
			r.mu.Lock()
			r.notify(Wait{Endpoint: r.endpoint(), Reason: cause(err), Tries: try, Of: attempts, Pause: pause})
			r.mu.Unlock()
		}

		if err := r.sleep(ctx, pause); err != nil {
			return err
		}
		pause = min(2*pause, longestPause)
	}
}

// call calls send, a method of the client, with retries.
func call[I, O any](
	ctx context.Context, r *retrier, send func(context.Context, *I, ...func(*dynamodb.Options)) (*O, error), in *I,
) (out *O, err error) {
	err = r.do(ctx, func() (err error) {
		out, err = send(ctx, in, once)
		return err
	})
	return out, err
}

// sleep waits for the time d. It returns an error if ctx or quit ends first.
func (r *retrier) sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-r.quit.Done():
		return context.Cause(r.quit)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (r *retrier) gaveUp(err error, answered bool) error {
	if answered {
		return fail(
			errors.Join(ErrOverloaded, err), "wait until it has less to do", "%s refused %d times in a row: %s",
			r.endpoint(), attempts, cause(err),
		)
	}
	return &advice.Error{
		Err: err, Msg: fmt.Sprintf("%s failed to answer %d times in a row: %s", r.endpoint(), attempts, cause(err)),
		Advice: "check that it is running and reachable",
	}
}

func (r *retrier) endpoint() string {
	if url := aws.ToString(r.client.Options().BaseEndpoint); url != "" {
		return url
	}
	return "the endpoint"
}

// cause describes in a few words why a request failed.
func cause(err error) string {
	if e, ok := errors.AsType[smithy.APIError](err); ok {
		return reason(errors.New(e.ErrorCode() + ": " + e.ErrorMessage()))
	}
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() {
		return "no answer in time"
	}
	if e, ok := errors.AsType[*net.OpError](err); ok {
		return reason(e.Err)
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		return reason(e.Err)
	}
	return reason(err)
}
