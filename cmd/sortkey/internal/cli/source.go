package cli

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/models"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/server"
	"github.com/sortkey/sortkey/sdk"
	"github.com/sortkey/sortkey/store/postgres"
)

// A source is a database to query: a running server, a model loaded into memory, or
// rows in PostgreSQL.
type source struct {
	client *dynamodb.Client
	tracer *tracer
	close  func() error
}

// sourceFlags select a source.
type sourceFlags struct {
	endpoint, model, store string
}

// requestTimeout bounds one request to a server.
const requestTimeout = 30 * time.Second

func (a *App) open(ctx context.Context, f sourceFlags) (*source, error) {
	switch {
	case f.model != "" && f.endpoint != "" || f.store != "" && f.model+f.endpoint != "":
		return nil, usage("query", "--endpoint, --model and --store exclude each other")
	case f.model != "":
		return openModel(ctx, f.model)
	case f.store != "":
		return openRows(ctx, f.store)
	}
	endpoint := f.endpoint
	for _, name := range []string{"AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL"} {
		if endpoint == "" {
			endpoint = a.Getenv(name)
		}
	}
	if endpoint == "" {
		endpoint = "http://" + server.DefaultAddr
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, usageError("write a URL such as http://127.0.0.1:8000", "the endpoint %q is not a URL", endpoint)
	}
	tr := &tracer{next: HTTPClient{&http.Client{Timeout: requestTimeout}}}
	client := dynamodb.New(dynamodb.Options{
		Region:           a.env("us-east-1", "AWS_REGION", "AWS_DEFAULT_REGION"),
		BaseEndpoint:     &endpoint,
		Credentials:      a.credentials(),
		HTTPClient:       tr,
		RetryMaxAttempts: 1,
	})
	return &source{client: client, tracer: tr, close: func() error { return nil }}, nil
}

// openModel builds the world of a model, including generated items.
func openModel(ctx context.Context, name string) (*source, error) {
	w, err := buildWorld(ctx, name)
	if err != nil {
		return nil, err
	}
	return inProcess(w.DB, w.Close), nil
}

// openRows opens the database whose rows are in PostgreSQL.
func openRows(ctx context.Context, url string) (*source, error) {
	st, err := openPostgres(ctx, url, postgres.Options{})
	if err != nil {
		return nil, err
	}
	db, err := sortkey.Open(sortkey.Options{Store: st})
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	return inProcess(db, db.Close), nil
}

// inProcess returns the source of a database of this process.
func inProcess(db *sortkey.DB, end func() error) *source {
	tr := &tracer{next: db.HTTPClient()}
	client := sdk.Client(db, func(o *dynamodb.Options) { o.HTTPClient = tr })
	return &source{client: client, tracer: tr, close: end}
}

func buildWorld(ctx context.Context, name string) (*world.World, error) {
	m, err := models.Find(name)
	if err != nil {
		return nil, err
	}
	return world.Build(ctx, m, world.Options{})
}

// credentials returns the credentials of the environment or, as a local server
// accepts any, arbitrary ones.
func (a *App) credentials() aws.CredentialsProvider {
	key, secret := a.Getenv("AWS_ACCESS_KEY_ID"), a.Getenv("AWS_SECRET_ACCESS_KEY")
	if key == "" || secret == "" {
		return credentials.NewStaticCredentialsProvider("sortkey", "sortkey", "")
	}
	return credentials.NewStaticCredentialsProvider(key, secret, a.Getenv("AWS_SESSION_TOKEN"))
}

// env returns the value of the first variable that is set, or def.
func (a *App) env(def string, names ...string) string {
	for _, name := range names {
		if v := a.Getenv(name); v != "" {
			return v
		}
	}
	return def
}

// A tracer requests and collects the traces of queries, which a Sortkey server
// sends in a header.
type tracer struct {
	next interface {
		Do(*http.Request) (*http.Response, error)
	}
	mu     sync.Mutex
	traces []sortkey.Trace
}

// Do implements the HTTP client of the SDK. The SDK calls it after signing, so the
// header is not part of the signature.
func (t *tracer) Do(req *http.Request) (*http.Response, error) {
	if strings.HasSuffix(req.Header.Get("X-Amz-Target"), ".Query") {
		req.Header.Set(sortkey.TraceHeader, "1")
	}
	resp, err := t.next.Do(req)
	if err != nil {
		return nil, err
	}
	if tr, ok := sortkey.ReadTrace(resp.Header); ok {
		t.mu.Lock()
		t.traces = append(t.traces, tr)
		t.mu.Unlock()
	}
	return resp, nil
}

// take returns the traces since the last call.
func (t *tracer) take() []sortkey.Trace {
	t.mu.Lock()
	defer t.mu.Unlock()
	traces := t.traces
	t.traces = nil
	return traces
}
