package app

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/sortkey/sortkey/server"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/models"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
	protocol "github.com/sortkey/sortkey/internal/server"
	"github.com/sortkey/sortkey/sdk"
	"github.com/sortkey/sortkey/store/postgres"
)

// A Source is a database to read: a running server, a model loaded into memory, or
// rows in PostgreSQL.
type Source struct {
	Client *dynamodb.Client
	// Target is the same database for package explain.
	Target explain.Target
	// Model is the model in memory, or nil.
	Model  *model.Model
	tracer *tracer
	close  func() error
}

// Close closes a database of this process.
func (s *Source) Close() error { return s.close() }

// Traces returns the traces of the queries of Client since the last call, if the server
// reports them.
func (s *Source) Traces() []sortkey.Trace { return s.tracer.take() }

// SourceFlags select a source. At most one of them is set; without any it is the server
// that the environment names.
type SourceFlags struct {
	Endpoint, Model, Store string
}

// RequestTimeout bounds one request to a server.
const RequestTimeout = 30 * time.Second

// Open opens the source that flags select.
func (e *Env) Open(ctx context.Context, f SourceFlags) (*Source, error) {
	switch {
	case f.Model != "":
		return openModel(ctx, f.Model)
	case f.Store != "":
		return openRows(ctx, f.Store)
	}
	return e.openEndpoint(f.Endpoint)
}

// openEndpoint returns the source of a running server: the one at endpoint, or the one
// that the environment names.
func (e *Env) openEndpoint(endpoint string) (*Source, error) {
	if endpoint == "" {
		endpoint = e.get("http://"+protocol.DefaultAddr, "AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL")
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, UsageError("write a URL such as http://127.0.0.1:8000", "the endpoint %q is not a URL", endpoint)
	}

	tr := &tracer{next: HTTPClient{&http.Client{Timeout: RequestTimeout}}}
	region, keys := e.get("us-east-1", "AWS_REGION", "AWS_DEFAULT_REGION"), e.credentials()
	client := dynamodb.New(dynamodb.Options{
		Region:           region,
		BaseEndpoint:     &endpoint,
		Credentials:      keys,
		HTTPClient:       tr,
		RetryMaxAttempts: 1,
	})
	signing := &http.Client{Timeout: RequestTimeout, Transport: &signer{
		next: http.DefaultTransport, credentials: keys, region: region, sign: v4.NewSigner(),
	}}
	return &Source{
		Client: client, Target: explain.HTTP(endpoint, signing, nil), tracer: tr,
		close: func() error { return nil },
	}, nil
}

// credentials returns the credentials of the environment or, as a local server
// accepts any, arbitrary ones.
func (e *Env) credentials() aws.CredentialsProvider {
	key, secret := e.Getenv("AWS_ACCESS_KEY_ID"), e.Getenv("AWS_SECRET_ACCESS_KEY")
	if key == "" || secret == "" {
		return credentials.NewStaticCredentialsProvider("sortkey", "sortkey", "")
	}
	return credentials.NewStaticCredentialsProvider(key, secret, e.Getenv("AWS_SESSION_TOKEN"))
}

// openModel builds the world of a model, including generated items.
func openModel(ctx context.Context, name string) (*Source, error) {
	m, err := models.Find(name)
	if err != nil {
		return nil, err
	}
	w, err := world.Build(ctx, m, world.Options{})
	if err != nil {
		return nil, err
	}
	src := inProcess(w.DB, w.Close)
	src.Model = w.Model
	return src, nil
}

// openRows opens the database whose rows are in PostgreSQL.
func openRows(ctx context.Context, url string) (*Source, error) {
	st, err := OpenPostgres(ctx, url, postgres.Options{})
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
func inProcess(db *sortkey.DB, end func() error) *Source {
	tr := &tracer{next: server.New(db, server.Options{}).Client()}
	client := sdk.Client(db, func(o *dynamodb.Options) { o.HTTPClient = tr })
	return &Source{Client: client, Target: explain.InProcess(db), tracer: tr, close: end}
}
