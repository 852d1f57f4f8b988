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
)

const (
	// attempts is how often in a row a request may fail, or the endpoint may
	// leave writes of it unprocessed, before it is given up.
	attempts = 10
	// DefaultBackoff is how long the first pause of [ImportOptions] and
	// [ExportOptions] is. All together are about half a minute.
	DefaultBackoff = 100 * time.Millisecond
	longestPause   = 10 * time.Second
	// Fewer failures of an endpoint, and fewer refusals of one that has too much
	// to do, are nothing to be told of.
	goneAfter, busyAfter = 2, 3
)

// A Wait is a pause after which a request is made again.
type Wait struct {
	// Endpoint is the one that does not do what it is asked for, and Reason is
	// why, in a few words.
	Endpoint, Reason string
	// Tries is how many have failed in a row, of Of after which the request is
	// given up. It is 0 when the endpoint answers again.
	Tries, Of int
	// Pause is the time until the next.
	Pause time.Duration
}

// A retrier makes requests again that failed for a reason that may pass. What
// that is the client's own retryer says.
type retrier struct {
	client  *dynamodb.Client
	retryer aws.Retryer
	quit    context.Context //nolint:containedctx // ends pauses, but no request under way
	first   time.Duration
	told    func(Wait) // may be nil

	mu      sync.Mutex
	reached bool // the endpoint has answered
	waiting int  // requests whose pauses have been told of
}

func newRetrier(quit context.Context, client *dynamodb.Client, first time.Duration, told func(Wait)) *retrier {
	if first <= 0 {
		first = DefaultBackoff
	}
	return &retrier{client: client, quit: quit, first: first, told: told, retryer: client.Options().Retryer}
}

// once leaves retrying to the retrier.
func once(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }

// An unprocessed error says that the endpoint left writes of a batch undone.
type unprocessed struct {
	left int
	some bool // others were done
}

// Error implements error.
func (e *unprocessed) Error() string { return fmt.Sprintf("%d writes left unprocessed", e.left) }

// do makes a request, which must not retry itself. It gives up at once when the
// endpoint was never reached: it may well be another than was meant.
func (r *retrier) do(ctx context.Context, request func() error) error {
	told := false
	defer func() {
		if told {
			r.mu.Lock()
			r.waiting--
			r.mu.Unlock()
		}
	}()
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
		if err == nil && told && r.waiting == 1 && r.told != nil {
			r.told(Wait{Endpoint: r.endpoint()})
		}
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
		if r.told != nil && try >= after {
			r.mu.Lock()
			if !told {
				told = true
				r.waiting++
			}
			r.told(Wait{Endpoint: r.endpoint(), Reason: cause(err), Tries: try, Of: attempts, Pause: pause})
			r.mu.Unlock()
		}
		if err := r.sleep(ctx, pause); err != nil {
			return err
		}
		pause = min(2*pause, longestPause)
	}
}

// sleep pauses until the time is over, or somebody has enough.
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
	e := &Error{Err: err, Msg: fmt.Sprintf("%s did not answer %d times in a row: %s", r.endpoint(), attempts, cause(err)), Hint: "see that it runs and can be reached"}
	if answered {
		e.Msg = fmt.Sprintf("%s refused %d times in a row: %s", r.endpoint(), attempts, cause(err))
		e.Hint = "wait until there is less to do there, or ask for less at a time with --workers"
	}
	return e
}

func (r *retrier) endpoint() string {
	if url := aws.ToString(r.client.Options().BaseEndpoint); url != "" {
		return url
	}
	return "the endpoint"
}

// cause says in a few words why a request failed.
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
