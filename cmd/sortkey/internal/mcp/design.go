package mcp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/models"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/operation"
	"github.com/sortkey/sortkey/design/examples"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/bill"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/lint"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/design/report"
	"github.com/sortkey/sortkey/internal/text"
)

const whichModel = "model file in the working folder, the name of an example, or the text of a model"

var designCheck = &operation.Operation{
	Name:  "design_check",
	Short: "Check a model",
	Does: `checks a design of keys: makes the items that a model file declares, in memory and apart from the database
of the other tools, runs every access pattern on them, compares rows, units and waste with what the model expects,
and looks for hazards such as hot partitions, keys in the wrong order and indexes that no pattern reads`,
	Tool: operation.Help{
		Lead: "Use it after each change of a model.",
		More: `The answer is text: each pattern with its request, slice and cost, the tables, the findings with what to
do, and a summary; with the money a month if the model declares rates.`,
		Example: `{"model": "shop.yaml", "quiet": true}
{"model": "file-tree"}`,
	},
	Params: []*operation.Param{
		{Name: "model", Help: whichModel, Required: true, To: func(v *operation.Values) any { return &v.Model }},
		{
			Name: "quiet", Kind: operation.Switch, Help: "leave out patterns that meet their expectations, and tables",
			To: func(v *operation.Values) any { return &v.Quiet },
		},
		operation.Skip,
	},
}

// maxFile is the size of the largest model file, in bytes.
const maxFile = 16 << 20

// model returns the example with a name, the model in a file of the folder, or that of a text of several lines.
func (s *Server) model(name string) (*model.Model, error) {
	if strings.Contains(name, "\n") {
		return modelfile.Parse("model", []byte(name))
	}
	if slices.Contains(examples.Names(), name) {
		return models.Example(name)
	}
	if s.o.Folder == nil {
		return nil, advice.New(
			"ask the user to start sortkey mcp with --dir and the folder of the models",
			"cannot use %s: there is no working folder", text.Quote(name),
		)
	}

	file := filepath.FromSlash(name)
	info, err := s.o.Folder.Stat(file)
	if err == nil && info.IsDir() {
		file = filepath.Join(file, "model.yaml")
		info, err = s.o.Folder.Stat(file)
	}
	var data []byte
	switch {
	case err != nil:
	case !info.Mode().IsRegular(): // a pipe would block until somebody writes to it
		err = errors.New("not a regular file")
	case info.Size() > maxFile:
		err = fmt.Errorf("longer than %s", text.Size(maxFile))
	default:
		data, err = s.o.Folder.ReadFile(file)
	}
	if err == nil {
		return modelfile.Parse(name, data)
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return nil, advice.New(
		"name a file in the working folder by its path from there, such as models/shop.yaml; the examples are "+
			strings.Join(examples.Names(), ", "),
		"cannot use %s: %v", text.Quote(name), err,
	)
}

func (s *Server) check(ctx context.Context, v *operation.Values) (string, error) {
	m, err := s.model(v.Model)
	if err != nil {
		return "", err
	}
	select { // one is checked at a time, as a dataset takes memory
	case s.checks <- struct{}{}:
		defer func() { <-s.checks }()
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	w, err := dataset.Build(ctx, m, dataset.Options{})
	if err != nil {
		return "", err
	}
	defer w.Close()
	result, err := check.Run(ctx, w, check.Options{Lint: lint.Run})
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if err := report.Text(&b, result, nil, report.TextOptions{Width: prose, Quiet: v.Quiet}); err != nil {
		return "", err
	}
	if money := bill.Of(result, bill.Known()); money.Declared() {
		fmt.Fprintf(&b, "\n%s\n", money)
	}
	return s.report(b.String(), v.Skip), nil
}
