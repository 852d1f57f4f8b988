package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strings"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/models"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/operation"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/files"
	"github.com/sortkey/sortkey/internal/design/model"
)

// explainFlags are the flags of explain.
type explainFlags struct {
	app.SourceFlags
	values operation.Values
	asJSON bool
	lang   string
}

// question returns the request that the arguments or the flag --pattern name.
func (f *explainFlags) question(
	ctx context.Context, env *app.Env, src *app.Source, args []string,
) (explain.Question, error) {
	switch {
	case f.values.Pattern != "" && len(args) > 0:
		return explain.Question{}, app.Usage("explain", "give a request or --pattern, not both")
	case f.values.Pattern != "":
		if err := f.values.RefuseOptions(); err != nil {
			return explain.Question{}, err
		}
		return patternRequest(src.Model, f.values.Pattern)
	case len(args) == 0:
		return explain.Question{}, app.Usage("explain", "explain needs a request")
	case len(args) == 1:
		arg := strings.TrimSpace(args[0])
		if strings.HasPrefix(arg, "{") || explain.IsSelect(arg) {
			return f.request("the request", arg)
		}
		data, err := readInput(env, args[0])
		if err == nil {
			return f.request(args[0], string(data))
		}
		if !errors.Is(err, fs.ErrNotExist) || strings.ContainsAny(arg, "/ ") { // no table has such a name
			return explain.Question{}, advice.New("", "cannot read %s: %v", args[0], err)
		}
	}
	return f.byFlags(ctx, env, src, args)
}

// request reads a request, and returns an error if there are options beside it.
func (f *explainFlags) request(from, text string) (explain.Question, error) {
	if err := f.values.RefuseOptions(); err != nil {
		return explain.Question{}, err
	}
	return ask.ReadRequest(from, text)
}

// patternRequest returns the request of an access pattern of the model.
func patternRequest(m *model.Model, name string) (q explain.Question, err error) {
	if m == nil {
		return q, app.Usage("explain", "--pattern needs --model")
	}
	return models.PatternRequest(m, name)
}

// byFlags returns the request that the arguments TABLE, PARTITION and SORT-CONDITION and the flags describe. If they
// name no partition, the request is a Scan.
func (f *explainFlags) byFlags(
	ctx context.Context, env *app.Env, src *app.Source, args []string,
) (q explain.Question, err error) {
	v := &f.values
	if err := operation.Explain.Place(v, args); err != nil {
		return q, err
	}
	if err := operation.Explain.Parse(v); err != nil {
		return q, err
	}
	t, err := describe(ctx, src, v.Table)
	if err != nil {
		return q, err
	}
	q.Spelled = true
	if len(args) == 1 {
		q.Input, err = v.ScanInput(t)
	} else {
		q.Input, err = v.Input(t)
	}
	return q, err
}

// maxInput bounds the size of a request in a file, in bytes. The service also rejects requests with longer bodies.
const maxInput = 16 << 20

// readInput reads a file, or standard input for "-".
func readInput(env *app.Env, name string) ([]byte, error) {
	in := env.Stdin
	if name != "-" {
		file, err := files.Open(name, math.MaxInt64)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		in = file
	}
	data, err := io.ReadAll(io.LimitReader(in, maxInput+1))
	if err == nil && len(data) > maxInput {
		err = fmt.Errorf("longer than %d MB", maxInput>>20)
	}
	return data, err
}
