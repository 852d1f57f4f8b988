package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/spf13/cobra"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/transfer"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/sdk"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/disk"
)

// flagAdvice names the flags of import that resolve errors of package transfer.
var flagAdvice = []struct {
	kind error
	text string
}{
	{transfer.ErrInterrupted, "resume it with --resume, or start over with --restart"},
	{transfer.ErrRestart, "start over with --restart"},
	{transfer.ErrBusy, "give this import its own files with --journal and --rejects"},
	{transfer.ErrRejects, "name another file with --rejects"},
	{transfer.ErrJournal, "name another file with --journal"},
	{transfer.ErrNoName, "name it with --table"},
	{
		transfer.ErrNoTable,
		"to create it, give its key with --key, such as --key 'customer / placed:N', or its definition with --schema",
	},
	{transfer.ErrOtherKey, "import into another table with --table"},
	{transfer.ErrType, "omit its --type"},
	{transfer.ErrColumns, "name all columns with --columns, or the character between cells with --delimiter"},
	{transfer.ErrOverloaded, "reduce the number of concurrent requests with --workers"},
}

// explainTransfer adds advice to an error of the connection of an import or export.
func explainTransfer(err error) *advice.Error {
	_, explained := errors.AsType[*advice.Error](err)
	if u, ok := errors.AsType[*url.Error](err); ok && !explained && errors.Is(err, syscall.ECONNREFUSED) {
		return &advice.Error{
			Msg: "no server is listening at " + strings.TrimSuffix(u.URL, "/"), Err: err,
			Advice: "start a server with: sortkey serve — or name another with --endpoint, or a folder with --data",
		}
	}
	return app.Explain(err)
}

// explainImport adds the flags that resolve an error of an import.
func explainImport(err error) *advice.Error {
	e := explainTransfer(err)
	var ways []string
	if e.Advice != "" {
		ways = append(ways, e.Advice)
	}
	for _, f := range flagAdvice {
		if errors.Is(err, f.kind) {
			ways = append(ways, f.text)
		}
	}
	e.Advice = strings.Join(ways, ", or ")
	return e
}

// parseFormat returns the format of an import with a name.
func parseFormat(name string) (transfer.Format, error) {
	if !slices.Contains(importFormats, name) {
		return "", app.UsageError(
			"the formats are "+strings.Join(importFormats, ", "), "--format: unknown format %q", name,
		)
	}
	return transfer.Format(name), nil
}

func parseDelimiter(text string) (byte, error) {
	switch {
	case text == "":
		return 0, nil
	case text == "tab" || text == `\t`:
		return '\t', nil
	case len(text) == 1 && strings.Contains(",;:| \t", text):
		return text[0], nil
	}
	return 0, app.UsageError(
		"the delimiters are those of the service: , ; : | tab and space", "--delimiter: unknown delimiter %q", text,
	)
}

// targetFlags select the database of an import or export.
type targetFlags struct {
	data, store, endpoint string
}

func (f *targetFlags) declare(cmd *cobra.Command, env *app.Env) {
	flags := cmd.Flags()
	flags.StringVar(&f.data, "data", "", "`DIR` of a database instead of an endpoint; no server may have it open")
	flags.StringVar(
		&f.endpoint, "endpoint", "",
		"`URL` of the server (default AWS_ENDPOINT_URL_DYNAMODB, AWS_ENDPOINT_URL, or http://127.0.0.1:8000)",
	)
	flags.StringVar(&f.store, "store", "", env.StoreUsage()+"; no server may have it open")
	cmd.MarkFlagsMutuallyExclusive("data", "store", "endpoint")
	app.Complete(cmd, map[string]cobra.CompletionFunc{"data": app.Paths})
}

// A target is the database of an import or export.
type target struct {
	client *dynamodb.Client
	db     *sortkey.DB // nil for an endpoint
	name   string
	close  func() error
}

// end closes the database and returns err or the error of closing. A failed write
// to disk takes precedence: it caused the errors after it.
func (t *target) end(err error) error {
	closed := t.close()
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

// openTarget opens the database. With create it creates a missing folder.
func openTarget(ctx context.Context, env *app.Env, f targetFlags, create bool) (*target, error) {
	if f.store != "" {
		st, err := env.OpenStore(ctx, f.store, nil)
		if err != nil {
			return nil, err
		}
		return openStore(env, st, "the database of --store")
	}

	if f.data == "" {
		src, err := env.Open(ctx, app.SourceFlags{Endpoint: f.endpoint})
		if err != nil {
			return nil, err
		}
		o := src.Client.Options()
		o.HTTPClient = app.HTTPClient{Next: awshttp.NewBuildableClient().WithTimeout(app.RequestTimeout)}
		return &target{client: dynamodb.New(o), name: aws.ToString(o.BaseEndpoint), close: src.Close}, nil
	}

	abs, err := filepath.Abs(f.data)
	if err != nil {
		return nil, err
	}
	st, err := app.OpenFolder(f.data, create)
	if err != nil {
		return nil, err
	}
	return openStore(env, st, abs)
}

// openStore opens the database in a store, which it closes with it.
func openStore(env *app.Env, st store.Store, name string) (*target, error) {
	db, err := sortkey.Open(sortkey.Options{Store: st, Logger: env.Causes()})
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	// A retry is useless: a store whose disk failed stays failed.
	client := sdk.Direct(db, func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
	return &target{client: client, db: db, name: name, close: db.Close}, nil
}
