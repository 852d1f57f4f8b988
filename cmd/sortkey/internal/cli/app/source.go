package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"

	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/store/disk"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/models"
	"github.com/sortkey/sortkey/design/examples"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	protocol "github.com/sortkey/sortkey/internal/server"
	"github.com/sortkey/sortkey/sdk"
	"github.com/sortkey/sortkey/store"
)

// A Source is the database that a command uses: a running server, a model loaded into memory, a folder, or the
// database of --store.
type Source struct {
	// Target takes requests of package wire, and Client takes requests of the AWS SDK.
	Target explain.Target
	Client *dynamodb.Client
	// Endpoint is the URL of the server, with its password hidden, or "" if there is no server.
	Endpoint string
	// DB is the database, or nil if the database is not in this process.
	DB *sortkey.DB
	// Model is the model in memory, or nil.
	Model *model.Model
	close func() error
}

// Close closes the database if it is in this process.
func (s *Source) Close() error { return s.close() }

// End closes s. It returns err or, if err is nil, the error of closing. If a write to disk has failed, End returns
// the error of that write instead of err, because the write has caused err.
func (s *Source) End(err error) error {
	closed := s.Close()
	if failed, ok := errors.AsType[*disk.FailedError](closed); ok {
		return &advice.Error{
			Msg: fmt.Sprintf("cannot write to disk: %v", failed.Err), Err: closed,
			Advice: "check that the disk of --data has space and is writable",
		}
	}
	if err == nil {
		err = closed
	}
	return err
}

// SourceFlags select a source. At most one of Data, Endpoint, Model and Store may be set. If none is set, the
// environment names a server.
type SourceFlags struct {
	Data, Endpoint, Model, Store string
	// Writes is set for a command that writes. Such a command has no flag --model. The process loads the model anew
	// for each command, so its writes would be lost.
	Writes bool
	// Create makes Open create the folder Data if it does not exist.
	Create bool
}

// SourceNamed returns the flags for a source whose name is an argument instead of the value of a flag. The name may
// be the URL of a server, a URL for --store, an example, a model file, or a folder with a model.yaml or a database.
// If the name is empty, SourceNamed sets no flag.
func (e *Env) SourceNamed(name string) SourceFlags {
	if strings.Contains(name, "://") {
		if _, err := e.engine(name); err == nil {
			return SourceFlags{Store: name}
		}
		return SourceFlags{Endpoint: name}
	}
	info, err := os.Stat(name)
	if err != nil || !info.IsDir() || slices.Contains(examples.Names(), name) {
		return SourceFlags{Model: name}
	}
	if _, err := os.Stat(filepath.Join(name, "model.yaml")); err == nil {
		return SourceFlags{Model: name}
	}
	return SourceFlags{Data: name}
}

// Words returns the flags that are set, and their values, as words of a command line.
func (f *SourceFlags) Words() (words []string) {
	for _, flag := range []struct{ name, value string }{
		{"--data", f.Data}, {"--endpoint", f.Endpoint}, {"--model", f.Model}, {"--store", f.Store},
	} {
		if flag.value != "" {
			words = append(words, flag.name, flag.value)
		}
	}
	return words
}

// Help returns the part of a command's help that describes the source. It is empty in a shell.
func (f *SourceFlags) Help(env *Env) string {
	if env.Source != nil {
		return ""
	}
	model := ""
	if !f.Writes {
		model = " of an example or a model file with --model,"
	}
	return `

The items are those of the server at --endpoint,` + model + `
or, without a server, of a folder with --data or of ` + env.StoreKinds() + ` with --store.`
}

// Declare declares the flags. In a shell it declares none, because the shell already has a source.
func (f *SourceFlags) Declare(cmd *cobra.Command, env *Env) {
	if env.Source != nil {
		return
	}
	flags := cmd.Flags()
	flags.StringVar(&f.Data, "data", "", "`DIR` of a database instead of a server; no server may have it open")
	flags.StringVar(
		&f.Endpoint, "endpoint", "",
		"`URL` of the server (default AWS_ENDPOINT_URL_DYNAMODB, AWS_ENDPOINT_URL or http://127.0.0.1:8000)",
	)
	flags.StringVar(&f.Store, "store", "", env.StoreUsage())
	Complete(cmd, map[string]cobra.CompletionFunc{"data": Folders})
	if !f.Writes {
		flags.StringVarP(&f.Model, "model", "m", "", "an example or a model file (`NAME|FILE`) instead of a server")
		Complete(cmd, map[string]cobra.CompletionFunc{"model": ModelNames})
	}
}

// Name returns a name of the source for people, without a password or an address. [Source.Endpoint] has the address.
func (f *SourceFlags) Name() string {
	for _, name := range []string{f.Model, f.Data} {
		if name != "" {
			return name
		}
	}
	if f.Store != "" {
		return "the database of --store" // its URL can have a password
	}
	return "a server"
}

// check returns an error if more than one flag is set.
func (f *SourceFlags) check() error {
	if len(f.Words()) > 2 {
		return UsageError("name one source", "--data, --endpoint, --model and --store exclude each other")
	}
	return nil
}

// RequestTimeout bounds one request to a server.
const RequestTimeout = 30 * time.Second

// Open opens the source that flags select. In a shell it returns the shell's source, which stays open when a command
// closes it.
func (e *Env) Open(ctx context.Context, f SourceFlags) (*Source, error) {
	if e.Source != nil {
		shared := *e.Source
		shared.close = func() error { return nil }
		return &shared, nil
	}

	if err := f.check(); err != nil {
		return nil, err
	}
	switch {
	case f.Model != "":
		return openModel(ctx, f.Model)
	case f.Data != "":
		st, err := OpenFolder(f.Data, f.Create)
		if err != nil {
			return nil, err
		}
		return e.openStore(st)
	case f.Store != "":
		st, err := e.OpenStore(ctx, f.Store, nil)
		if err != nil {
			return nil, err
		}
		return e.openStore(st)
	}
	return e.openEndpoint(f.Endpoint)
}

// OpenRunning opens tables that a program uses, rather than a model. The name is the URL of a server, the URL of a
// database for --store, or the path of a folder.
func (e *Env) OpenRunning(ctx context.Context, name string) (*Source, error) {
	if !strings.Contains(name, "://") {
		return e.Open(ctx, SourceFlags{Data: name})
	}
	return e.Open(ctx, e.SourceNamed(name))
}

// openEndpoint returns the source of the server at endpoint. If endpoint is empty, the environment names the server.
func (e *Env) openEndpoint(endpoint string) (*Source, error) {
	if endpoint == "" {
		endpoint = e.get("http://"+protocol.DefaultAddr, "AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL")
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, UsageError("write a URL such as http://127.0.0.1:8000", "the endpoint %q is not a URL", endpoint)
	}

	region, keys := e.get("us-east-1", "AWS_REGION", "AWS_DEFAULT_REGION"), e.credentials()
	client := dynamodb.New(dynamodb.Options{
		Region:           region,
		BaseEndpoint:     &endpoint,
		Credentials:      keys,
		HTTPClient:       HTTPClient{awshttp.NewBuildableClient().WithTimeout(RequestTimeout)},
		RetryMaxAttempts: 1,
	})
	signing := &http.Client{Timeout: RequestTimeout, Transport: &signer{
		next: http.DefaultTransport, credentials: keys, region: region, sign: v4.NewSigner(),
	}}
	return &Source{
		Client: client, Target: explain.HTTP(endpoint, signing, nil), Endpoint: u.Redacted(),
		close: func() error { return nil },
	}, nil
}

// credentials returns the credentials in the environment. If the environment has none, it returns invented ones,
// which a local server accepts.
func (e *Env) credentials() aws.CredentialsProvider {
	key, secret := e.Getenv("AWS_ACCESS_KEY_ID"), e.Getenv("AWS_SECRET_ACCESS_KEY")
	if key == "" || secret == "" {
		return credentials.NewStaticCredentialsProvider("sortkey", "sortkey", "")
	}
	return credentials.NewStaticCredentialsProvider(key, secret, e.Getenv("AWS_SESSION_TOKEN"))
}

// openModel builds the dataset of a model, including generated items.
func openModel(ctx context.Context, name string) (*Source, error) {
	m, err := models.Find(name)
	if err != nil {
		return nil, err
	}
	w, err := dataset.Build(ctx, m, dataset.Options{})
	if err != nil {
		return nil, err
	}
	src := inProcess(w.DB, w.Close)
	src.Model = w.Model
	return src, nil
}

// openStore opens the database in a store.
func (e *Env) openStore(st store.Store) (*Source, error) {
	db, err := sortkey.Open(sortkey.Options{Store: st, Logger: e.Causes()})
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	return inProcess(db, db.Close), nil
}

// OpenEmpty returns the source of an empty database in memory.
func OpenEmpty() (*Source, error) {
	db, err := sortkey.Open(sortkey.Options{})
	if err != nil {
		return nil, err
	}
	return inProcess(db, db.Close), nil
}

// inProcess returns the source of a database of this process.
func inProcess(db *sortkey.DB, end func() error) *Source {
	// Do not retry: after a disk error the store stays failed, so a retry would fail too.
	client := sdk.Direct(db, func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
	return &Source{Client: client, Target: explain.InProcess(db), DB: db, close: end}
}
